"""Weights that runs fitted to private text: which run, which people, under what guarantee. Kept for good.

Rows outlive their run and corpus, since a copy of the weights may have left before they were deleted.

Privacy posture: keyed digests of weights, ids and public numbers.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from sqlalchemy import Connection, Text, select, type_coerce

from engine.dp.guarantee import Guarantee
from engine.models.marks import Mark
from engine.store.audit import now
from engine.store.chain import keyed
from engine.store.database.dialect import insert
from engine.store.database.schema import corpora, fitted_weights, runs
from engine.store.logs import about
from engine.store.logs.rows import said

CHUNK = 500


ACT = "weights marked"
TOLD, EARLIER = "marks", "marks_before"
SPAN = 1 << 256


def register(connection: Connection, key: bytes, digests: Iterable[str], marks: Sequence[Mark]) -> dict[str, str]:
    """Keep that weights with these digests carry these marks; inside a write transaction.

    Returns:
        What the line `ACT` has to hold: the sum of the digests of the rows that are new, and where no line was before
        it, of those that an earlier edition left.
    """
    there = set(connection.execute(select(fitted_weights.c.digest, fitted_weights.c.run_id)).tuples())
    begins = next(about.told(connection, (ACT,)), None) is None
    told = {EARLIER: f"{_sum(connection, key):x}"} if begins else {}
    rows = [
        {"digest": _keyed(key, digest), "run_id": mark.run, "mark": asdict(mark), "at": now()}
        for digest in sorted(set(digests))
        for mark in marks
    ]
    if rows:
        connection.execute(insert(connection, fitted_weights).on_conflict_do_nothing(), rows)
    new = [row for row in rows if (row["digest"], row["run_id"]) not in there]
    return {**told, TOLD: f"{sum(_row(key, row) for row in new) % SPAN:x}"}


def breaks(connection: Connection, key: bytes) -> list[str]:
    """Return a sentence where the rows are not those that the log tells of."""
    expected, began = 0, False
    for _, _, detail in about.told(connection, (ACT,)):
        expected += int(str(detail.get(TOLD, "0")), 16) + (0 if began else int(str(detail.get(EARLIER, "0")), 16))
        began = True
    if not began or _sum(connection, key) == expected % SPAN:
        return []
    return ["what weights were fitted to which people: changed, removed or brought in outside of the program."]


def outside(connection: Connection) -> list[str]:
    """Return a sentence where an earlier edition left rows, of which the log does not tell one by one."""
    first = next(about.told(connection, (ACT,)), None)
    kept = connection.execute(select(fitted_weights.c.digest).limit(1)).first() is not None
    if kept if first is None else int(str(first[2].get(EARLIER, "0")), 16):
        return ["what weights were fitted to which people: some was kept by an earlier edition."]
    return []


def _sum(connection: Connection, key: bytes) -> int:
    table = fitted_weights.c
    query = select(table.digest, table.run_id, type_coerce(table.mark, Text).label("mark"), table.at)
    return sum(_row(key, dict(row._mapping)) for row in connection.execute(query)) % SPAN


def _row(key: bytes, row: Mapping[str, object]) -> int:
    return int(keyed(key, "fitted weights", [row["digest"], row["run_id"], said(row["mark"]), row["at"]]), 16)


def find(connection: Connection, key: bytes, digests: Iterable[str]) -> list[Mark]:
    """Return the marks of weights with these digests; `whole` only where all weights of the run are among them."""
    wanted, found = [_keyed(key, digest) for digest in sorted(set(digests))], {}
    common: dict[str, int] = {}
    for begin in range(0, len(wanted), CHUNK):
        query = select(fitted_weights.c.run_id, fitted_weights.c.mark)
        for row in connection.execute(query.where(fitted_weights.c.digest.in_(wanted[begin : begin + CHUNK]))):
            common[row.run_id] = common.get(row.run_id, 0) + 1
            found[row.run_id] = Mark(**row.mark)
    return [
        replace(mark, whole=mark.whole and common[run] >= len(known(connection, run)))
        for run, mark in sorted(found.items())
    ]


def known(connection: Connection, run_id: str) -> list[str]:
    """Return the keyed digests that are kept of a run's weights."""
    query = select(fitted_weights.c.digest).where(fitted_weights.c.run_id == run_id)
    return list(connection.execute(query).scalars())


def own_mark(connection: Connection, run_id: str) -> Mark:
    """Return the mark that a run leaves on what is made with its output."""
    row = connection.execute(
        select(runs.c.guarantee, corpora.c.population)
        .join(corpora, corpora.c.id == runs.c.corpus_id)
        .where(runs.c.id == run_id)
    ).one()
    claim = row.guarantee
    if claim.get("kind") != "dp":
        return Mark(run_id, row.population, "none")
    epsilon, delta = Guarantee.from_dict(claim).drawn  # what it rests on has marks of its own
    return Mark(run_id, row.population, "dp", epsilon, delta, claim["unit"], claim["adjacency"])


def _keyed(key: bytes, digest: str) -> str:
    return hmac.new(key, f"fitted weights\0{digest}".encode(), "sha256").hexdigest()
