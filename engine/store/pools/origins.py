"""Find out which texts of a file were made by runs of this workspace, and what that costs whoever chooses from them.

A text that equals an output of a run, or a winner in a prompt pack, but for case and white space, is that run's.
Outputs under a formal claim are protected: a pool that holds some carries the run's mark, so that a claim made with the
pool counts the run. Outputs without one are as private as the records, so no pool may hold them. A public text that a
run chose from a pool comes back with that whole pool; then it tells nothing and is no mark.

Limits: a text that was changed by a word is not recognised; the declaration covers it.
Privacy posture: reads outputs of runs, no record. A refusal names a run and no text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.models.marks import POOL, Mark
from engine.store.budget import fitted
from engine.store.database.schema import packs, pool_texts, runs, synthetic
from engine.store.runs.runs import run_row

CHUNK = 5_000


def folded(text: str) -> str:
    """Return a text by which equal ones are known."""
    return " ".join(text.casefold().split())


def marks_of(connection: Connection, texts: Collection[str]) -> list[Mark]:
    """Return the marks of the runs that made some of these texts, one a run.

    Raises:
        UserError: a run without a formal claim made some.
    """
    wanted = {folded(text) for text in texts}
    found: dict[str, Mark] = {}
    for run_id in sorted(_runs(connection, wanted)):
        row = run_row(connection, run_id)
        if row.guarantee.kind != "dp":
            raise UserError(
                f"some of these texts are outputs of run {run_id}, which has no formal guarantee: they may repeat "
                "private text, so no claim could be made with them. Leave them out"
            )
        if not row.guarantee.epsilon and not row.fitted:
            continue  # nothing private went into it
        own = replace(fitted.own_mark(connection, run_id), of=POOL)
        found |= {mark.run: mark for mark in (own, *row.fitted) if mark.run not in found}
    return list(found.values())


def _runs(connection: Connection, wanted: Collection[str]) -> set[str]:
    """Return the runs of which an output, or a winner that left in a pack, is among the texts."""
    found: set[str] = set()
    for run_id in connection.execute(select(synthetic.c.run_id).distinct()).scalars().all():
        query = select(synthetic.c.text).where(synthetic.c.run_id == run_id)
        if _any(connection.execute(query).scalars().yield_per(CHUNK), wanted) and not _whole(
            connection, run_id, wanted
        ):
            found.add(run_id)
    for run_id, prompts in connection.execute(select(packs.c.run_id, packs.c.prompts).where(packs.c.run_id != "")):
        if run_id in found or connection.execute(select(runs.c.id).where(runs.c.id == run_id)).first() is None:
            continue
        if _any((str(one.get("parent") or "") for one in prompts), wanted) and not _whole(connection, run_id, wanted):
            found.add(run_id)
    return found


def _any(texts: Iterable[str], wanted: Collection[str]) -> bool:
    return any(folded(text) in wanted for text in texts if text)


def _whole(connection: Connection, run_id: str, wanted: Collection[str]) -> bool:
    """Return whether all of the pool that a run chose from is there, so that its choice does not show."""
    values = connection.execute(select(runs.c.parameters).where(runs.c.id == run_id)).scalar_one()
    pool = str((values or {}).get("pool") or "")
    if not pool:
        return False
    texts = connection.execute(select(pool_texts.c.text).where(pool_texts.c.pool == pool)).scalars().all()
    return bool(texts) and all(folded(text) in wanted for text in texts)
