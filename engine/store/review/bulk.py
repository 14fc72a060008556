"""Decisions on all findings of a type, a recogniser or a confidence at once: how many, which, and the act itself.

Privacy posture: counts and positions; the texts of a preview are read when it is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from engine.errors import UserError
from engine.store.database.schema import record_index, spans
from engine.store.review import decisions
from engine.store.review.queries import among, check_action
from engine.store.review.search import texts_at
from engine.store.review.spans import CHUNK, record_spans
from engine.store.rows import SpanRow, span_of
from engine.store.session import Session
from engine.store.summaries import corpus_row
from engine.store.views import SpanView


@dataclass(frozen=True)
class Choice:
    """Which findings: of these labels and recognisers (none: any), with a score from `low` up to `high`, both counted.

    `again` takes in those that a person has decided.
    """

    labels: tuple[str, ...] = ()
    recognisers: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    again: bool = False

    def holds(self, span: SpanView) -> bool:
        """Return whether a span is among them."""
        return (
            (not self.labels or span.label in self.labels)
            and (not self.recognisers or span.recogniser in self.recognisers)
            and self.low <= span.score <= self.high
            and (self.again or not span.decided)
        )


@dataclass(frozen=True)
class Chosen:
    """How many findings a choice holds, in how many texts, what counts of them; `left`: a person decided these."""

    findings: int
    records: int
    accepted: int
    rejected: int
    left: int


@dataclass(frozen=True)
class Drawn:
    """One text of a preview with the findings that a choice holds in it."""

    record_id: str
    text: str
    spans: tuple[SpanView, ...]


class Bulk:
    """Decisions on many findings at once, by what the detector said of them."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def recognisers(self, corpus_id: str) -> dict[str, int]:
        """Return the recognisers of a corpus' findings with how many each found, most first."""
        query = (
            select(spans.c.recogniser, func.count())
            .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
            .group_by(spans.c.recogniser)
            .order_by(func.count().desc(), spans.c.recogniser)
        )
        with self.session.db.read() as connection:
            return {str(name): int(n) for name, n in connection.execute(query)}

    def count(self, corpus_id: str, choice: Choice) -> Chosen:
        """Return what a choice holds now."""
        query = select(
            func.count(),
            func.count(spans.c.position.distinct()),
            func.count().filter(spans.c.state == "accepted"),
        ).where(*_conditions(corpus_id, choice))
        decided = select(func.count()).where(*_conditions(corpus_id, choice, decided=True))
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            findings, records, accepted = (int(n) for n in connection.execute(query).one())
            left = 0 if choice.again else int(connection.execute(decided).scalar_one())
        return Chosen(findings, records, accepted, findings - accepted, left)

    def draw(self, corpus_id: str, choice: Choice, count: int = 10, seed: int = 0) -> list[Drawn]:
        """Return texts drawn at random among those in which a choice holds a finding, with these findings."""
        query = select(spans.c.position).where(*_conditions(corpus_id, choice)).distinct().order_by(spans.c.position)
        with self.session.db.read() as connection:
            found = list(connection.execute(query).scalars())
            drawn = sorted(random.Random(seed).sample(found, min(count, len(found))))
            names = select(record_index.c.position, record_index.c.record_id).where(
                record_index.c.corpus_id == corpus_id, among(drawn)
            )
            ids = {position: str(record_id) for position, record_id in connection.execute(names)}
            held = {p: tuple(s for s in record_spans(connection, corpus_id, p) if choice.holds(s)) for p in drawn}
        texts = texts_at(self.session, corpus_id, drawn)
        return [Drawn(ids[position], texts[position], held[position]) for position in drawn]

    def decide(self, corpus_id: str, choice: Choice, action: str, label: str | None = None) -> int:
        """Decide every finding that a choice holds, as one step of undo; return how many."""
        check_action(action, label)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            rows = _rows(connection, corpus_id, choice)
            if not rows:
                raise UserError("no finding fits this choice any more")
            count = decisions.apply(connection, corpus_id, rows, action, label, self.session)
            decisions.note(self.session, connection, corpus_id, {action: count})
            return count


def _rows(connection: Connection, corpus_id: str, choice: Choice) -> Sequence[SpanRow]:
    query = select(spans).where(*_conditions(corpus_id, choice)).order_by(spans.c.id)
    return [span_of(row) for row in connection.execute(query.execution_options(yield_per=CHUNK))]


def _conditions(corpus_id: str, choice: Choice, *, decided: bool = False) -> list[ColumnElement[bool]]:
    """Return the conditions of a choice; `decided` asks for those of it that a person decided."""
    conditions: list[ColumnElement[bool]] = [
        spans.c.corpus_id == corpus_id,
        spans.c.active.is_(True),
        spans.c.score.between(choice.low, choice.high),
    ]
    if choice.labels:
        conditions.append(spans.c.label.in_(choice.labels))
    if choice.recognisers:
        conditions.append(spans.c.recogniser.in_(choice.recognisers))
    if decided or not choice.again:
        conditions.append(spans.c.decided.is_(decided))
    return conditions
