"""Outputs that were examined: whether those of a run are among them, also after the examined run was deleted.

An examination looks at private data. Whoever releases an output after that has chosen by it, and an output without
noise is written again by the same seed. So an examination leaves keyed digests of what it examined, one a text, which
belong to the workspace and outlive run and corpus: the look was at some people's data, whoever's file stands behind the
next run. Of a run without noise it leaves a digest of method and seed too: with another setting (a word more a text)
the same seed writes nearly the same output, and no text is equal. With the filter's placeholders around it a method
counts as the same one: the texts under them are.

An examination that was stopped has looked as well: where one of its parts was kept, the digests are kept with it.

What was examined in a time that this workspace lost, or in a copy of it that became this one, it cannot know, so a run
that is older than a restore, an accepted rollback or a copy may have been examined.

Privacy posture: digests are HMACs under the workspace key of synthetic texts; without the key they confirm no guess.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, func, select

from engine.dp.guarantee import Guarantee
from engine.store.database.dialect import insert
from engine.store.database.schema import audit, runs, seen_outputs, synthetic

ENOUGH = 0.5  # of the distinct texts of either run: one that repeats, or holds, half of the other is the same look
LOST = ("workspace restored", "rollback accepted", "workspace copied")  # actions in the audit log
_PART = 500
_SEED = "seed "
_FILTER = "filter:"


def keep(connection: Connection, key: bytes, run_ids: Iterable[str]) -> None:
    """Keep the digests of the examined runs among these, once each, in the caller's transaction."""
    for run_id in run_ids:
        examined = select(runs.c.id).where(runs.c.id == run_id, runs.c.examined_at.is_not(None))
        if connection.execute(examined).first() is not None:
            look(connection, key, run_id)


def look(connection: Connection, key: bytes, run_id: str) -> None:
    """Keep the digests of a run that private records were held against, finished or not, in the caller's transaction.

    Of an examination that was stopped a part may be left; from then on the run counts as examined (`looked_at`).
    """
    found = _digests(connection, key, run_id) | _seeds(connection, key, run_id, alike=False)
    rows = [{"run_id": run_id, "digest": digest} for digest in found]
    for begin in range(0, len(rows), _PART):
        part = insert(connection, seen_outputs).values(rows[begin : begin + _PART])
        connection.execute(part.on_conflict_do_nothing())


def looked_at(connection: Connection, run_id: str) -> bool:
    """Say whether a run was examined, wholly or in part."""
    examined = select(runs.c.id).where(runs.c.id == run_id, runs.c.examined_at.is_not(None))
    kept = select(seen_outputs.c.run_id).where(seen_outputs.c.run_id == run_id).limit(1)
    return connection.execute(examined).first() is not None or connection.execute(kept).first() is not None


def elsewhere(connection: Connection, key: bytes, run_id: str) -> bool:
    """Say whether a run's texts, or its seed where nothing is noised, were examined as those of another run."""
    return _same_seed(connection, key, run_id) or _same_texts(connection, key, run_id)


def lost_since(connection: Connection, run_id: str) -> bool:
    """Say whether this workspace lost what happened for a time after a run was made."""
    made = connection.execute(select(runs.c.created).where(runs.c.id == run_id)).scalar_one()
    query = select(audit.c.seq).where(audit.c.action.in_(LOST), audit.c.at >= made).limit(1)
    return connection.execute(query).first() is not None


def _same_seed(connection: Connection, key: bytes, run_id: str) -> bool:
    own = _seeds(connection, key, run_id)
    if not own:
        return False
    kept = select(seen_outputs.c.run_id).where(seen_outputs.c.digest.in_(own), seen_outputs.c.run_id != run_id)
    examined = select(runs.c.id).where(runs.c.examined_at.is_not(None), runs.c.id != run_id)
    others = list(connection.execute(examined).scalars())  # an earlier edition kept no seeds
    return connection.execute(kept).first() is not None or any(own & _seeds(connection, key, one) for one in others)


def _same_texts(connection: Connection, key: bytes, run_id: str) -> bool:
    own = _digests(connection, key, run_id)
    shared: Counter[str] = Counter()
    parts = sorted(own)
    for begin in range(0, len(parts), _PART):
        query = select(seen_outputs.c.run_id).where(
            seen_outputs.c.digest.in_(parts[begin : begin + _PART]), seen_outputs.c.run_id != run_id
        )
        shared.update(connection.execute(query).scalars())
    for other, number in shared.items():
        size = select(func.count()).where(seen_outputs.c.run_id == other, ~seen_outputs.c.digest.startswith(_SEED))
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


def _seeds(connection: Connection, key: bytes, run_id: str, *, alike: bool = True) -> set[str]:
    """Return digests of method and seed of a run with a statement that draws no noise, nothing for others.

    alike: those of the method with and without the filter too, to compare with. What is kept is one, that of the method
    as it is called: the line about an examination tells of what was kept then, and a deletion must keep the same.
    """
    row = connection.execute(select(runs.c.method, runs.c.seed, runs.c.guarantee).where(runs.c.id == run_id)).one()
    claim = Guarantee.from_dict(row.guarantee)
    if claim.kind != "dp" or not claim.noiseless:
        return set()
    method = row.method.removeprefix(_FILTER)
    names = (method, _FILTER + method) if alike else (row.method,)
    said = (f"seed\0{name}\0{row.seed}" for name in names)
    return {_SEED + hmac.new(key, one.encode(), "sha256").hexdigest()[:32] for one in said}


def _unkept(connection: Connection, key: bytes, run_id: str) -> Iterator[set[str]]:
    """Yield the digests of other runs that an earlier edition examined, which kept none."""
    kept = select(seen_outputs.c.run_id).where(seen_outputs.c.run_id == runs.c.id).exists()
    query = select(runs.c.id).where(runs.c.examined_at.is_not(None), runs.c.id != run_id, ~kept)
    for other in list(connection.execute(query).scalars()):
        yield _digests(connection, key, other)
