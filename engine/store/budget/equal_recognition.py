"""Equal lines and rests in the store: keeping their marks, and comparing a new file's with those of a known population.

What equal marks tell is `engine.corpus.people.equal_overlap`'s. An item that is found again is kept as the earlier one,
so that a population does not look like one that repeats itself.

Privacy posture: keyed hashes and counts.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, func, select

from engine.corpus.people.equal_marks import COMMON, LINES, RESTS, EqualMarks
from engine.corpus.people.equal_overlap import EqualOverlap, alike, equal_pairs
from engine.store.database.dialect import insert, move
from engine.store.database.schema import equal_marks

CHUNK = 900
Held = dict[int, list[int]]


def overlaps(
    connection: Connection, marks: Mapping[str, EqualMarks], records: Callable[[str], int]
) -> dict[str, tuple[EqualOverlap, ...]]:
    """Return what a file's lines and rests share with each known population, without those that share nothing.

    Args:
        records: says how many records the smaller side has, the file or a population.
    """
    found: dict[str, tuple[EqualOverlap, ...]] = {}
    for kind, one in marks.items():
        own = _by_hash(one)
        for population, there in _shared(connection, kind, own).items():
            shared = _compared(connection, kind, own, population, there, records(population))
            found[population] = (*found.get(population, ()), shared)
    return found


def between(connection: Connection, a: str, b: str, records: int) -> tuple[EqualOverlap, ...]:
    """Return what the lines and the rests of two populations share.

    Args:
        records: of the smaller side.
    """
    found = []
    for kind in (LINES, RESTS):
        own = _held(connection, kind, a)
        there = _shared(connection, kind, own, b).get(b)
        if there is not None:
            found.append(_compared(connection, kind, own, b, there, records))
    return tuple(found)


def keep(connection: Connection, population: str, marks: Mapping[str, EqualMarks]) -> int:
    """Keep a file's marks as a population's, those of items that are found again with the earlier ones.

    Return the rows written.
    """
    return sum(_keep(connection, population, kind, one) for kind, one in marks.items())


def merged(connection: Connection, other: str, into: str) -> None:
    """Make one population's marks those of another; items that both have become one item."""
    for kind in (LINES, RESTS):
        held = _held(connection, kind, other)
        there = _shared(connection, kind, held, into).get(into, {})
        for mine, theirs in equal_pairs(held, there).again.items():
            row = (equal_marks.c.population == other) & (equal_marks.c.kind == kind) & (equal_marks.c.item == mine)
            connection.execute(move(equal_marks, row, item=theirs))
    mine_too = equal_marks.c.population == other
    connection.execute(move(equal_marks, mine_too, population=into))
    connection.execute(equal_marks.delete().where(mine_too))  # those that both had


def _keep(connection: Connection, population: str, kind: str, marks: EqualMarks) -> int:
    own = _by_hash(marks)
    there = _shared(connection, kind, own, population).get(population, {})
    again = equal_pairs(own, there).again
    base = secrets.randbits(36) << 27
    count = Counter({value: len(items) for value, items in there.items()})
    rows: list[dict[str, object]] = []
    for value, items in own.items():
        for item in items[count[value] :]:  # as many of them as are here may be those
            if count[value] < COMMON:
                count[value] += 1
                number = again.get(item, base + item)
                rows.append({"hash": value, "population": population, "kind": kind, "item": number})
    for begin in range(0, len(rows), CHUNK):
        connection.execute(insert(connection, equal_marks).on_conflict_do_nothing(), rows[begin : begin + CHUNK])
    return len(rows)


def _compared(connection: Connection, kind: str, own: Held, population: str, there: Held, records: int) -> EqualOverlap:
    found = equal_pairs(own, there | _twice(connection, kind, population, own))
    return EqualOverlap(
        kind, len({item for items in own.values() for item in items}), _items(connection, kind, population),
        max(1, records), found.between, found.inside, alike(own, there),
    )  # fmt: skip


def _by_hash(marks: EqualMarks) -> Held:
    held: Held = {}
    for value, item in zip(marks.hashes.tolist(), marks.item.tolist(), strict=True):
        held.setdefault(value, []).append(item)
    return held


def _shared(
    connection: Connection, kind: str, own: Mapping[int, Sequence[int]], population: str | None = None
) -> dict[str, Held]:
    """Return population → mark → its items, of the marks in `own`."""
    found: dict[str, Held] = {}
    hashes = sorted(own)
    for begin in range(0, len(hashes), CHUNK):
        query = select(equal_marks).where(
            equal_marks.c.hash.in_(hashes[begin : begin + CHUNK]), equal_marks.c.kind == kind
        )
        if population is not None:
            query = query.where(equal_marks.c.population == population)
        for row in connection.execute(query):
            found.setdefault(row.population, {}).setdefault(row.hash, []).append(row.item)
    return found


def _twice(connection: Connection, kind: str, population: str, without: Mapping[int, object]) -> Held:
    """Return a population's marks that two of its items have, apart from those in `without`."""
    first, last = func.min(equal_marks.c.item).label("first"), func.max(equal_marks.c.item).label("last")
    query = select(equal_marks.c.hash, first, last).where(_of(kind, population))
    query = query.group_by(equal_marks.c.hash).having(func.count() == 2)
    return {row.hash: [row.first, row.last] for row in connection.execute(query) if row.hash not in without}


def _held(connection: Connection, kind: str, population: str) -> Held:
    held: Held = {}
    for row in connection.execute(select(equal_marks).where(_of(kind, population))):
        held.setdefault(row.hash, []).append(row.item)
    return held


def _items(connection: Connection, kind: str, population: str) -> int:
    query = select(func.count(equal_marks.c.item.distinct())).where(_of(kind, population))
    return int(connection.execute(query).scalar_one())


def _of(kind: str, population: str) -> ColumnElement[bool]:
    return (equal_marks.c.kind == kind) & (equal_marks.c.population == population)
