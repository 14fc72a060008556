"""Short records in the store: keeping their marks, and comparing a new file's with those of a known population.

What equal marks tell is `engine.corpus.people.short_overlap`'s. A record that is found again, as it was or with a word
changed, is kept as another wording of the earlier record, so that a population does not look like one that repeats
itself.

Privacy posture: keyed hashes and counts.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection, func, select

from engine.corpus.people.short_marks import COMMON, ShortMarks
from engine.corpus.people.short_overlap import Pairs, ShortOverlap, compared, pairs
from engine.store.database.dialect import insert, move
from engine.store.database.schema import short_marks

CHUNK = 900
Held = dict[int, list[int]]


def overlaps(connection: Connection, marks: ShortMarks, long_records: Callable[[str], int]) -> dict[str, ShortOverlap]:
    """Return what a file's short records share with each known population, without those that share nothing.

    Args:
        long_records: says how many records with longer runs a population has, to know the smaller side.
    """
    own, whole = _own(marks)
    sizes = marks.records, marks.total
    return {
        population: _compared(connection, own, whole, sizes, population, there, long_records(population))
        for population, there in _shared(connection, own).items()
    }


def between(connection: Connection, a: str, b: str, long_a: int, long_b: int) -> ShortOverlap | None:
    """Return what the short records of two populations share, None for nothing.

    Args:
        long_a, long_b: records with longer runs of each.
    """
    own, whole = _held(connection, a)
    there = _shared(connection, own, b).get(b)
    if there is None:
        return None
    records, _ = _sizes(connection, a)
    return _compared(connection, own, whole, (records, records + long_a), b, there, long_b)


def _compared(
    connection: Connection,
    own: Held,
    whole: Mapping[int, int],
    sizes: tuple[int, int],
    population: str,
    there: tuple[Held, dict[int, int]],
    long_records: int,
) -> ShortOverlap:
    """Compare one side with a population; sizes: its records with marks, and all of its records."""
    held, held_whole = there
    other, once = _sizes(connection, population)
    return compared(
        pairs(own, held | _twice(connection, population, own)), whole, held_whole,
        sizes=(sizes[0], other), other_once=once, records=max(1, min(sizes[1], other + long_records)),
    )  # fmt: skip


def keep(connection: Connection, population: str, marks: ShortMarks) -> int:
    """Keep a file's marks as a population's, those of records that are found again with the earlier ones.

    Return the rows written.
    """
    own, _ = _own(marks)
    there, there_whole = _shared(connection, own, population).get(population, ({}, {}))
    again = _again(connection, population, own, there)
    left = Counter(there_whole)
    base = secrets.randbits(38) << 24
    number: dict[int, int | None] = {}
    rows: list[dict[str, object]] = []
    for value, record, whole in zip(marks.hashes.tolist(), marks.record.tolist(), marks.whole.tolist(), strict=True):
        if whole:
            known = left[value] > 0
            left[value] -= known
            number[record] = None if known else again.get(record, base + record)
        held = there.get(value, [])
        if number[record] is None or (not whole and len(held) >= COMMON):
            continue
        rows.append({"hash": value, "population": population, "record": number[record], "whole": whole})
    for begin in range(0, len(rows), CHUNK):
        connection.execute(insert(connection, short_marks).on_conflict_do_nothing(), rows[begin : begin + CHUNK])
    return len(rows)


def has_marks(connection: Connection, population: str) -> bool:
    """Say whether a population has marks of short records: one of the first edition has none."""
    query = select(short_marks.c.hash).where(short_marks.c.population == population).limit(1)
    return connection.execute(query).first() is not None


def records(connection: Connection, population: str) -> int:
    """Return how many short records a population has."""
    return _sizes(connection, population)[0]


def merged(connection: Connection, other: str, into: str) -> None:
    """Make one population's marks those of another; records that both have become one record."""
    held, _ = _held(connection, other)
    there, _ = _shared(connection, held, into).get(into, ({}, {}))
    for mine, theirs in pairs(held, there | _twice(connection, into, held)).between:
        row = (short_marks.c.population == other) & (short_marks.c.record == mine)
        connection.execute(move(short_marks, row, record=theirs))
    mine_too = short_marks.c.population == other
    connection.execute(move(short_marks, mine_too, population=into))
    connection.execute(short_marks.delete().where(mine_too))  # those that both had


def _own(marks: ShortMarks) -> tuple[Held, dict[int, int]]:
    """Return mark → records, and whole text's mark → number of records."""
    held: Held = {}
    for value, record in zip(marks.hashes.tolist(), marks.record.tolist(), strict=True):
        held.setdefault(value, []).append(record)
    return held, dict(Counter(marks.hashes[marks.whole].tolist()))


def _again(connection: Connection, population: str, own: Held, there: Held) -> dict[int, int]:
    """Return file record → the population's record that it is paired with."""
    found: Pairs = pairs(own, there | _twice(connection, population, own)) if there else Pairs((), 0, 0, 0)
    return dict(found.between)


def _shared(
    connection: Connection, own: Mapping[int, Sequence[int]], population: str | None = None
) -> dict[str, tuple[Held, dict[int, int]]]:
    """Return population → (mark → its records, whole text's mark → number of records), of the marks in `own`."""
    found: dict[str, tuple[Held, dict[int, int]]] = {}
    hashes = sorted(own)
    for begin in range(0, len(hashes), CHUNK):
        query = select(short_marks).where(short_marks.c.hash.in_(hashes[begin : begin + CHUNK]))
        if population is not None:
            query = query.where(short_marks.c.population == population)
        for row in connection.execute(query):
            held, whole = found.setdefault(row.population, ({}, {}))
            held.setdefault(row.hash, []).append(row.record)
            if row.whole:
                whole[row.hash] = whole.get(row.hash, 0) + 1
    return found


def _twice(connection: Connection, population: str, without: Mapping[int, object]) -> Held:
    """Return a population's marks that two of its records have, apart from those in `without`."""
    first, last = func.min(short_marks.c.record).label("first"), func.max(short_marks.c.record).label("last")
    query = select(short_marks.c.hash, first, last).where(short_marks.c.population == population)
    query = query.group_by(short_marks.c.hash).having(func.count() == 2)
    return {row.hash: [row.first, row.last] for row in connection.execute(query) if row.hash not in without}


def _held(connection: Connection, population: str) -> tuple[Held, dict[int, int]]:
    """Return a population's mark → records, and whole text's mark → number of records."""
    held: Held = {}
    whole: Counter[int] = Counter()
    for row in connection.execute(select(short_marks).where(short_marks.c.population == population)):
        held.setdefault(row.hash, []).append(row.record)
        whole[row.hash] += row.whole
    return held, {value: count for value, count in whole.items() if count}


def _sizes(connection: Connection, population: str) -> tuple[int, int]:
    """Return how many records a population has marks of, and how many whole texts stand once."""
    mine = (short_marks.c.population == population) & short_marks.c.whole
    records = connection.execute(select(func.count(short_marks.c.record.distinct())).where(mine)).scalar_one()
    alone = select(short_marks.c.hash).where(mine).group_by(short_marks.c.hash).having(func.count() == 1).subquery()
    return int(records), int(connection.execute(select(func.count()).select_from(alone)).scalar_one())
