"""What is known of each record of a spot check: who read it, what had been missed in it, what a second person says.

A place counts as missed if it goes by now and did not when the sample was drawn, whether a person marked it here or by
a decision on the same words elsewhere. What was found so stays counted where it is taken back once its record was read
to the end: the number that a sample tells would fall by the hand of whoever does not like it. Somebody else has to say
that it was none (`engine.store.review.spot.second`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, or_, select

from engine.pii.decide.missed import Part
from engine.pii.decide.second import Place, pairs
from engine.pii.spans import default_identifier_type
from engine.store.database.schema import decisions, record_index, spot_checks, spot_events, spot_records
from engine.store.people.names import one_person
from engine.store.review.spot.draw import Before, marks, standing
from engine.store.review.spot.views import Difference
from engine.store.review.spot.withdrawn import Withdrawn, withdrawn
from engine.store.rows import AnyRow

AGAIN = "Identifiers were looked for again, or other marks were chosen, after the sample was drawn. Draw another."
REJECTED = (
    "After the sample was drawn it was decided, outside of it, that something stays which went before, or a decision "
    "that something goes was taken back. Draw another."
)
PARTLY = (
    "It was drawn from records that nobody had read, so it says nothing of what an earlier reading of the others "
    "overlooked. Draw another."
)
KINDS = ("direct", "quasi")


@dataclass
class Seen:
    """A record of a spot check.

    Attributes:
        readers: who read it to the end, empty where nobody did. missed: places that go now and did not before, by what
            the first reading says.
        marked_by: who reads it as the second person, or empty. done: that person has read it to the end.
        added: places that the second person says are missed. settled: of single places, what was decided and by whom;
            `applied`: those of them that go now.
        withdrawn: places of `missed` that were taken back after the record was read, and by whom.
    """

    position: int
    record_id: str
    place: int
    part: int
    twice: bool
    before: Before
    readers: set[str] = field(default_factory=set)
    missed: dict[Place, str] = field(default_factory=dict)
    types: dict[Place, str] = field(default_factory=dict)
    marked_by: str = ""
    done: bool = False
    added: dict[Place, str] = field(default_factory=dict)
    settled: dict[Place, tuple[str, str]] = field(default_factory=dict)
    applied: set[Place] = field(default_factory=set)
    withdrawn: dict[Place, str] = field(default_factory=dict)

    def take_back(self, places: Iterable[Withdrawn]) -> None:
        """Count what was taken back, unless it went before or goes now as something that weighs as much."""
        for one in places:
            place = (one.start, one.end)
            now = {self.types[other] for other in self.missed if other[0] < place[1] and place[0] < other[1]}
            weighs = one.kind in now or "direct" in now
            if place in self.missed and self.settled.get(place, ("", ""))[0] == "none":
                continue  # it was none of the one kind, and stands as another
            if one.kind in KINDS and not weighs and place not in self.applied and not _covered(place, self.before):
                self.missed[place], self.types[place], self.withdrawn[place] = one.label, one.kind, one.actor

    @property
    def read_twice(self) -> bool:
        """Whether two different people read it to the end."""
        return (
            self.twice
            and self.done
            and bool(self.readers)
            and not any(one_person(self.marked_by, name) for name in self.readers)
        )

    def differences(self) -> list[Difference]:
        """Return what one of its two readers alone found, and what was taken back after it was read.

        What the second reader noted counts from the end of that reading on, whoever reads the record besides.
        """
        found = {place: (self.missed[place], "withdrawn") for place in self.withdrawn}
        if self.twice and self.done and self.readers:
            _, first, second = pairs(list(self.missed), list(self.added))
            found |= {place: (self.added[place], "second") for place in second}
            found |= {place: (self.missed[place], "first") for place in first if place not in self.withdrawn}
        return [
            Difference(self.record_id, *place, label, by, *self.settled.get(place, ("", "")))
            for place, (label, by) in sorted(found.items())
        ]

    def counted(self) -> tuple[dict[Place, str], bool]:
        """Return what counts as missed, with its type's name, and whether all of it is marked by now."""
        found, marked = dict(self.missed), True
        for one in self.differences():
            place = (one.start, one.end)
            if one.settled == "none":
                found.pop(place, None)
            elif one.by == "second":
                found[place] = one.label
                marked = marked and place in self.applied
            elif one.by == "withdrawn":
                marked = False
        return found, marked

    def barred(self, difference: Difference) -> set[str]:
        """Return the names of those who may not say that a difference is no identifier.

        The first reader would unmake a miss of their own reading, the second a find of theirs, and whoever took
        something back would be asked about their own act.
        """
        place = (difference.start, difference.end)
        if difference.by == "withdrawn":
            return {self.withdrawn[place]}
        barred = {*self.readers}
        return barred | {self.marked_by} if difference.by == "second" else barred

    def kind(self, place: Place, label: str) -> str:
        """Return the identifier type of a place that counts as missed."""
        return self.types.get(place) or default_identifier_type(label)


def same(name: str) -> str:
    """Return a person's name as it is compared where somebody goes on with what is theirs.

    Where somebody else has to act, names that look alike count as one too (`engine.store.people.names.one_person`).
    """
    return " ".join(name.split()).casefold()


def latest(connection: Connection, corpus_id: str) -> AnyRow | None:
    """Return the row of a corpus' latest spot check."""
    query = select(spot_checks).where(spot_checks.c.corpus_id == corpus_id).order_by(spot_checks.c.look.desc())
    return connection.execute(query.limit(1)).first()


def seen(connection: Connection, check: AnyRow) -> list[Seen]:
    """Return all records of a spot check in their order of reading."""
    query = (
        select(spot_records, record_index.c.record_id, record_index.c.reviewed)
        .join(
            record_index,
            (record_index.c.corpus_id == check.corpus_id) & (record_index.c.position == spot_records.c.position),
        )
        .where(spot_records.c.check_id == check.id)
        .order_by(spot_records.c.place)
    )
    rows = connection.execute(query).all()
    found = {
        row.position: Seen(
            row.position, row.record_id, row.place, row.part, bool(row.twice),
            [(int(a), int(b), str(label), str(kind)) for a, b, label, kind in row.before],
        )
        for row in rows
    }  # fmt: skip
    _readers(connection, check, {row.position for row in rows if row.reviewed}, found)
    _second(connection, check, found)
    for position, places in standing(connection, check.corpus_id, list(found)).items():
        one = found[position]
        for start, end, label, kind in places:
            place = (start, end)
            if place in one.added and one.settled.get(place, ("", ""))[0] == "missed":
                one.applied.add(place)
            elif kind in KINDS and not _covered(place, one.before):
                one.missed[place], one.types[place] = label, kind
    for position, back in withdrawn(connection, check, list(found)).items():
        found[position].take_back(back)
    return list(found.values())


def again(check: AnyRow, records: Iterable[Seen]) -> int:
    """Return how many records of a spot check had been read before it was drawn: those of its last parts."""
    left, first = check.read_before or 0, len(check.parts)
    while left > 0 and first > 0:
        first -= 1
        left -= int(check.parts[first])
    return sum(one.part >= first for one in records)


def parts(check: AnyRow, records: Iterable[Seen], hit: Mapping[int, bool]) -> list[Part]:
    """Return the parts of a spot check; `hit`: position of a record to whether something was missed in it."""
    sizes = [int(size) for size in check.parts]
    read, hits = [0] * len(sizes), [0] * len(sizes)
    for one in records:
        read[one.part] += 1
        hits[one.part] += bool(hit.get(one.position))
    return [Part(*part) for part in zip(sizes, read, hits, strict=True)]


def stale(connection: Connection, check: AnyRow, positions: Sequence[int]) -> str:
    """Return why a spot check describes its corpus no longer, or nothing.

    What was marked elsewhere since makes less stay than the sample says, which its upper end covers. What was decided
    to stay, or a decision taken back, makes more stay.
    """
    if sum(check.parts) < check.records:
        return PARTLY
    if marks(connection, check.corpus_id) != list(check.marks):
        return AGAIN
    mine, inside = decisions.c.corpus_id == check.corpus_id, set(positions)
    undone = {
        int(batch): int(seq)
        for batch, seq in connection.execute(
            select(decisions.c.undoes, decisions.c.seq).where(mine, decisions.c.undoes.is_not(None))
        )
    }
    back = [batch for batch, seq in undone.items() if seq > check.after]
    query = select(decisions.c.position, decisions.c.seq, decisions.c.batch, decisions.c.prior).where(
        mine, decisions.c.span_id.is_not(None),
        or_(
            (decisions.c.seq > check.after) & (decisions.c.action == "reject"),
            (decisions.c.seq <= check.after) & decisions.c.batch.in_(back)
            & decisions.c.action.in_(("accept", "add", "relabel")),
        ),
    )  # fmt: skip
    for row in connection.execute(query):
        if row.position in inside:
            continue
        went = row.prior is not None and row.prior.get("state") == "accepted"
        rejected = row.seq > check.after
        if (rejected and went and row.batch not in undone) or (not rejected and not went):
            return REJECTED
    return ""


def _readers(connection: Connection, check: AnyRow, read: set[int], found: dict[int, Seen]) -> None:
    """Note who read each record to the end since the sample was drawn."""
    mine = decisions.c.corpus_id == check.corpus_id
    undone = select(decisions.c.undoes).where(mine, decisions.c.undoes.is_not(None))
    query = select(decisions.c.position, decisions.c.actor).where(
        mine, decisions.c.seq > check.after, decisions.c.action == "review", decisions.c.span_id.is_(None),
        decisions.c.position.is_not(None), decisions.c.batch.not_in(undone),
    )  # fmt: skip
    for position, actor in connection.execute(query):
        if position in found and position in read:
            found[position].readers.add(actor)


def _second(connection: Connection, check: AnyRow, found: dict[int, Seen]) -> None:
    """Go through what second readers did, in order; an act on a record that left the sample is not counted.

    That can only be by rows edited outside of the program, of which `chained.holds` tells.
    """
    query = select(spot_events).where(spot_events.c.check_id == check.id).order_by(spot_events.c.seq)
    for row in connection.execute(query):
        one, place = found.get(row.position), (row.start, row.end)
        if one is None:
            continue
        if row.action == "mark":
            one.marked_by = row.actor
            one.added[place] = row.label
        elif row.action == "unmark":
            one.added.pop(place, None)
        elif row.action in ("finish", "reopen"):
            one.marked_by, one.done = row.actor, row.action == "finish"
        else:
            one.settled[place] = (row.action, row.actor)


def _covered(place: Place, before: Before) -> bool:
    """Return whether each character of a place went before."""
    at = place[0]
    for start, end, _, _ in sorted(before):
        if start <= at < end:
            at = end
    return at >= place[1]
