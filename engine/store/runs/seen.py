"""Outputs that were examined: whether those of a run are among them, also after the examined run was deleted.

An examination looks at private data. Whoever releases an output after that has chosen by it, and an output without
noise is written again by the same seed. So an examination leaves keyed digests of what it examined, one a text, which
belong to the workspace and outlive run and corpus: the look was at some people's data, whoever's file stands behind the
next run.

Privacy posture: digests are HMACs under the workspace key of synthetic texts; without the key they confirm no guess.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.sqlite import insert

from engine.store.schema import runs, seen_outputs, synthetic

ENOUGH = 0.5  # of the distinct texts of either run: one that repeats, or holds, half of the other is the same look
_PART = 500


def keep(connection: Connection, key: bytes, run_ids: Iterable[str]) -> None:
    """Keep the digests of the examined runs among these, once each, in the caller's transaction."""
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
    shared: Counter[str] = Counter()
    parts = sorted(own)
    for begin in range(0, len(parts), _PART):
        query = select(seen_outputs.c.run_id).where(
            seen_outputs.c.digest.in_(parts[begin : begin + _PART]), seen_outputs.c.run_id != run_id
        )
        shared.update(connection.execute(query).scalars())
    for other, number in shared.items():
        size = select(func.count()).where(seen_outputs.c.run_id == other)
        if _enough(number, len(own), int(connection.execute(size).scalar_one())):
            return True
    return any(_enough(len(own & other), len(own), len(other)) for other in _unkept(connection, key, run_id))


def _enough(shared: int, own: int, other: int) -> bool:
    return shared > 0 and shared >= ENOUGH * min(own, other)


def _digests(connection: Connection, key: bytes, run_id: str) -> set[str]:
    """Return one digest a distinct text of a run."""
    query = select(synthetic.c.text).where(synthetic.c.run_id == run_id)
    texts = connection.execute(query).scalars()
    return {hmac.new(key, b"output\0" + text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]
            for text in texts}  # fmt: skip


def _unkept(connection: Connection, key: bytes, run_id: str) -> Iterator[set[str]]:
    """Yield the digests of other runs that an earlier edition examined, which kept none."""
    kept = select(seen_outputs.c.run_id).where(seen_outputs.c.run_id == runs.c.id).exists()
    query = select(runs.c.id).where(runs.c.examined_at.is_not(None), runs.c.id != run_id, ~kept)
    for other in list(connection.execute(query).scalars()):
        yield _digests(connection, key, other)
