"""Queries and checks of the review, apart from the facade.

Privacy posture: rows hold positions and keyed digests; an error names a rule, never a value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TypedDict

from sqlalchemy import ColumnElement, Connection, and_, func, select

from engine.errors import NotFoundError, UserError
from engine.pii.spans import LABELS
from engine.store.database.dialect import one_of
from engine.store.database.schema import record_index, spans
from engine.store.review.spans import CHUNK, span_number
from engine.store.rows import AnyRow, AnySelect, SpanRow, span_of
from engine.store.summaries import Totals, corpus_row

PRESSING = "pressing"  # points at one person by itself, stays in the text, and nobody looked at it


def span_filter(
    corpus_id: str, labels: Sequence[str], state: str | None, below: float | None
) -> list[ColumnElement[bool]]:
    """Return the conditions of a search among a corpus' spans in force; `state` is one of `Review.STATES`."""
    conditions: list[ColumnElement[bool]] = [spans.c.corpus_id == corpus_id, spans.c.active.is_(True)]
    if labels:
        conditions.append(spans.c.label.in_(list(labels)))
    if state == PRESSING:
        conditions += [spans.c.state == "rejected", spans.c.decided.is_(False), spans.c.identifier_type == "direct"]
    elif state in ("accepted", "rejected"):
        conditions.append(spans.c.state == state)
    elif state is not None:
        conditions.append(spans.c.decided.is_(state == "decided"))
    if below is not None:
        conditions.append(spans.c.score < below)
    return conditions


class SpanCounts(TypedDict):
    """How many spans in force a corpus has: by label, by label and state, in all, and how many records have one."""

    by_label: dict[str, int]
    by_label_state: dict[str, dict[str, int]]
    accepted: int
    rejected: int
    decided: int
    undecided: int
    records_with_spans: int


def span_counts(connection: Connection, corpus_id: str) -> SpanCounts:
    """Return how many spans in force a corpus has, by label, state and decision."""
    by_label: dict[str, int] = {}
    by_state: dict[str, dict[str, int]] = {}
    totals = dict.fromkeys(("accepted", "rejected", "decided", "undecided"), 0)
    query = (
        select(spans.c.label, spans.c.state, spans.c.decided, func.count())
        .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
        .group_by(spans.c.label, spans.c.state, spans.c.decided)
        .order_by(spans.c.label)
    )
    for label, state, decided, n in connection.execute(query):
        row = by_state.setdefault(label, {"accepted": 0, "rejected": 0, "decided": 0, "undecided": 0})
        by_label[label] = by_label.get(label, 0) + n
        for name in (state, "decided" if decided else "undecided"):
            row[name] += n
            totals[name] += n
    records = connection.execute(
        select(func.count())
        .select_from(record_index)
        .where(record_index.c.corpus_id == corpus_id, record_index.c.spans > 0)
    ).scalar_one()
    return {
        "by_label": by_label,
        "by_label_state": by_state,
        "accepted": totals["accepted"],
        "rejected": totals["rejected"],
        "decided": totals["decided"],
        "undecided": totals["undecided"],
        "records_with_spans": int(records),
    }


def progress(found: Totals) -> dict[str, int]:
    """Return how far a review is; see `Review.progress`."""
    return {
        "records": found.records, "reviewed": found.reviewed, "accepted": found.accepted,
        "rejected": found.spans - found.accepted, "undecided": found.undecided,
    }  # fmt: skip


def pressing(connection: Connection, corpus_id: str) -> int:
    """Return how many spans in force are `PRESSING`."""
    query = select(func.count()).select_from(spans).where(*span_filter(corpus_id, (), PRESSING, None))
    return int(connection.execute(query).scalar_one())


def untouched(connection: Connection, corpus_id: str) -> tuple[int, int]:
    """Return how many records the training part has, and in how many of them no span is accepted."""
    query = select(func.count(), func.count().filter(record_index.c.accepted == 0)).where(
        record_index.c.corpus_id == corpus_id, record_index.c.split == "train"
    )
    records, without = connection.execute(query).one()
    return int(records), int(without)


def among(positions: Collection[int]) -> ColumnElement[bool]:
    """Return the condition that a record's position is one of these, however many they are."""
    return one_of(record_index.c.position, positions)


def queue_row(row: AnyRow) -> tuple[object, ...]:
    """Return one line of the queue: id, spans, undecided, risk, decided, reviewed, split."""
    risk = 1.0 - math.exp(-row.hazard)
    return (row.record_id, row.spans, row.undecided, risk, row.decided, bool(row.reviewed), row.split)


def count_rows(connection: Connection, query: AnySelect) -> int:
    """Return how many rows a query has."""
    return int(connection.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one())


def position_of(connection: Connection, corpus_id: str, record_id: str) -> int:
    """Return the row of a record in its corpus, or raise `NotFoundError`."""
    found = connection.execute(
        select(record_index.c.position).where(
            record_index.c.corpus_id == corpus_id, record_index.c.record_id == record_id
        )
    ).scalar()
    if found is None:
        corpus_row(connection, corpus_id)
        raise NotFoundError("there is no record with this id in the corpus")
    return int(found)


def span_row(connection: Connection, corpus_id: str, identifier: str) -> SpanRow:
    """Return the row of a span in force, or raise `NotFoundError`."""
    number = span_number(identifier)
    row = None
    if number is not None:
        row = connection.execute(
            select(spans).where(spans.c.id == number, spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
        ).first()
    if row is None:
        corpus_row(connection, corpus_id)
        raise NotFoundError(f"span {identifier!r} does not exist any more; a newer detection may have replaced it")
    return span_of(row)


def alike_rows(connection: Connection, corpus_id: str, key: str, label: str) -> list[SpanRow]:
    """Return every span in force with this value and label."""
    same = and_(
        spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.value_key == key, spans.c.label == label
    )
    return [span_of(row) for row in connection.execute(select(spans).where(same).order_by(spans.c.id))]


def spans_at(connection: Connection, corpus_id: str, positions: Sequence[int]) -> list[SpanRow]:
    """Return the undecided spans in force of these records."""
    rows: list[SpanRow] = []
    for begin in range(0, len(positions), CHUNK):
        query = select(spans).where(
            spans.c.corpus_id == corpus_id,
            spans.c.active.is_(True),
            spans.c.decided.is_(False),
            spans.c.position.in_(list(positions[begin : begin + CHUNK])),
        )
        rows += map(span_of, connection.execute(query))
    return rows


def check(value: str | None, allowed: Sequence[str], name: str) -> None:
    """Raise `UserError` where a value is not one of those allowed; None is."""
    if value is not None and value not in allowed:
        raise UserError(f"{name}: must be one of {', '.join(allowed)}, is {value!r}")


def check_label(label: str | None) -> None:
    """Raise `UserError` for a label we do not know."""
    if label not in LABELS:
        raise UserError(f"label: must be one of {', '.join(LABELS)}, is {label!r}")


def check_action(action: str, label: str | None) -> None:
    """Raise `UserError` for an unknown action, or a relabelling without a label."""
    check(action, ("accept", "reject", "relabel"), "action")
    if action == "relabel":
        check_label(label)
