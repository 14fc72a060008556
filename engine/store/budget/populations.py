"""Populations: the people behind one or more corpora, recognised by keyed hashes of their units.

A new file belongs to a known population when at least three in ten of the smaller side's distinct unit hashes are
common, or when `recognition` finds clear evidence; lesser evidence asks a person, and so does a tenth of the hashes,
since answers of one form may be equal by chance. With people of the first edition, who have no other marks, a tenth
joins. Hashes stay when a corpus is deleted, so importing it again finds its population, and with it its ledger.

Privacy posture: a hash is an HMAC under the workspace key; it says nothing without that key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from engine.corpus.people.marks import PeopleMarks
from engine.store.audit import now
from engine.store.budget import recognition, short_recognition
from engine.store.database.dialect import insert, move
from engine.store.database.schema import corpora, populations, unit_hashes
from engine.store.session import new_id

OVERLAP_SHARE, JOINING_SHARE = 0.1, 0.3
FORMER, WHOLE = "whole short texts", "whole texts"
CHUNK, AT_ONCE = 500, 20_000


@dataclass(frozen=True)
class Adopted:
    """The population of a new corpus. known: it was here before. asked: what it shares with others, in words.

    gone: populations that became part of it.
    """

    population: str
    known: bool
    asked: tuple[str, ...]
    gone: tuple[str, ...] = ()


def match(connection: Connection, hashes: Sequence[str]) -> dict[str, float]:
    """Return population → share of the smaller side's units that are common, largest number first, where enough are."""
    distinct = sorted(set(hashes))
    common: dict[str, int] = {}
    for begin in range(0, len(distinct), CHUNK):
        query = (
            select(unit_hashes.c.population, func.count())
            .where(unit_hashes.c.hash.in_(distinct[begin : begin + CHUNK]))
            .group_by(unit_hashes.c.population)
        )
        for population, n in connection.execute(query):
            common[population] = common.get(population, 0) + n
    found = []
    for population, n in common.items():
        known = connection.execute(
            select(func.count()).select_from(unit_hashes).where(unit_hashes.c.population == population)
        ).scalar_one()
        if n >= OVERLAP_SHARE * min(known, len(distinct)):
            found.append((-n, population, n / min(known, len(distinct))))
    return {population: share for _, population, share in sorted(found)}


def adopt(
    connection: Connection,
    hashes: Sequence[str],
    marks: PeopleMarks,
    *,
    former: Sequence[str] = (),
    units: int,
    joined: Sequence[str] = (),
    merging: Callable[[str, str], None],
    looking: Callable[[Sequence[str]], None],
) -> Adopted:
    """Return the population of a new corpus; merge populations that it joins, ask about those it may be.

    Args:
        hashes: of whole texts. marks: of runs of words, short records and source ids. former: of short texts, as a
            workspace of the first edition kept them.
        units: in the corpus' training part; a population keeps the largest number for its default limit.
        joined: populations that a person says these people are.
        merging: called with (other, into) before two populations become one, to merge their ledgers.
        looking: called with the populations that are about to change.
    """
    found = recognition.evidence(connection, marks)
    clear = [population for population, shared in found.items() if shared.clear]
    whole = match(connection, hashes)
    joining = [
        population
        for population, share in whole.items()
        if share >= JOINING_SHARE or not recognition.has_marks(connection, population)
    ]
    matched = list(dict.fromkeys([*joined, *joining, *clear]))
    looking(matched)
    if matched:
        population = matched[0]
        for other in matched[1:]:
            merge(connection, other, population, merging)
        _at_least(connection, population, units)
    else:
        population = new_id("pop")
        connection.execute(populations.insert().values(id=population, created=now(), units=units))
    distinct = sorted(set(hashes))
    for begin in range(0, len(distinct), AT_ONCE):
        rows = [{"hash": one, "population": population} for one in distinct[begin : begin + AT_ONCE]]
        connection.execute(insert(connection, unit_hashes).on_conflict_do_nothing(), rows)
    recognition.keep(connection, population, marks)
    asked = []
    for other, shared in found.items():
        if other in matched:
            continue
        # With people who were here before, all that is kept of them counts, not this file alone.
        every = recognition.between(connection, population, other) if matched else shared
        told = every if every.any else shared
        detail = recognition.described(told)
        if (told.any or other in whole) and recognition.ask(connection, population, other, detail):
            asked.append(told.sentence())
    for other in whole:
        new = other not in (population, *matched) and other not in found
        if new and recognition.ask(connection, population, other, {"sentence": WHOLE}):
            asked.append(WHOLE)
    for other in match(connection, former):
        known = other in (population, *matched) or short_recognition.has_marks(connection, other)
        if not known and recognition.ask(connection, population, other, {"sentence": FORMER}):
            asked.append(FORMER)
    return Adopted(population, bool(matched), tuple(asked), tuple(matched[1:]))


def merge(connection: Connection, other: str, into: str, merging: Callable[[str, str], None]) -> None:
    """Make two populations one."""
    merging(other, into)
    recognition.merged(connection, other, into)
    _merge(connection, other, into)


def _at_least(connection: Connection, population: str, units: int) -> None:
    """Note that a population has a corpus with so many units."""
    fewer = (populations.c.id == population) & (func.coalesce(populations.c.units, 0) < units)
    connection.execute(update(populations).where(fewer).values(units=units))


def _merge(connection: Connection, other: str, into: str) -> None:
    units = connection.execute(select(populations.c.units).where(populations.c.id == other)).scalar()
    _at_least(connection, into, int(units or 0))
    connection.execute(move(unit_hashes, unit_hashes.c.population == other, population=into))
    connection.execute(unit_hashes.delete().where(unit_hashes.c.population == other))
    connection.execute(update(corpora).where(corpora.c.population == other).values(population=into))
    connection.execute(populations.delete().where(populations.c.id == other))
