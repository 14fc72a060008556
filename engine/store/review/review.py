"""Review: the queue of records, a record's spans, decisions, values.

Privacy posture: text is read from the record table at display time; nothing here writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, select, update

from engine.errors import UserError
from engine.pii.spans import NAME_LABELS
from engine.store.audit import now
from engine.store.records import read_rows, read_texts
from engine.store.review import decisions
from engine.store.review.memory import remembered
from engine.store.review.queries import (
    SpanCounts,
    alike_rows,
    among,
    check,
    check_action,
    check_label,
    count_rows,
    position_of,
    queue_row,
    span_counts,
    span_filter,
    span_row,
    spans_at,
)
from engine.store.review.spans import (
    CHUNK,
    accepted_spans,
    activate,
    record_spans,
    refresh,
    span_id,
)
from engine.store.review.unmarked import Place, add, unmarked
from engine.store.rows import SpanRow
from engine.store.schema import corpora, record_index, spans
from engine.store.schema import decisions as events
from engine.store.session import Session
from engine.store.summaries import corpus_row
from engine.store.views import SpanView

if TYPE_CHECKING:
    from engine.pii.detect.settings import DetectorSettings

STATES = ("accepted", "rejected", "undecided", "decided")
QUEUE_COLUMNS = ["record_id", "spans", "undecided", "risk", "decided", "reviewed", "split"]
ORDERS = ("risk", "position")


class Review:
    """The review of a corpus: the queue of records, spans and decisions."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def detector_settings(self, corpus_id: str) -> DetectorSettings:
        """Return the corpus' detector settings, or the defaults."""
        from engine.pii.detect.settings import DetectorSettings

        with self.session.db.read() as connection:
            stored = corpus_row(connection, corpus_id).detector
        return DetectorSettings.from_json(stored) if stored else DetectorSettings()

    def set_detector_settings(self, corpus_id: str, settings: DetectorSettings) -> None:
        """Store the corpus' detector settings; they count from the next detection on."""
        body = settings.to_json()
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            connection.execute(update(corpora).where(corpora.c.id == corpus_id).values(detector=body))
            self.session.write_audit(connection, "detector settings changed", corpus_id)

    def use_gold(self, corpus_id: str) -> None:
        """Make the imported gold spans the corpus' accepted spans."""
        with self.session.db.write() as connection:
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
            self.session.write_audit(connection, "gold spans chosen", corpus_id)

    def span_counts(self, corpus_id: str) -> SpanCounts:
        """Return counts: `by_label`, `by_label_state`, accepted, rejected, decided, undecided, `records_with_spans`."""
        counts = remembered(self.session.db, corpus_id, "span counts", lambda c: span_counts(c, corpus_id))
        return deepcopy(counts)

    def queue(
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
        check(state, STATES, "state")
        check(order, ORDERS, "order")
        matching = self.matching(corpus_id, search) if search and search.strip() else None
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            query = select(record_index).where(record_index.c.corpus_id == corpus_id)
            if labels or state or below_score is not None:
                found = select(spans.c.position).where(*span_filter(corpus_id, labels, state, below_score))
                query = query.where(record_index.c.position.in_(found))
            if order == "risk":
                query = query.order_by(record_index.c.hazard.desc(), record_index.c.position)
            else:
                query = query.order_by(record_index.c.position)
            if matching is not None:
                query = query.where(among(matching))
            total = count_rows(connection, query)
            rows = list(connection.execute(query.limit(limit).offset(offset)))
        return pd.DataFrame([queue_row(r) for r in rows], columns=QUEUE_COLUMNS), total

    def spans(self, corpus_id: str, record_id: str) -> list[SpanView]:
        """Return a record's spans in text order."""
        with self.session.db.read() as connection:
            return record_spans(connection, corpus_id, position_of(connection, corpus_id, record_id))

    def record_text(self, corpus_id: str, record_id: str) -> str:
        """Return a record's text."""
        with self.session.db.read() as connection:
            position = position_of(connection, corpus_id, record_id)
        return str(read_rows(self.session.folder.records(corpus_id), [position])["text"].iloc[0])

    def redacted(self, corpus_id: str, record_id: str, style: str = "placeholder") -> str:
        """Return a record's text with its accepted spans redacted."""
        from engine.pii.redact import redact
        from engine.pii.spans import Span

        with self.session.db.read() as connection:
            found = record_spans(connection, corpus_id, position_of(connection, corpus_id, record_id))
        marked = [Span(record_id, span.start, span.end, span.label) for span in found if span.state == "accepted"]
        return redact(self.record_text(corpus_id, record_id), marked, style).text

    def same_value(self, corpus_id: str, span_id: str) -> int:
        """Return how many other spans have the same case-folded value and label."""
        with self.session.db.read() as connection:
            row = span_row(connection, corpus_id, span_id)
            return len(alike_rows(connection, corpus_id, row.value_key, row.label)) - 1

    def decide(self, corpus_id: str, span_ids: Sequence[str], action: str, label: str | None = None) -> int:
        """Accept, reject or relabel spans; return how many."""
        check_action(action, label)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            rows = [span_row(connection, corpus_id, identifier) for identifier in dict.fromkeys(span_ids)]
            return decisions.apply(connection, corpus_id, rows, action, label, self.session.actor)

    def decide_alike(
        self, corpus_id: str, span_id: str, action: str, label: str | None = None, *, mark: bool | None = None
    ) -> int:
        """Decide a span and all others with the same value and label, as one step of undo; return how many.

        Args:
            mark: on `accept`, mark the same words too where nothing is marked; None does so for names.
        """
        check_action(action, label)
        with self.session.db.write() as connection:
            row = span_row(connection, corpus_id, span_id)
            rows = alike_rows(connection, corpus_id, row.value_key, row.label)
            batch = decisions.next_batch(connection, corpus_id)
            count = decisions.apply(connection, corpus_id, rows, action, label, self.session.actor, batch)
            if action == "accept" and (row.label in NAME_LABELS if mark is None else mark):
                count += self._mark_same(connection, corpus_id, row, batch, record_only=False)
        return count

    def accept_same(self, corpus_id: str, span_id: str) -> int:
        """Accept a span and, in its record, all other places of the same words, marked or not; return how many."""
        with self.session.db.write() as connection:
            row = span_row(connection, corpus_id, span_id)
            alike = alike_rows(connection, corpus_id, row.value_key, row.label)
            rows = [r for r in alike if r.id == row.id or (r.position == row.position and not r.decided)]
            batch = decisions.next_batch(connection, corpus_id)
            count = decisions.apply(connection, corpus_id, rows, "accept", None, self.session.actor, batch)
            return count + self._mark_same(connection, corpus_id, row, batch, record_only=True)

    def unmarked_places(self, corpus_id: str, span_id: str) -> dict[str, int]:
        """Return at how many places the words of a span stand unmarked: `record` (its own) and `corpus` (in all)."""

        def count(connection: Connection) -> dict[str, int]:
            row = span_row(connection, corpus_id, span_id)
            places, _ = self._unmarked(connection, corpus_id, row, record_only=False)
            return {"record": sum(p[0] == row.position for p in places), "corpus": len(places)}

        return dict(remembered(self.session.db, corpus_id, f"unmarked {span_id}", count))

    def _unmarked(
        self, connection: Connection, corpus_id: str, row: SpanRow, *, record_only: bool
    ) -> tuple[list[Place], dict[int, str]]:
        """Return the unmarked places of a span's words, and the texts of the records that hold its longest word."""
        own = str(read_rows(self.session.folder.records(corpus_id), [row.position])["text"].iloc[0])
        surface = own[row.start : row.end]
        texts = {row.position: own}
        if not record_only and surface.split():
            longest = max(surface.split(), key=len)
            found = sorted(self.matching(corpus_id, longest) - {row.position})
            texts |= dict(zip(found, read_rows(self.session.folder.records(corpus_id), found)["text"])) if found else {}
        return unmarked(connection, corpus_id, texts, surface, row.label), texts

    def _mark_same(self, connection: Connection, corpus_id: str, row: SpanRow, batch: int, *, record_only: bool) -> int:
        places, texts = self._unmarked(connection, corpus_id, row, record_only=record_only)
        numbers = add(connection, corpus_id, places, texts, row.label, self.session.key)
        for number, place in zip(numbers, places):
            decisions.record_added(connection, corpus_id, number, place, row.label, self.session.actor, batch)
        if places:
            refresh(connection, corpus_id, sorted({p[0] for p in places}))
            decisions.bump(connection, corpus_id)
        return len(places)

    def add_span(self, corpus_id: str, record_id: str, start: int, end: int, label: str) -> str:
        """Add a span the detectors missed, accepted and decided; return its id."""
        check_label(label)
        body = self.record_text(corpus_id, record_id)
        if not 0 <= start < end <= len(body):
            raise UserError(
                f"start, end: must satisfy 0 <= start < end <= {len(body)} (the record's length), are {start} and {end}"
            )
        with self.session.db.write() as connection:
            position = position_of(connection, corpus_id, record_id)
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
            place = (position, start, end)
            (number,) = add(connection, corpus_id, [place], {position: body}, label, self.session.key)
            decisions.record_added(connection, corpus_id, number, place, label, self.session.actor)
            refresh(connection, corpus_id, [position])
            decisions.bump(connection, corpus_id)
        return span_id(number)

    def undo(self, corpus_id: str) -> str | None:
        """Take back the latest decision; return what was taken back, or None if nothing is left."""
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            return decisions.undo(connection, corpus_id, self.session.actor)

    def mark_reviewed(self, corpus_id: str, record_ids: Sequence[str]) -> int:
        """Mark records as read: their undecided spans are decided as they stand; return how many records."""
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            positions = sorted({position_of(connection, corpus_id, r) for r in record_ids})
            rows = spans_at(connection, corpus_id, positions)
            batch, at = decisions.next_batch(connection, corpus_id), now()
            if rows:
                decisions.apply(connection, corpus_id, rows, "review", None, self.session.actor)
            for begin in range(0, len(positions), CHUNK):
                part = positions[begin : begin + CHUNK]
                connection.execute(
                    update(record_index)
                    .where(record_index.c.corpus_id == corpus_id, record_index.c.position.in_(part))
                    .values(reviewed=True)
                )
            if positions:
                common = {
                    "corpus_id": corpus_id,
                    "batch": batch,
                    "at": at,
                    "actor": self.session.actor,
                    "action": "review",
                }
                connection.execute(events.insert(), [{**common, "position": p} for p in positions])
        return len(positions)

    def accepted_spans(self, corpus_id: str, split: str | None = None) -> pd.DataFrame:
        """Return accepted spans: record_id, start, end, label, identifier_type."""
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            return accepted_spans(connection, corpus_id, split)

    def matching(self, corpus_id: str, search: str) -> set[int]:
        """Return the positions of records whose text contains `search`, whatever the case."""
        hits = pc.match_substring(self.texts(corpus_id), search.strip(), ignore_case=True)
        return set(pc.indices_nonzero(hits).to_pylist())

    def texts(self, corpus_id: str) -> pa.ChunkedArray:
        """Return the texts of a corpus in the order of their positions."""
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
        return read_texts(self.session.folder.records(corpus_id))
