"""Review: the queue of records, a record's spans, decisions, values.

Privacy posture: text is read from the record table at display time; nothing here writes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Select, and_, func, select, update

from engine.errors import NotFoundError, UserError
from engine.pii.spans import LABELS, default_identifier_type
from engine.store import decisions
from engine.store.audit import now
from engine.store.corpora import CorpusStation, corpus_row
from engine.store.records import read_rows
from engine.store.schema import corpora, record_index, spans
from engine.store.schema import decisions as events
from engine.store.spans import (
    CHUNK,
    accepted_spans,
    activate,
    record_spans,
    refresh,
    span_id,
    span_number,
    value_key,
)

if TYPE_CHECKING:
    from engine.pii.settings import DetectorSettings

STATES = ("accepted", "rejected", "undecided", "decided")
QUEUE_COLUMNS = ["record_id", "spans", "undecided", "risk", "decided", "reviewed", "split"]
ORDERS = ("risk", "position")


class ReviewStation(CorpusStation):
    """What the review page asks."""

    def detector_settings(self, corpus_id: str) -> DetectorSettings:
        """Return the corpus' detector settings, or the defaults."""
        from engine.pii.settings import DetectorSettings

        with self.db.read() as connection:
            stored = corpus_row(connection, corpus_id).detector
        return DetectorSettings.from_json(stored) if stored else DetectorSettings()

    def set_detector_settings(self, corpus_id: str, settings: DetectorSettings) -> None:
        """Store the corpus' detector settings; they count from the next detection on."""
        body = settings.to_json()
        with self.db.write() as connection:
            corpus_row(connection, corpus_id)
            connection.execute(update(corpora).where(corpora.c.id == corpus_id).values(detector=body))
            self._audit(connection, "detector settings changed", corpus_id)

    def use_gold(self, corpus_id: str) -> None:
        """Make the imported gold spans the corpus' accepted spans."""
        with self.db.write() as connection:
            row = corpus_row(connection, corpus_id)
            if not row.has_gold:
                raise UserError("this corpus has no gold spans: import a file with a `spans` column, or run detection")
            activate(connection, corpus_id, "gold")
            decisions.replay(connection, corpus_id, "gold")
            refresh(connection, corpus_id)
            decisions.bump(connection, corpus_id)
            connection.execute(
                update(corpora).where(corpora.c.id == corpus_id).values(span_source="gold", spans_at=now())
            )
            self._audit(connection, "gold spans chosen", corpus_id)

    def span_counts(self, corpus_id: str) -> dict[str, Any]:
        """Return counts: `by_label`, `by_label_state`, accepted, rejected, decided, undecided, `records_with_spans`."""
        with self.db.read() as connection:
            corpus_row(connection, corpus_id)
            by_label: dict[str, int] = {}
            by_state: dict[str, dict[str, int]] = {}
            totals = {"accepted": 0, "rejected": 0, "decided": 0, "undecided": 0}
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
        return {"by_label": by_label, "by_label_state": by_state, **totals, "records_with_spans": int(records)}

    def review_queue(
        self,
        corpus_id: str,
        *,
        labels: Sequence[str] = (),
        state: str | None = None,
        below_score: float | None = None,
        search: str | None = None,
        order: Literal["risk", "position"] = "risk",
        offset: int = 0,
        limit: int = 50,
    ) -> tuple[pd.DataFrame, int]:
        """Return a page of records to review and how many there are.

        Args:
            labels: only records with a span of one of these labels.
            state: only records with a span in this state (accepted, rejected, undecided, decided).
            below_score: only records with a span scored below this.
            search: only records whose text contains this, whatever the case.
            order: `risk` (highest first) or `position` (file order).
        """
        _check(state, STATES, "state")
        _check(order, ORDERS, "order")
        matching = self._matching(corpus_id, search) if search and search.strip() else None
        with self.db.read() as connection:
            corpus_row(connection, corpus_id)
            query = select(record_index).where(record_index.c.corpus_id == corpus_id)
            if labels or state or below_score is not None:
                found = select(spans.c.position).where(*_span_filter(corpus_id, labels, state, below_score))
                query = query.where(record_index.c.position.in_(found))
            if order == "risk":
                query = query.order_by(record_index.c.hazard.desc(), record_index.c.position)
            else:
                query = query.order_by(record_index.c.position)
            if matching is None:
                total = _count(connection, query)
                rows = list(connection.execute(query.limit(limit).offset(offset)))
            else:
                kept = [r for r in connection.execute(query) if r.position in matching]
                total, rows = len(kept), kept[offset : offset + limit]
        return pd.DataFrame([_queue_row(r) for r in rows], columns=QUEUE_COLUMNS), total

    def record_spans(self, corpus_id: str, record_id: str) -> pd.DataFrame:
        """Return a record's spans in text order: ids, offsets, label, score, state, decided."""
        with self.db.read() as connection:
            return record_spans(connection, corpus_id, _position(connection, corpus_id, record_id))

    def record_text(self, corpus_id: str, record_id: str) -> str:
        """Return a record's text."""
        with self.db.read() as connection:
            position = _position(connection, corpus_id, record_id)
        return str(read_rows(self.folder.records(corpus_id), [position])["text"].iloc[0])

    def redacted(self, corpus_id: str, record_id: str, style: str = "placeholder") -> str:
        """Return a record's text with its accepted spans redacted."""
        from engine.pii.redactors import redact
        from engine.pii.spans import Span

        with self.db.read() as connection:
            found = record_spans(connection, corpus_id, _position(connection, corpus_id, record_id))
        accepted = found[found["state"] == "accepted"]
        marked = [
            Span(record_id, int(start), int(end), label)
            for start, end, label in zip(accepted["start"].tolist(), accepted["end"].tolist(), accepted["label"])
        ]
        return redact(self.record_text(corpus_id, record_id), marked, style).text

    def same_value(self, corpus_id: str, span_id: str) -> int:
        """Return how many other spans have the same case-folded value and label."""
        with self.db.read() as connection:
            row = _span(connection, corpus_id, span_id)
            return len(_alike(connection, corpus_id, row.value_key, row.label)) - 1

    def decide(self, corpus_id: str, span_ids: Sequence[str], action: str, label: str | None = None) -> int:
        """Accept, reject or relabel spans; return how many."""
        _check_action(action, label)
        with self.db.write() as connection:
            corpus_row(connection, corpus_id)
            rows = [_span(connection, corpus_id, identifier) for identifier in dict.fromkeys(span_ids)]
            return decisions.apply(connection, corpus_id, rows, action, label, self.actor)

    def decide_alike(self, corpus_id: str, span_id: str, action: str, label: str | None = None) -> int:
        """Decide a span and all others with the same value and label; return how many."""
        _check_action(action, label)
        with self.db.write() as connection:
            row = _span(connection, corpus_id, span_id)
            rows = _alike(connection, corpus_id, row.value_key, row.label)
            return decisions.apply(connection, corpus_id, rows, action, label, self.actor)

    def add_span(self, corpus_id: str, record_id: str, start: int, end: int, label: str) -> str:
        """Add a span the detectors missed, accepted and decided; return its id."""
        _check_label(label)
        body = self.record_text(corpus_id, record_id)
        if not 0 <= start < end <= len(body):
            raise UserError(
                f"start, end: must satisfy 0 <= start < end <= {len(body)} (the record's length), are {start} and {end}"
            )
        with self.db.write() as connection:
            position = _position(connection, corpus_id, record_id)
            there = connection.execute(
                select(spans.c.id).where(
                    spans.c.corpus_id == corpus_id,
                    spans.c.active.is_(True),
                    spans.c.position == position,
                    spans.c.start == start,
                    spans.c.end == end,
                    spans.c.label == label,
                )
            ).first()
            if there is not None:
                raise UserError("a span with this label is already there; accept that one instead")
            added = connection.execute(
                spans.insert().values(
                    corpus_id=corpus_id,
                    position=position,
                    start=start,
                    end=end,
                    label=label,
                    first_label=label,
                    score=1.0,
                    recogniser="custodian",
                    identifier_type=default_identifier_type(label),
                    origin="custodian",
                    active=True,
                    state="accepted",
                    decided=True,
                    value_key=value_key(self.key, body[start:end]),
                )
            )
            number = int((added.inserted_primary_key or (0,))[0])
            decisions.record_added(connection, corpus_id, number, (position, start, end), label, self.actor)
            refresh(connection, corpus_id, [position])
            decisions.bump(connection, corpus_id)
        return span_id(number)

    def undo(self, corpus_id: str) -> str | None:
        """Take back the latest decision; return what was taken back, or None if nothing is left."""
        with self.db.write() as connection:
            corpus_row(connection, corpus_id)
            return decisions.undo(connection, corpus_id, self.actor)

    def mark_reviewed(self, corpus_id: str, record_ids: Sequence[str]) -> int:
        """Mark records as read: their undecided spans are decided as they stand; return how many records."""
        with self.db.write() as connection:
            corpus_row(connection, corpus_id)
            positions = sorted({_position(connection, corpus_id, r) for r in record_ids})
            rows = _spans_at(connection, corpus_id, positions)
            batch, at = decisions.next_batch(connection, corpus_id), now()
            if rows:
                decisions.apply(connection, corpus_id, rows, "review", None, self.actor)
            for begin in range(0, len(positions), CHUNK):
                part = positions[begin : begin + CHUNK]
                connection.execute(
                    update(record_index)
                    .where(record_index.c.corpus_id == corpus_id, record_index.c.position.in_(part))
                    .values(reviewed=True)
                )
            if positions:
                common = {"corpus_id": corpus_id, "batch": batch, "at": at, "actor": self.actor, "action": "review"}
                connection.execute(events.insert(), [{**common, "position": p} for p in positions])
        return len(positions)

    def accepted_spans(self, corpus_id: str, split: str | None = None) -> pd.DataFrame:
        """Return accepted spans: record_id, start, end, label, identifier_type."""
        with self.db.read() as connection:
            corpus_row(connection, corpus_id)
            return accepted_spans(connection, corpus_id, split)

    def _matching(self, corpus_id: str, search: str) -> set[int]:
        """Return the positions of records whose text contains `search`, whatever the case."""
        column = self._texts(corpus_id)
        hits = pc.match_substring(column, search.strip(), ignore_case=True)
        return set(pc.indices_nonzero(hits).to_pylist())

    def _texts(self, corpus_id: str) -> pa.ChunkedArray:
        import pyarrow.parquet as pq

        return pq.read_table(self.folder.records(corpus_id), columns=["text"]).column("text")


def _span_filter(corpus_id: str, labels: Sequence[str], state: str | None, below: float | None) -> list[Any]:
    conditions: list[Any] = [spans.c.corpus_id == corpus_id, spans.c.active.is_(True)]
    if labels:
        conditions.append(spans.c.label.in_(list(labels)))
    if state in ("accepted", "rejected"):
        conditions.append(spans.c.state == state)
    elif state is not None:
        conditions.append(spans.c.decided.is_(state == "decided"))
    if below is not None:
        conditions.append(spans.c.score < below)
    return conditions


def _queue_row(row: Any) -> tuple[Any, ...]:
    risk = 1.0 - math.exp(-row.hazard)
    return (row.record_id, row.spans, row.undecided, risk, row.decided, bool(row.reviewed), row.split)


def _count(connection: Connection, query: Select[Any]) -> int:
    return int(connection.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one())


def _position(connection: Connection, corpus_id: str, record_id: str) -> int:
    found = connection.execute(
        select(record_index.c.position).where(
            record_index.c.corpus_id == corpus_id, record_index.c.record_id == record_id
        )
    ).scalar()
    if found is None:
        corpus_row(connection, corpus_id)
        raise NotFoundError("there is no record with this id in the corpus")
    return int(found)


def _span(connection: Connection, corpus_id: str, identifier: str) -> Any:
    number = span_number(identifier)
    row = None
    if number is not None:
        row = connection.execute(
            select(spans).where(spans.c.id == number, spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
        ).first()
    if row is None:
        corpus_row(connection, corpus_id)
        raise NotFoundError(f"span {identifier!r} does not exist any more; a newer detection may have replaced it")
    return row


def _alike(connection: Connection, corpus_id: str, key: str, label: str) -> list[Any]:
    same = and_(
        spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.value_key == key, spans.c.label == label
    )
    return list(connection.execute(select(spans).where(same).order_by(spans.c.id)))


def _spans_at(connection: Connection, corpus_id: str, positions: Sequence[int]) -> list[Any]:
    rows: list[Any] = []
    for begin in range(0, len(positions), CHUNK):
        query = select(spans).where(
            spans.c.corpus_id == corpus_id,
            spans.c.active.is_(True),
            spans.c.decided.is_(False),
            spans.c.position.in_(list(positions[begin : begin + CHUNK])),
        )
        rows += connection.execute(query).all()
    return rows


def _check(value: str | None, allowed: Sequence[str], name: str) -> None:
    if value is not None and value not in allowed:
        raise UserError(f"{name}: must be one of {', '.join(allowed)}, is {value!r}")


def _check_label(label: str | None) -> None:
    if label not in LABELS:
        raise UserError(f"label: must be one of {', '.join(LABELS)}, is {label!r}")


def _check_action(action: str, label: str | None) -> None:
    _check(action, ("accept", "reject", "relabel"), "action")
    if action == "relabel":
        _check_label(label)
