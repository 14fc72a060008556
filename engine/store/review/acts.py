"""What a person does in a review, each inside the caller's write transaction.

Privacy posture: texts are read to find places in them; rows hold positions and keyed digests.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from engine.pii.spans import NAME_LABELS
from engine.store.audit import now
from engine.store.database.schema import decisions as events
from engine.store.database.schema import record_index, spans
from engine.store.review import chained, decisions, marks
from engine.store.review.desk.refusals import Refusal
from engine.store.review.queries import (
    alike_rows,
    check_action,
    check_label,
    position_of,
    span_row,
    spans_at,
)
from engine.store.review.search import matching, texts_at
from engine.store.review.spans import CHUNK, refresh
from engine.store.review.unmarked import Place, add, unmarked
from engine.store.rows import SpanRow
from engine.store.session import Session


def decide(
    session: Session, connection: Connection, corpus_id: str, ids: Sequence[str], action: str, label: str | None = None
) -> int:
    """Accept, reject or relabel spans; return how many."""
    check_action(action, label)
    rows = [span_row(connection, corpus_id, identifier) for identifier in dict.fromkeys(ids)]
    return decisions.apply(connection, corpus_id, rows, action, label, session)


def decide_record(session: Session, connection: Connection, corpus_id: str, record_id: str, action: str) -> int:
    """Accept or reject what nobody decided in a record; return how many spans."""
    check_action(action, None)
    rows = spans_at(connection, corpus_id, [position_of(connection, corpus_id, record_id)])
    return decisions.apply(connection, corpus_id, rows, action, None, session)


def decide_alike(
    session: Session,
    connection: Connection,
    corpus_id: str,
    span: str,
    action: str,
    label: str | None = None,
    *,
    mark: bool | None = None,
    again: bool = False,
) -> int:
    """Decide a span and all others with the same value and label; return how many.

    Args:
        mark: on `accept`, mark the same words too where nothing is marked; None does so for names.
        again: decide those others anew that a person decided before; otherwise they stay as they are.
    """
    check_action(action, label)
    row = span_row(connection, corpus_id, span)
    alike = alike_rows(connection, corpus_id, row.value_key, row.label)
    rows = [r for r in alike if again or not r.decided or r.id == row.id]
    batch = decisions.next_batch(connection, corpus_id)
    count = decisions.apply(connection, corpus_id, rows, action, label, session, batch)
    if action == "accept" and (row.label in NAME_LABELS if mark is None else mark):
        count += _mark_same(session, connection, corpus_id, row, batch, record_only=False)
    return count


def accept_same(session: Session, connection: Connection, corpus_id: str, span: str) -> int:
    """Accept a span and, in its record, all other places of the same words, marked or not; return how many."""
    row = span_row(connection, corpus_id, span)
    alike = alike_rows(connection, corpus_id, row.value_key, row.label)
    rows = [r for r in alike if r.id == row.id or (r.position == row.position and not r.decided)]
    batch = decisions.next_batch(connection, corpus_id)
    count = decisions.apply(connection, corpus_id, rows, "accept", None, session, batch)
    return count + _mark_same(session, connection, corpus_id, row, batch, record_only=True)


def add_spans(
    session: Session,
    connection: Connection,
    corpus_id: str,
    record_id: str,
    places: Sequence[tuple[int, int]],
    label: str,
) -> list[int]:
    """Add spans the detectors missed to a record, accepted and decided; return their numbers."""
    check_label(label)
    position = position_of(connection, corpus_id, record_id)
    body = texts_at(session, corpus_id, [position])[position]
    for start, end in places:
        if not 0 <= start < end <= len(body):
            raise Refusal(
                "outside",
                f"start, end: must satisfy 0 <= start < end <= {len(body)} (its length), are {start} and {end}",
            )
    there = connection.execute(
        select(spans.c.start, spans.c.end).where(
            spans.c.corpus_id == corpus_id,
            spans.c.active.is_(True),
            spans.c.position == position,
            spans.c.label == label,
        )
    )
    known = {(row.start, row.end) for row in there}
    wanted: list[Place] = [(position, *place) for place in dict.fromkeys(places) if place not in known]
    if not wanted:
        raise Refusal("there", "a span with this label is already there; accept that one instead")
    batch = decisions.next_batch(connection, corpus_id)
    _insert(session, connection, corpus_id, wanted, {position: body}, label, batch)
    return [
        int(number)
        for number in connection.execute(
            select(events.c.span_id).where(events.c.corpus_id == corpus_id, events.c.batch == batch)
        ).scalars()
    ]


def mark_reviewed(session: Session, connection: Connection, corpus_id: str, record_ids: Sequence[str]) -> int:
    """Mark records as read: their undecided spans are decided as they stand; return how many records."""
    positions = sorted({position_of(connection, corpus_id, r) for r in record_ids})
    batch, at = decisions.next_batch(connection, corpus_id), now()
    rows = spans_at(connection, corpus_id, positions)
    decisions.apply(connection, corpus_id, rows, "review", None, session, batch)
    with marks.watched(connection, session.key, corpus_id, positions):
        _mark_read(connection, corpus_id, positions)
    common = {"batch": batch, "at": at, "actor": session.actor, "action": "review"}
    chained.append(connection, session.key, corpus_id, [{**common, "position": p} for p in positions])
    return len(positions)


def _mark_read(connection: Connection, corpus_id: str, positions: Sequence[int]) -> None:
    for begin in range(0, len(positions), CHUNK):
        part = positions[begin : begin + CHUNK]
        connection.execute(
            update(record_index)
            .where(record_index.c.corpus_id == corpus_id, record_index.c.position.in_(part))
            .values(reviewed=True)
        )


def unmarked_of(
    session: Session, connection: Connection, corpus_id: str, row: SpanRow, *, record_only: bool
) -> tuple[list[Place], dict[int, str]]:
    """Return the unmarked places of a span's words, and the texts of the records that hold its longest word."""
    texts = texts_at(session, corpus_id, [row.position])
    surface = texts[row.position][row.start : row.end]
    if not record_only and surface.split():
        longest = max(surface.split(), key=len)
        texts |= texts_at(session, corpus_id, sorted(matching(session, corpus_id, longest) - {row.position}))
    return unmarked(connection, corpus_id, texts, surface, row.label), texts


def _mark_same(
    session: Session, connection: Connection, corpus_id: str, row: SpanRow, batch: int, *, record_only: bool
) -> int:
    places, texts = unmarked_of(session, connection, corpus_id, row, record_only=record_only)
    _insert(session, connection, corpus_id, places, texts, row.label, batch)
    return len(places)


def _insert(
    session: Session,
    connection: Connection,
    corpus_id: str,
    places: Sequence[Place],
    texts: dict[int, str],
    label: str,
    batch: int,
) -> None:
    """Insert a person's spans with their events, all of one batch."""
    if not places:
        return
    with marks.watched(connection, session.key, corpus_id, {p[0] for p in places}):
        numbers = add(connection, corpus_id, places, texts, label, session.key)
    decisions.record_added(session, connection, corpus_id, list(zip(numbers, places, strict=True)), label, batch)
    refresh(connection, corpus_id, sorted({p[0] for p in places}))
    decisions.bump(connection, corpus_id)
