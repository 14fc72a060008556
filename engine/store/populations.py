"""Populations: the people behind one or more corpora, recognised by keyed hashes of their units.

A new file belongs to a known population when at least `OVERLAP_SHARE` of the smaller side's distinct
unit hashes are common. Hashes stay when a corpus is deleted, so importing it again finds its
population, and with it its ledger.

Privacy posture: a hash is an HMAC under the workspace key; it says nothing without that key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, func, select, text, update

from engine.store.audit import now
from engine.store.base import new_id
from engine.store.schema import corpora, populations, unit_hashes

OVERLAP_SHARE = 0.1
CHUNK = 500


def match(connection: Connection, hashes: Sequence[str]) -> list[str]:
    """Return the populations that share enough units with these hashes, largest overlap first."""
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
            found.append((n, population))
    return [population for n, population in sorted(found, key=lambda pair: (-pair[0], pair[1]))]


def adopt(
    connection: Connection, hashes: Sequence[str], *, units: int, merging: Callable[[str, str], None]
) -> tuple[str, bool]:
    """Return the population of a new corpus and whether it was known; merge populations it joins.

    Args:
        units: in the corpus' training part; a new population keeps the number for its default limit.
        merging: called with (other, into) before two populations become one, to merge their ledgers.
    """
    matched = match(connection, hashes)
    if matched:
        population = matched[0]
        for other in matched[1:]:
            merging(other, population)
            _merge(connection, other, population)
    else:
        population = new_id("pop")
        connection.execute(populations.insert().values(id=population, created=now(), units=units))
    rows = [{"hash": h, "population": population} for h in sorted(set(hashes))]
    if rows:
        connection.execute(unit_hashes.insert().prefix_with("OR IGNORE"), rows)
    return population, bool(matched)


def _merge(connection: Connection, other: str, into: str) -> None:
    parameters = {"other": other, "into": into}
    connection.execute(
        text(
            "INSERT OR IGNORE INTO unit_hashes (hash, population) "
            "SELECT hash, :into FROM unit_hashes WHERE population = :other"
        ),
        parameters,
    )
    connection.execute(unit_hashes.delete().where(unit_hashes.c.population == other))
    connection.execute(update(corpora).where(corpora.c.population == other).values(population=into))
    connection.execute(populations.delete().where(populations.c.id == other))
