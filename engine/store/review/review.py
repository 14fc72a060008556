"""Review: the queue of records, a record's spans, decisions, values.

Privacy posture: text is read from the record table at display time; nothing here writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Literal

import pandas as pd
import pyarrow as pa
from sqlalchemy import Connection, select, update

from engine.errors import UserError
from engine.store.audit import now
from engine.store.database.dialect import of_records
from engine.store.database.schema import corpora, notes, record_index, spans
from engine.store.people.roles import Right
from engine.store.records import read_rows
from engine.store.review import acts, chained, decisions, held
from engine.store.review.desk import readers
from engine.store.review.desk.readers import Ahead
from engine.store.review.desk.since import latest
from engine.store.review.desk.steps import Step, Taken, take
from engine.store.review.memory import TOTALS, remembered
from engine.store.review.queries import (
    PRESSING,
    SpanCounts,
    alike_rows,
    among,
    check,
    check_action,
    count_rows,
    position_of,
    progress,
    queue_row,
    span_counts,
    span_filter,
    span_row,
)
from engine.store.review.search import matching, texts_at, texts_of
from engine.store.review.spans import CHUNK, accepted_spans, activate, record_spans, refresh, value_key
from engine.store.review.unmarked import free_in
from engine.store.rows import AnySelect
from engine.store.session import Session
from engine.store.summaries import corpus_row, totals
from engine.store.views import Sheet, SpanView

if TYPE_CHECKING:
    from engine.pii.detect.settings import DetectorSettings

STATES = ("accepted", "rejected", "undecided", "decided", PRESSING)
QUEUE_COLUMNS = ["record_id", "spans", "undecided", "risk", "decided", "reviewed", "split"]
ORDERS = ("risk", "position")
LONGEST_NOTE = 4000  # characters


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
            with held.derived(self.session, connection, corpus_id):
                activate(connection, corpus_id, "gold")
                decisions.replay(connection, corpus_id, "gold")
            refresh(connection, corpus_id)
            decisions.bump(connection, corpus_id)
            connection.execute(
                update(corpora).where(corpora.c.id == corpus_id).values(span_source="gold", spans_at=now())
            )
            told = chained.told(connection, self.session.key, corpus_id)
            self.session.write_audit(connection, "gold spans chosen", corpus_id, **told)

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
            state: only records with a span in this state (accepted, rejected, undecided, decided; pressing: it points
                at one person by itself, stays, and nobody looked at it).
            below_score: only records with a span scored below this.
            search: only records whose text contains this, whatever the case.
            order: `risk` (highest first) or `position` (file order).
        """
        asked = self._asked(corpus_id, labels, state, below_score, search, order)
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            total = count_rows(connection, asked)
            rows = list(connection.execute(asked.limit(limit).offset(offset)))
        return pd.DataFrame([queue_row(r) for r in rows], columns=QUEUE_COLUMNS), total

    def order(
        self,
        corpus_id: str,
        *,
        labels: Sequence[str] = (),
        state: str | None = None,
        below_score: float | None = None,
        search: str | None = None,
        order: Literal["risk", "position", "random"] = "risk",
    ) -> list[str]:
        """Return the ids of all records of a queue in its order as it is now; the arguments are those of `queue`.

        `random` is an order by keyed hash: always the same, and blind to what was found.
        """
        shuffled = order == "random"
        asked = self._asked(corpus_id, labels, state, below_score, search, "position" if shuffled else order)
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            found = list(connection.execute(asked.with_only_columns(record_index.c.record_id)).scalars())
        return sorted(found, key=lambda r: value_key(self.session.key, f"order {corpus_id} {r}")) if shuffled else found

    def rows(self, corpus_id: str, record_ids: Sequence[str]) -> pd.DataFrame:
        """Return the queue's rows of these records, in this order, as they are now."""
        query = select(record_index).where(
            record_index.c.corpus_id == corpus_id, of_records(record_index.c.position, corpus_id, record_ids)
        )
        with self.session.db.read() as connection:
            found = {r.record_id: queue_row(r) for r in connection.execute(query)}
        return pd.DataFrame([found[r] for r in record_ids if r in found], columns=QUEUE_COLUMNS)

    def _asked(
        self,
        corpus_id: str,
        labels: Sequence[str],
        state: str | None,
        below_score: float | None,
        search: str | None,
        order: str,
    ) -> AnySelect:
        check(state, STATES, "state")
        check(order, ORDERS, "order")
        query: AnySelect = select(record_index).where(record_index.c.corpus_id == corpus_id)
        if labels or state or below_score is not None:
            found = select(spans.c.position).where(*span_filter(corpus_id, labels, state, below_score))
            query = query.where(record_index.c.position.in_(found))
        if search and search.strip():
            with self.session.db.read() as connection:
                corpus_row(connection, corpus_id)
            query = query.where(among(self.matching(corpus_id, search)))
        by_risk = (record_index.c.hazard.desc(),) if order == "risk" else ()
        return query.order_by(*by_risk, record_index.c.position)

    def sheets(self, corpus_id: str, record_ids: Sequence[str]) -> list[Sheet]:
        """Return records to review with their texts, spans and notes, in this order; unknown ones are left out."""
        query = (
            select(record_index.c.record_id, record_index.c.position, record_index.c.reviewed, notes.c.text)
            .outerjoin(
                notes,
                (notes.c.corpus_id == record_index.c.corpus_id) & (notes.c.position == record_index.c.position),
            )
            .where(record_index.c.corpus_id == corpus_id, of_records(record_index.c.position, corpus_id, record_ids))
        )
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            upon = latest(connection, corpus_id)  # before the spans: what comes in between counts as not seen
            rows = {r.record_id: r for r in connection.execute(query)}
            found = {r.position: tuple(record_spans(connection, corpus_id, r.position)) for r in rows.values()}
        texts = texts_at(self.session, corpus_id, sorted(found))
        return [
            Sheet(record_id, text, spans, bool(r.reviewed), r.text or "", free_in(text, spans), upon)
            for record_id in record_ids
            if (r := rows.get(record_id)) is not None
            for text, spans in [(texts[r.position], found[r.position])]
        ]

    def _waiting(self, corpus_id: str, record_ids: Sequence[str], limit: int) -> list[str]:
        """Return the first of these records, in this order, that nobody has read to the end."""
        found: list[str] = []
        for begin in range(0, len(record_ids), CHUNK):
            part = self.rows(corpus_id, record_ids[begin : begin + CHUNK])
            found += [str(r) for r in part["record_id"][~part["reviewed"].astype(bool)]]
            if len(found) >= limit:
                break
        return found[:limit]

    def ahead(self, corpus_id: str, current: str | None, record_ids: Sequence[str], limit: int) -> Ahead:
        """Return the first of these records that nobody has read to the end and no other reviewer has in hand.

        Where several people sign in, they and the open record are in this person's hand from now on, if the person may
        decide; whoever only looks is told who has what in hand.

        Args:
            current: id of the open record. record_ids: in the order of reading. limit: of the records returned.
        """
        person = self.session.person
        if person is None:
            return Ahead(self._waiting(corpus_id, record_ids, limit))
        if Right.REVIEW not in person.rights:
            others = readers.others_in_hand(self.session.db, corpus_id, person)
            return Ahead(self._waiting(corpus_id, record_ids, limit), others)
        return readers.take_in_hand(self.session.db, corpus_id, person, current, record_ids, limit)

    def progress(self, corpus_id: str) -> dict[str, int]:
        """Return how many records there are and were read to the end, and how many spans in force have which state.

        Returns:
            records, reviewed; accepted, rejected, and undecided, which were not looked at whatever their state.
        """
        return progress(remembered(self.session.db, corpus_id, TOTALS, lambda c: totals(c, corpus_id)))

    def alike(self, corpus_id: str, span_id: str) -> dict[str, int]:
        """Return how often a span's words are found and stand unmarked.

        Returns:
            total, decided: spans with this value and label, and those of them that a person decided; here, elsewhere,
            others: unmarked places in its own record and in others, and how many others.
        """
        with self.session.db.read() as connection:
            row = span_row(connection, corpus_id, span_id)
            rows = alike_rows(connection, corpus_id, row.value_key, row.label)
        places = self.unmarked_places(corpus_id, span_id)
        return {
            "total": len(rows),
            "decided": sum(bool(r.decided) for r in rows),
            "here": places["record"],
            "elsewhere": places["corpus"] - places["record"],
            "others": places["others"],
        }

    def set_note(self, corpus_id: str, record_id: str, note: str) -> None:
        """Keep a person's note on a record, in place of an earlier one; an empty one removes it.

        The audit log says that there was a note on this record, never what it says.
        """
        words = note.strip()
        if len(words) > LONGEST_NOTE:
            raise UserError(f"note: at most {LONGEST_NOTE:,} characters, has {len(words):,}")
        with self.session.db.write() as connection:
            position = position_of(connection, corpus_id, record_id)
            mine = (notes.c.corpus_id == corpus_id, notes.c.position == position)
            before = connection.execute(select(notes.c.text).where(*mine)).scalar()
            if (before or "") == words:
                return
            connection.execute(notes.delete().where(*mine))
            if words:
                values = {"corpus_id": corpus_id, "position": position, "text": words}
                connection.execute(notes.insert().values(**values, at=now(), actor=self.session.actor))
            done = "removed" if not words else "changed" if before else "written"
            self.session.write_audit(connection, f"review note {done}", corpus_id, position=position)

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

    def decide(self, corpus_id: str, span_ids: Sequence[str], action: str, label: str | None = None) -> int:
        """Accept, reject or relabel spans; return how many."""
        check_action(action, label)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            return self._decided(
                connection, corpus_id, action, acts.decide(self.session, connection, corpus_id, span_ids, action, label)
            )

    def decide_alike(
        self,
        corpus_id: str,
        span_id: str,
        action: str,
        label: str | None = None,
        *,
        mark: bool | None = None,
        again: bool = False,
    ) -> int:
        """Decide a span and all others with the same value and label, as one step of undo; return how many.

        Args:
            mark: on `accept`, mark the same words too where nothing is marked; None does so for names.
            again: decide those others anew that a person decided before; otherwise they stay as they are.
        """
        with self.session.db.write() as connection:
            found = acts.decide_alike(
                self.session, connection, corpus_id, span_id, action, label, mark=mark, again=again
            )
            return self._decided(connection, corpus_id, action, found)

    def accept_same(self, corpus_id: str, span_id: str) -> int:
        """Accept a span and, in its record, all other places of the same words, marked or not; return how many."""
        with self.session.db.write() as connection:
            found = acts.accept_same(self.session, connection, corpus_id, span_id)
            return self._decided(connection, corpus_id, "accept", found)

    def take(self, corpus_id: str, steps: Sequence[Step]) -> list[Taken]:
        """Carry out what a browser decided, in its order and each act once, all or none; return what became of each."""
        with self.session.db.write() as connection:
            return take(self.session, connection, corpus_id, steps)

    def _decided(self, connection: Connection, corpus_id: str, action: str, count: int) -> int:
        """Write into the audit log what was decided and how often, and return how often."""
        decisions.note(self.session, connection, corpus_id, {action: int(count)})
        return count

    def unmarked_places(self, corpus_id: str, span_id: str) -> dict[str, int]:
        """Return where the words of a span stand unmarked.

        Returns:
            record, corpus: places in its own record and in all; others: other records that have one.
        """

        def count(connection: Connection) -> dict[str, int]:
            row = span_row(connection, corpus_id, span_id)
            places, _ = acts.unmarked_of(self.session, connection, corpus_id, row, record_only=False)
            own = sum(p[0] == row.position for p in places)
            return {"record": own, "corpus": len(places), "others": len({p[0] for p in places} - {row.position})}

        return dict(remembered(self.session.db, corpus_id, f"unmarked {span_id}", count))

    def undo(self, corpus_id: str) -> str | None:
        """Take back the latest decision; return what was taken back, or None if nothing is left."""
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            taken_back = decisions.undo(self.session, connection, corpus_id)
            self._decided(connection, corpus_id, "undo", taken_back is not None)
            return taken_back

    def mark_reviewed(self, corpus_id: str, record_ids: Sequence[str]) -> int:
        """Mark records as read: their undecided spans are decided as they stand; return how many records."""
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            read = acts.mark_reviewed(self.session, connection, corpus_id, record_ids)
            return self._decided(connection, corpus_id, "finish", read)

    def accepted_spans(self, corpus_id: str, split: str | None = None, *, as_told: bool = False) -> pd.DataFrame:
        """Return accepted spans: record_id, start, end, label, identifier_type.

        Args:
            split: of one part alone. as_told: for what is made or measured by them.

        Raises:
            RefusedError: `as_told`, and these are not the marks that the audit log tells of.
        """
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            if as_told:
                held.demand_here(self.session, connection, corpus_id, table=True)
            return accepted_spans(connection, corpus_id, split)

    def matching(self, corpus_id: str, search: str) -> set[int]:
        """Return the positions of records whose text contains `search`, whatever the case."""
        return matching(self.session, corpus_id, search)

    def texts(self, corpus_id: str) -> pa.ChunkedArray:
        """Return the texts of a corpus in the order of their positions."""
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
        return texts_of(self.session, corpus_id)
