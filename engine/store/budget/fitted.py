"""Weights that runs fitted to private text: which run, which people, under what guarantee. Kept for good.

Rows outlive their run and corpus, since a copy of the weights may have left before they were deleted.

Privacy posture: keyed digests of weights, ids and public numbers.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

from sqlalchemy import Connection, select

from engine.dp.guarantee import Guarantee
from engine.models.marks import Mark
from engine.store.audit import now
from engine.store.database.dialect import insert
from engine.store.database.schema import corpora, fitted_weights, runs

CHUNK = 500


def register(connection: Connection, key: bytes, digests: Iterable[str], marks: Sequence[Mark]) -> None:
    """Keep that weights with these digests carry these marks; inside a write transaction."""
    rows = [
        {"digest": _keyed(key, digest), "run_id": mark.run, "mark": asdict(mark), "at": now()}
        for digest in sorted(set(digests))
        for mark in marks
    ]
    if rows:
        connection.execute(insert(connection, fitted_weights).on_conflict_do_nothing(), rows)


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
