"""Spot checks of a corpus: draw one, read it, have a part read again, and what it says was missed.

Nothing is told before the whole sample was read: who could stop when the number suits would bend it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from engine.errors import NotFoundError
from engine.store.review.spot import chained, draw, looks, reading, second
from engine.store.review.spot.reading import Seen
from engine.store.review.spot.views import Difference, Drawable, Estimate, SecondSheet, SpotCheck
from engine.store.rows import AnyRow
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.pii.decide.missed import Rate

NO_CHECK = "no spot check was drawn of this corpus"


class SpotChecks:
    """Random samples of a corpus that people read to the end, and what follows for the other records."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._marks: dict[str, bytes] = {}  # of corpora; the texts of a corpus never change

    def drawable(self, corpus_id: str) -> Drawable:
        """Return what a new spot check could be drawn from."""
        with self.session.db.read() as connection:
            return draw.drawable(connection, corpus_id, self._marks_of)

    def high_if_clean(self, corpus_id: str, count: int) -> float:
        """Return the upper end per 1,000 records where nothing is found in a new spot check of this size."""
        from engine.pii.decide.missed import high_if_clean, level_of

        found = self.drawable(corpus_id)
        return high_if_clean(found.groups, count, level_of(found.look))

    def needed(self, corpus_id: str, target: float) -> int:
        """Return how many records a new spot check needs for an upper end of `target` per 1,000, if none is found."""
        from engine.pii.decide.missed import level_of, needed

        found = self.drawable(corpus_id)
        return needed(found.groups, target, level_of(found.look))

    def at_a_glance(self, corpus_id: str, target: float) -> tuple[int, int]:
        """Return about how many records a spot check needs (see `needed`), and how many there are.

        It reads no text: looks at the same records in another corpus are not counted.
        """
        from engine.pii.decide.missed import level_of, needed

        with self.session.db.read() as connection:
            found = draw.drawable(connection, corpus_id, None)
        return needed(found.groups, target, level_of(found.look)), found.records

    def draw(self, corpus_id: str, count: int, *, twice: int = 0, look: int | None = None) -> SpotCheck:
        """Draw records at random to be read to the end.

        Args:
            count: records; all of them where there are fewer.
            twice: how many of them a second person reads too.
            look: of the check as it was offered; where another one was drawn since, this one is refused.
        """
        self.drawable(corpus_id)  # an unknown corpus is refused before its texts are read
        self._marks_of(corpus_id)  # they are, before the database waits for this
        with self.session.db.write() as connection:
            draw.draw(self.session, connection, corpus_id, count, twice, look, self._marks_of)
        found = self.latest(corpus_id)
        assert found is not None
        return found

    def latest(self, corpus_id: str) -> SpotCheck | None:
        """Return a corpus' latest spot check, None where none was drawn."""
        with self.session.db.read() as connection:
            check = reading.latest(connection, corpus_id)
            return None if check is None else _view(connection, check, reading.seen(connection, check))

    def order(self, corpus_id: str) -> list[str]:
        """Return the records of the latest spot check in their order of reading; none where none was drawn."""
        with self.session.db.read() as connection:
            check = reading.latest(connection, corpus_id)
            return [] if check is None else [one.record_id for one in reading.seen(connection, check)]

    def estimate(self, corpus_id: str) -> Estimate | None:
        """Return what the latest spot check says was missed, None where none was drawn."""
        with self.session.db.read() as connection:
            check = reading.latest(connection, corpus_id)
            if check is None:
                return None
            records = reading.seen(connection, check)
            view = _view(connection, check, records)
            if not chained.holds(connection, self.session.key, check.id):
                return Estimate(replace(view, stale=""), why=chained.BROKEN)
            if view.drawn_from < view.records:
                return Estimate(view, why=reading.PARTLY)
            return _estimate(view, check, records)

    def next_for_second(self, corpus_id: str) -> SecondSheet | None:
        """Return the next text that the person acting reads as the second one, None where there is none."""
        with self.session.db.read() as connection:
            found = second.waiting(connection, self.session, self._check(connection, corpus_id))
        return second.sheet(self.session, corpus_id, found[0]) if found else None

    def mark(self, corpus_id: str, record_id: str, words: str, label: str) -> int:
        """Note words of a text as missed, as its second reader; return in how many places of it they stand."""
        with self.session.db.write() as connection:
            check = self._check(connection, corpus_id)
            return second.mark(self.session, connection, corpus_id, check, record_id, words, label)

    def unmark(self, corpus_id: str, record_id: str, start: int, end: int) -> None:
        """Take back what was noted at a place, as the text's second reader."""
        with self.session.db.write() as connection:
            second.unmark(self.session, connection, self._check(connection, corpus_id), record_id, start, end)

    def finish(self, corpus_id: str, record_id: str) -> None:
        """Note that the person acting read a text to the end as the second one."""
        with self.session.db.write() as connection:
            second.finish(self.session, connection, self._check(connection, corpus_id), record_id)

    def differences(self, corpus_id: str) -> list[Difference]:
        """Return what one reader alone found or what was taken back, settled or not, in the order of reading."""
        with self.session.db.read() as connection:
            records = reading.seen(connection, self._check(connection, corpus_id))
        return [difference for one in records for difference in one.differences()]

    def settle(self, corpus_id: str, record_id: str, start: int, end: int, outcome: str, reason: str = "") -> None:
        """Decide on what one reader alone found, or took back: it was `missed`, or it is `none`, for a reason."""
        with self.session.db.write() as connection:
            check = self._check(connection, corpus_id)
            second.settle(self.session, connection, corpus_id, check, record_id, (start, end), outcome, reason)

    def _marks_of(self, corpus_id: str) -> bytes:
        if corpus_id not in self._marks:
            self._marks[corpus_id] = looks.marks(self.session, corpus_id)
        return self._marks[corpus_id]

    def _check(self, connection: Connection, corpus_id: str) -> AnyRow:
        check = reading.latest(connection, corpus_id)
        if check is None:
            raise NotFoundError(NO_CHECK)
        return check


def _view(connection: Connection, check: AnyRow, records: list[Seen]) -> SpotCheck:
    return SpotCheck(
        id=check.id, look=check.look, at=check.at, actor=check.actor, records=check.records,
        drawn_from=sum(check.parts), read_before=check.read_before or 0, again=reading.again(check, records),
        drawn=len(records),
        read=sum(bool(one.readers) for one in records), twice=sum(one.twice for one in records),
        read_twice=sum(one.read_twice for one in records),
        disagreements=sum(not d.settled for one in records for d in one.differences()),
        stale=reading.stale(connection, check, [one.position for one in records]),
    )  # fmt: skip


def _estimate(view: SpotCheck, check: AnyRow, records: list[Seen]) -> Estimate:
    from engine.pii.decide.missed import FEWEST, level_of
    from engine.pii.decide.second import agreement, unseen

    plain = Estimate(view)
    if not view.complete:
        left = view.drawn - view.read
        return replace(plain, why=f"{left:,} of its {view.drawn:,} records are still to be read.")
    if view.drawn < FEWEST and view.drawn < view.drawn_from:
        return replace(plain, why=f"Of fewer than {FEWEST} records nothing is told. Draw another, larger one.")
    counted = [one.counted() for one in records]
    kinds = [{one.kind(place, label) for place, label in found.items()} for one, (found, _) in zip(records, counted)]
    labels = [set(found.values()) for found, _ in counted]
    level = level_of(view.look)

    def rate(holds: list[bool]) -> Rate:
        from engine.pii.decide.missed import still_missed

        hit = {one.position: held for one, held in zip(records, holds, strict=True)}
        repaired = sum(held and marked for held, (_, marked) in zip(holds, counted, strict=True))
        return still_missed(reading.parts(check, records, hit), repaired, level)

    twice = [one for one in records if one.read_twice]
    agreed = agreement([(list(one.missed), list(one.added)) for one in twice])
    places = [one.kind(place, label) for one, (found, _) in zip(records, counted) for place, label in found.items()]
    return replace(
        plain,
        direct=rate(["direct" in found for found in kinds]),
        quasi=rate(["quasi" in found for found in kinds]),
        types={name: rate([name in found for found in labels]) for name in sorted(set().union(*labels))},
        places=(places.count("direct"), places.count("quasi")),
        agreement=agreed,
        unseen=None if agreed is None else unseen(agreed.both, agreed.first, agreed.second),
    )
