"""How often texts were tried before, whatever run they stand in: each further look at the same texts widens the bound.

Who writes the same texts as a new run, or deletes the run and makes it again, would else begin at look 1. So each trial
leaves keyed marks of the texts that it was drawn from, in a table that outlives the run; texts are compared in their
folded form, and two runs count as the same texts from a tenth of the smaller one on.

Privacy posture: see `engine.store.text_marks`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from engine.corpus.text.folding import folded
from engine.store import text_marks
from engine.store.audit import now
from engine.store.database.schema import intruder_looks, intruder_trials, synthetic
from engine.store.rows import AnyRow
from engine.store.runs.intruder.reading import spread

MOST = 20_000  # marks kept of a trial: the smallest, which are a random sample of the texts


def marks(key: bytes, texts: Iterable[str]) -> bytes:
    """Return the marks of texts, in order, each once."""
    return text_marks.marks(key, b"intruder-look", {folded(text) for text in texts}, MOST)


def alike(one: bytes, other: bytes) -> bool:
    """Return whether two sets of marks are of the same texts, by what they share of the smaller one."""
    return text_marks.alike(one, other, MOST)


def others(connection: Connection, run_id: str) -> list[AnyRow]:
    """Return what trials of other runs left."""
    query = select(intruder_looks).where(intruder_looks.c.run_id != run_id)
    return list(connection.execute(query.order_by(intruder_looks.c.seq)))


def own(connection: Connection, run_id: str) -> int:
    """Return the look of a run's latest trial, 0 where it has none."""
    query = select(func.max(intruder_trials.c.look)).where(intruder_trials.c.run_id == run_id)
    return int(connection.execute(query).scalar() or 0)


def following(connection: Connection, run_id: str, mine: bytes) -> int:
    """Return the look that a new trial of these texts is.

    Args:
        mine: marks of the run's approved texts.
    """
    tried = [row.look for row in others(connection, run_id) if alike(mine, row.marks)]
    return 1 + max([own(connection, run_id), *tried])


def texts_at(connection: Connection, run_id: str, positions: Iterable[int]) -> list[str]:
    """Return the texts of a run at positions, in its order."""
    wanted = set(positions)
    query = select(synthetic.c.position, synthetic.c.text).where(synthetic.c.run_id == run_id)
    return [str(text) for at, text in connection.execute(query.order_by(synthetic.c.position)) if at in wanted]


def keep(connection: Connection, trial_id: str, run_id: str, look: int, found: bytes) -> None:
    """Keep the marks of what a trial was drawn from, inside the caller's transaction."""
    values = {"at": now(), "trial_id": trial_id, "run_id": run_id, "look": look, "marks": found}
    connection.execute(intruder_looks.insert().values(**values))


def keep_missing(connection: Connection, key: bytes) -> dict[str, tuple[str, bytes]]:
    """Keep marks of trials that an earlier edition drew; return run and marks by trial."""
    known = select(intruder_looks.c.trial_id)
    found = {}
    for row in connection.execute(select(intruder_trials).where(intruder_trials.c.id.not_in(known))).all():
        made = marks(key, texts_at(connection, row.run_id, spread(row.drawn_from)))
        keep(connection, row.id, row.run_id, row.look, made)
        found[row.id] = (row.run_id, made)
    return found
