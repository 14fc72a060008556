"""Models that saw private text: their marks found and carried, and every claim made with them counted or refused.

Mechanism: a tuned folder is marked when its weights are saved, and the digests of its weights are kept in the
workspace. Weights without a guarantee make any formal claim refused. Weights of a `dp` run are that run's output:
with them, a claim for the same people adds both (basic composition, which also holds for a run chosen after seeing
the first); a claim for other people stands as it is, since those weights do not depend on them. Unit and adjacency
must agree, else the claim is refused. A mark that lies in a folder whose weights are not known here counts as one
without a guarantee.

Limits: see `engine.models.marks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from engine.dp.groups import with_named
from engine.dp.guarantee import Guarantee
from engine.dp.upward import upward
from engine.errors import UserError
from engine.jobs.models.catalogued import catalogue
from engine.methods.public_inputs import listed
from engine.models.marks import POOL, RUN, Mark, read_marks, weight_digests, workspace_above, write_marks
from engine.store.budget import fitted
from engine.store.budget import lines as ledger_lines
from engine.store.database.schema import corpora, fitted_weights, pools, runs
from engine.store.runs import choosable
from engine.store.session import Session

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.methods.base import MethodSpec

FOLDERS = ("tuned_model", "surrogate_model")  # parameters that name a model folder
TUNED = "tuned"  # below a run's folder
UNTOUCHED = re.compile(r"trained on this corpus|seen this corpus")


def marks_in(session: Session, folder: Path) -> list[Mark]:
    """Return the marks of a model folder: those of its weights as kept here, and those it names itself."""
    _register_earlier(session)
    with session.db.read() as connection:
        found = fitted.find(connection, session.key, weight_digests(folder))
    named = {mark.run for mark in found}
    return [*found, *(replace(mark, whole=False) for mark in read_marks(folder) if mark.run not in named)]


def carry(session: Session, folder: Path) -> None:
    """Write into a copied model's folder which private text its weights were fitted to, where that is known."""
    found = marks_in(session, folder)
    if found:
        write_marks(folder, found)


def marks_used(session: Session, spec: MethodSpec, values: BaseModel, model: str) -> list[Mark]:
    """Return the marks of every model that a run would use, one a run.

    Raises:
        UserError: a model is unknown, or a parameter names a folder inside a workspace.
    """
    folders = []
    if "generator" in spec.needs and model != "builtin":
        info = catalogue(session).info(model)
        if info.back_end in ("folder", "hub") and not info.problem:
            folders.append(Path(info.where))
    for name in FOLDERS:
        given = str(getattr(values, name, "") or "")
        if given and Path(given).expanduser().is_dir():
            path = Path(given).expanduser()
            if workspace_above(path) is not None:
                raise UserError(
                    f"{name}: this folder lies inside a workspace. Import it on the Models page, so that what it has "
                    "seen is counted, and choose it as the model"
                )
            folders.append(path)
    found = [mark for folder in folders for mark in marks_in(session, folder)]
    return list(
        {
            mark.run: mark for mark in (*found, *_of_pool(session, spec, values), *_of_runs(session, spec, values))
        }.values()
    )


def _of_pool(session: Session, spec: MethodSpec, values: BaseModel) -> list[Mark]:
    """Return the marks of the pool that a run would choose from: earlier rounds whose winners were varied."""
    name = str(getattr(values, "pool", "") or "") if "pool" in spec.needs else ""
    if not name:
        return []
    with session.db.read() as connection:
        row = connection.execute(select(pools.c.marks).where(pools.c.name == name)).first()
    return [] if row is None else [Mark(**mark) for mark in row.marks]


def _of_runs(session: Session, spec: MethodSpec, values: BaseModel) -> list[Mark]:
    """Return the marks of the runs that a run would choose among: the output is that of one of them."""
    given = getattr(values, "promise", None) if "runs" in spec.needs else None
    return [] if given is None else choosable.marks(session, given.runs)


def refused(title: str, claim: Guarantee, marks: Sequence[Mark], population: str) -> list[str]:
    """Return why a formal claim cannot be made with models that carry these marks."""
    if claim.kind not in ("dp", "selection-only"):
        return []
    found = []
    for mark in marks:
        if not mark.bounded:
            found.append(
                f"{title} makes a formal claim, but its model was {mark.sentence()}: what it writes may repeat that "
                "text, so no claim would hold. Choose another model."
            )
        elif mark.population == population and (claim.kind != "dp" or not _alike(claim, mark)):
            found.append(
                f"The {mark.of} was {mark.sentence()} for each {mark.unit} ({mark.adjacency}) of the same people; that "
                "cannot be added to this run's claim, which is for another unit, neighbour or kind. Choose another "
                f"{mark.of}."
            )
    return found


def counted(claim: Guarantee, marks: Sequence[Mark], population: str) -> Guarantee:
    """Return a claim with what its models have spent on the same people added, and their marks as assumptions."""
    bounded = [mark for mark in marks if mark.bounded]
    if claim.kind != "dp" or not bounded:
        return claim
    same = [mark for mark in bounded if mark.population == population]
    others = tuple(
        f"The {mark.of} was {mark.sentence()}, of other people; their own ledger counts it."
        for mark in bounded
        if mark not in same
    )
    if not same or claim.epsilon is None:
        return replace(claim, assumptions=(*claim.assumptions, *others))
    epsilon = claim.epsilon + sum(float(mark.epsilon or 0.0) for mark in same)
    delta = float(claim.delta or 0.0) + sum(float(mark.delta or 0.0) for mark in same)
    named = " and ".join(f"run {mark.run}" for mark in same)
    # Neither a pool nor a run's output says anything of what models have seen.
    fitted_here = any(mark.of not in (POOL, RUN) for mark in same)
    how, both, whose, own = "The model was fitted to these people's text by", "both count", "the model's", ""
    if all(mark.of == POOL for mark in same):
        # The own claim goes on to say what it takes as given, the pool's promise among it.
        how, whose = "The pool was written from what these people's votes chose in", "the pool's"
        own = f" This run alone, the pool given: {claim.sentence}"
    if among := [mark for mark in same if mark.of == RUN]:
        earlier = [f"run {mark.run}" for mark in same if mark.of != RUN]
        named = listed([f"run {mark.run}" for mark in among])
        named += f", and these rest on {listed(earlier)}" if earlier else ""
        how, both, whose = "The text was chosen among the outputs of", "the choice and all of them count", "those runs'"
        own = f" This choice alone, the runs given: {claim.sentence}"
    together = replace(
        claim,
        sentence=(
            f"{how} {named}, so {both}: together (ε = {upward(epsilon, 4)}, "
            f"δ = {upward(delta)}) differential privacy for each {claim.unit} ({claim.adjacency}), this run's own "
            f"(ε = {upward(claim.epsilon, 4)}, δ = {upward(claim.delta or 0.0)}) and {whose} added.{own}"
        ),
        epsilon=epsilon,
        delta=delta,
        assumptions=(
            *(one for one in claim.assumptions if not (fitted_here and UNTOUCHED.search(one))),
            *(f"The {mark.of} was {mark.sentence()}; that run's line in the ledger pays for it." for mark in same),
            *others,
        ),
        voided_by=tuple(one for one in claim.voided_by if not (fitted_here and UNTOUCHED.search(one))),
        accounting={
            **claim.accounting,
            "own_epsilon": claim.epsilon,
            "own_delta": claim.delta,
            "models": [mark.run for mark in same],
        },
    )
    return with_named(together)


def population_now(session: Session, corpus_id: str, marks: Sequence[Mark]) -> tuple[str, list[Mark]]:
    """Return a corpus' population, and the marks with those that theirs were merged into."""
    with session.db.read() as connection:
        own = connection.execute(select(corpora.c.population).where(corpora.c.id == corpus_id)).scalar_one()
        found = [replace(mark, population=ledger_lines.current(connection, mark.population)) for mark in marks]
    return str(own), found


def mark_tuned(session: Session, run_id: str, folder: Path, base: Sequence[Mark], starts: Sequence[Path]) -> None:
    """Mark freshly saved weights of a run in their folder and in the workspace.

    Args:
        folder: the saved model, before it gets its name. base: marks of the model that was tuned. starts: folders of
            it; tensors that did not change are not the run's.
    """
    with session.db.read() as connection:
        own = fitted.own_mark(connection, run_id)
    marks = [own, *base]
    write_marks(folder, marks)
    before = frozenset[str]().union(*(weight_digests(start) for start in starts))
    with session.db.write() as connection:
        told = fitted.register(connection, session.key, weight_digests(folder) - before, marks)
        session.write_audit(connection, fitted.ACT, run_id, **told)


def _register_earlier(session: Session) -> None:
    """Mark the tuned models of runs made before marks were kept."""
    from engine.models.builtin.shipped import lm_folder

    folders = {path.parent.name: path for path in (session.folder.path / "runs").glob(f"*/{TUNED}") if path.is_dir()}
    if not folders:
        return
    with session.db.read() as connection:
        known = set(connection.execute(select(fitted_weights.c.run_id).distinct()).scalars())
        models = dict(connection.execute(select(runs.c.id, runs.c.model)).tuples().all())
    for run_id in sorted(folders.keys() & models.keys() - known):
        starts = [lm_folder()]
        with suppress(UserError):  # the model that was tuned is gone: nothing to leave out
            start = catalogue(session).info(models[run_id])
            starts += [] if start.problem else [Path(start.where)]
        mark_tuned(session, run_id, folders[run_id], [], starts)


def _alike(claim: Guarantee, mark: Mark) -> bool:
    return (claim.unit, claim.adjacency) == (mark.unit, mark.adjacency)
