"""Spans in the database: rows, per-record aggregates, value keys.

What a span's state and `hazard` are follows `engine.pii.decide.rules`; `weigh` takes into the hazards how often each
value occurs, once all spans of a corpus are there.

Privacy posture: a row holds positions and a keyed digest of the case-folded text, never the text.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Required, TypedDict

import pandas as pd
from sqlalchemy import Connection, func, select, text

from engine.pii.decide.rules import ADDED_BY, hazard, rarity, undecided
from engine.pii.detect.settings import DEFAULT_THRESHOLD
from engine.pii.spans import canonical_label, default_identifier_type, folded
from engine.store.database.schema import record_index, spans
from engine.store.views import SpanView

ACCEPTED_COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]
CHUNK, AT_ONCE = 500, 20_000


def span_id(number: int) -> str:
    """Return the public id of a span row."""
    return f"p-{number}"


def span_number(identifier: str) -> int | None:
    """Return the row number of a span id, or None where it is malformed."""
    head, _, tail = str(identifier).partition("-")
    return int(tail) if head == "p" and tail.isdecimal() and len(tail) < 19 else None


def value_key(key: bytes, surface: str) -> str:
    """Return the keyed digest (16 bytes, hexadecimal) of a case-folded surface form."""
    return hmac.new(key, b"value\0" + folded(surface).encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]


class FoundSpan(TypedDict, total=False):
    """A span as a detector or a file gives it; entity_id: of gold spans, the entity that they mention."""

    record_id: Required[str]
    start: Required[int]
    end: Required[int]
    label: Required[str]
    score: float
    identifier_type: str | None
    recogniser: str
    entity_id: str | None


def span_rows(
    found: Iterable[FoundSpan],
    *,
    corpus_id: str,
    places: Mapping[str, tuple[int, str]],
    key: bytes,
    origin: str,
    active: bool,
    threshold: Callable[[str], float] = lambda _: DEFAULT_THRESHOLD,
) -> list[dict[str, object]]:
    """Return database rows for spans; `places` maps a record id to its position and text."""
    rows = []
    for span in found:
        position, record = places[span["record_id"]]
        start, end, label = int(span["start"]), int(span["end"]), str(span["label"])
        score = float(span.get("score", 1.0))
        kind = str(span.get("identifier_type") or default_identifier_type(canonical_label(label)))
        limit = threshold(label)
        entity = span.get("entity_id")
        rows.append(
            {
                "corpus_id": corpus_id,
                "position": position,
                "start": start,
                "end": end,
                "label": label,
                "first_label": label,
                "score": score,
                "recogniser": str(span.get("recogniser", origin)),
                "identifier_type": kind,
                "origin": origin,
                "active": active,
                "state": undecided(score, limit),
                "decided": False,
                "hazard": hazard(score, kind, limit),
                "value_key": value_key(key, record[start:end]),
                "entity_key": value_key(key, f"entity {entity}") if isinstance(entity, str) and entity else None,
            }
        )
    return rows


def insert_spans(connection: Connection, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert span rows."""
    if rows:
        connection.execute(spans.insert(), list(rows))


def weigh(connection: Connection, corpus_id: str) -> None:
    """Multiply each span's hazard by its value's rarity: once, when all new spans are in force.

    What a person added is decided and has no hazard, but counts as an occurrence.
    """
    seen = connection.execute(
        select(spans.c.value_key, spans.c.label, func.count())
        .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
        .group_by(spans.c.value_key, spans.c.label)
        .having(func.count() > 1)
    ).all()
    if seen:
        connection.execute(
            text(
                "UPDATE spans SET hazard = hazard * :factor "
                "WHERE corpus_id = :corpus AND active = TRUE AND value_key = :value AND label = :label"
            ),
            [{"corpus": corpus_id, "value": key, "label": label, "factor": rarity(n)} for key, label, n in seen],
        )


def refresh(connection: Connection, corpus_id: str, positions: Sequence[int] | None = None) -> None:
    """Recompute the span counts and hazards of all or some records of a corpus."""
    statement = """
        UPDATE record_index SET (spans, accepted, undecided, decided, hazard) = (
            SELECT count(*), count(*) FILTER (WHERE s.state = 'accepted'), count(*) FILTER (WHERE NOT s.decided),
                   count(*) FILTER (WHERE s.decided), coalesce(sum(CASE WHEN s.decided THEN 0.0 ELSE s.hazard END), 0.0)
            FROM spans AS s
            WHERE s.corpus_id = :corpus AND s.active = TRUE AND s.position = record_index.position)
        WHERE corpus_id = :corpus"""
    if positions is None:
        connection.execute(text(statement), {"corpus": corpus_id})
        return
    wanted = sorted({int(p) for p in positions})
    if len(wanted) > 5000:
        refresh(connection, corpus_id)
        return
    for begin in range(0, len(wanted), CHUNK):
        part = ",".join(str(p) for p in wanted[begin : begin + CHUNK])
        connection.execute(text(f"{statement} AND position IN ({part})"), {"corpus": corpus_id})


def activate(connection: Connection, corpus_id: str, origin: str) -> None:
    """Make the spans of one origin, and the custodian's own, the corpus' spans."""
    connection.execute(
        text(
            "UPDATE spans SET active = (origin IN (:origin, :added)) "
            "WHERE corpus_id = :corpus AND active != (origin IN (:origin, :added)) AND origin != 'removed'"
        ),
        {"corpus": corpus_id, "origin": origin, "added": ADDED_BY},
    )


def record_spans(connection: Connection, corpus_id: str, position: int) -> list[SpanView]:
    """Return a record's spans in text order."""
    query = (
        select(spans)
        .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.position == position)
        .order_by(spans.c.start, spans.c.end, spans.c.id)
    )
    return [
        SpanView(
            span_id=span_id(r.id),
            start=r.start,
            end=r.end,
            label=r.label,
            score=r.score,
            recogniser=r.recogniser,
            identifier_type=r.identifier_type,
            state=r.state,
            decided=bool(r.decided),
            value_key=r.value_key,
        )
        for r in connection.execute(query)
    ]


def accepted_spans(connection: Connection, corpus_id: str, split: str | None = None) -> pd.DataFrame:
    """Return the accepted spans of a corpus, or of one part, with the columns of `ACCEPTED_COLUMNS`.

    Labels are ours, whatever the file called them (`ORG`, `DATETIME`).
    """
    query = (
        select(
            record_index.c.record_id,
            spans.c.start,
            spans.c.end,
            spans.c.label,
            spans.c.identifier_type,
        )
        .join(
            record_index,
            (record_index.c.corpus_id == spans.c.corpus_id) & (record_index.c.position == spans.c.position),
        )
        .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.state == "accepted")
        .order_by(spans.c.position, spans.c.start, spans.c.end, spans.c.id)
    )
    if split is not None:
        query = query.where(record_index.c.split == split)
    same: dict[str, str] = {}  # each name once: a million records have millions of spans
    columns: tuple[list[object], ...] = tuple([] for _ in ACCEPTED_COLUMNS)
    last = ""
    for record, start, end, label, kind in connection.execute(query).yield_per(AT_ONCE):
        last = last if record == last else record
        label = canonical_label(label)
        values = (last, start, end, same.setdefault(label, label), same.setdefault(kind, kind))
        for column, value in zip(columns, values):
            column.append(value)
    return pd.DataFrame(dict(zip(ACCEPTED_COLUMNS, columns)), columns=ACCEPTED_COLUMNS)
