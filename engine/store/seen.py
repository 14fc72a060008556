"""Outputs that were examined: whether those of a run are among them, also after the examined run was deleted.

An examination looks at private data. Whoever releases an output after that has chosen by it, and an output without
noise is written again by the same seed. So a run that goes leaves keyed digests of what was examined of it, one a text,
which belong to the workspace and outlive run and corpus: the look was at some people's data, whoever's file stands
behind the next run.

Privacy posture: digests are HMACs under the workspace key of synthetic texts; without the key they confirm no guess.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable

from sqlalchemy import Connection, distinct, func, select
from sqlalchemy.dialects.sqlite import insert

from engine.store.schema import runs, seen_outputs, synthetic

ENOUGH = 0.5  # of the distinct texts of either run: one that repeats, or holds, half of the other is the same look
_PART = 500


def keep(connection: Connection, key: bytes, run_ids: Iterable[str]) -> None:
    """Keep the digests of the examined runs among these, which are about to be deleted, in the caller's transaction."""
    for run_id in run_ids:
        examined = select(runs.c.id).where(runs.c.id == run_id, runs.c.examined_at.is_not(None))
        if connection.execute(examined).first() is None:
            continue
        rows = [{"run_id": run_id, "digest": digest} for digest in _digests(connection, key, run_id)]
        for begin in range(0, len(rows), _PART):
            part = insert(seen_outputs).values(rows[begin : begin + _PART])
            connection.execute(part.on_conflict_do_nothing())


def elsewhere(connection: Connection, key: bytes, run_id: str) -> bool:
    """Say whether the texts of a run were examined as another run's, one that is there or one that was deleted."""
    own = _digests(connection, key, run_id)
    return any(
        shared >= ENOUGH * min(len(own), size)
        for shared, size in (*_present(connection, run_id), *_deleted(connection, own))
    )


def _digests(connection: Connection, key: bytes, run_id: str) -> list[str]:
    """Return one digest a distinct text of a run."""
    query = select(synthetic.c.text).where(synthetic.c.run_id == run_id).distinct()
    texts = connection.execute(query).scalars()
    return sorted({hmac.new(key, b"output\0" + text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]
                   for text in texts})  # fmt: skip


def _present(connection: Connection, run_id: str) -> list[tuple[int, int]]:
    """Return (distinct texts shared with this run, distinct texts) of each examined run that shares one."""
    own, other = synthetic.alias(), synthetic.alias()
    shared = (
        select(other.c.run_id, func.count(distinct(other.c.text)))
        .select_from(own)
        .join(other, (other.c.text == own.c.text) & (other.c.run_id != own.c.run_id))
        .join(runs, (runs.c.id == other.c.run_id) & runs.c.examined_at.is_not(None))
        .where(own.c.run_id == run_id)
        .group_by(other.c.run_id)
    )
    found = []
    for other_id, number in connection.execute(shared).all():
        size = select(func.count(distinct(synthetic.c.text))).where(synthetic.c.run_id == other_id)
        found.append((int(number), int(connection.execute(size).scalar_one())))
    return found


def _deleted(connection: Connection, own: list[str]) -> list[tuple[int, int]]:
    """Return (digests shared with these, digests) of each deleted run that shares one."""
    shared: Counter[str] = Counter()
    for begin in range(0, len(own), _PART):
        query = select(seen_outputs.c.run_id).where(seen_outputs.c.digest.in_(own[begin : begin + _PART]))
        shared.update(connection.execute(query).scalars())
    found = []
    for run_id, number in shared.items():
        size = select(func.count()).where(seen_outputs.c.run_id == run_id)
        found.append((number, int(connection.execute(size).scalar_one())))
    return found
