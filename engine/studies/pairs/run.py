"""Study `pairs`: a method run on X and on X without U, several times each, and twice on the same X for the null curve.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 5, and what its sections
5.4.1 and 7 leave to others: several trainings and several generations of each, averaged, with bands.

Privacy posture: generated texts are internal; they are counted and let go. What is kept until the study ends are
digests of words (see `pairs_keep`) and cosines (see `pairs_near`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel

from engine.errors import InternalError, UserError
from engine.examine.curves.ngram_sampling import draw_sources
from engine.json_types import JSONObject
from engine.methods import get_method
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench.rerun import Terms, remembered, rerun, terms_of
from engine.studies.bench.settings import parsed_settings
from engine.studies.pairs import shown as analysis
from engine.studies.pairs.keep import Keep, Words, together, words_of
from engine.studies.pairs.near import Near, measured, near
from engine.studies.pairs.parameters import PairsParameters
from engine.studies.units import some_units, unit_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_GROUP = 16  # the claim of a larger group is beyond any use, and slow to account for


@dataclass(frozen=True)
class Run:
    """One run of the method: on X (`excluded` None) or on X without set number `excluded`; its first training."""

    name: str
    excluded: int | None
    training: str
    seed: int
    generations: int

    @property
    def title(self) -> str:
        """Return what is run, in words."""
        side = "with everyone" if self.excluded is None else f"without set {self.excluded + 1}"
        return f"{side}, {self.training}"


@dataclass(frozen=True)
class _World:
    """X, its units, the sets U, terms and what is kept."""

    x: pd.DataFrame
    units: NDArray[np.int64]
    sets: list[tuple[int, int, NDArray[np.int64]]]
    values: JSONObject
    terms: Terms
    keep: Keep
    key: bytes
    near: Near | None

    def has(self, run: Run) -> bool:
        """Return whether a run's generations are kept, whole."""
        words = self.keep.load(f"{run.name}-0") is not None
        return words and (self.near is None or self.keep.load_cosines(f"{run.name}-0") is not None)


class PairsStudy:
    """Run, count, compare."""

    spec = StudySpec(
        id="pairs",
        title="With and without: what leaving somebody out changes",
        summary="Runs a method on the training records and again without some people, several times each, and twice "
        "on the same records. How much better than chance can an attacker tell from a few words who was in? Only what "
        "exceeds the two runs on the same records is leakage. An attacker who compares meanings is tried as well.",
        citation="Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, sections 4 to 7",
        parameters=PairsParameters,
        needs=("generator", "operators", "embedder"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what the method chosen needs."""
        return get_method(_checked(parameters).method).spec.needs

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each run of the method; a set's tables are there after its last run."""
        p = _checked(context.parameters)
        world = _world(context, p)
        runs = plan(p, len(world.sets), context.run.seed)
        embedder = context.run.embedder
        embed = None if embedder is None else remembered(embedder, context.run.cancelled)
        tables = dict(context.tables)
        done = int((context.state or {}).get("done", 0))
        for number, run in enumerate(runs):
            if number >= done or not world.has(run):
                _make(context, p, world, run, embed)
            if number < done:
                continue
            last = run.excluded is not None and (number + 1 == len(runs) or runs[number + 1].excluded != run.excluded)
            tables = _joined(tables, {"runs": _counted(world, run)})
            if last:
                context.progress("comparing", 0, 1)
                tables = _joined(tables, _measured(p, world, runs, int(run.excluded or 0), context.run.seed))
                tables["answer"] = analysis.pooled_excess(tables)
            yield StudyStep(number + 1, len(runs), run.title, {"done": number + 1}, tables)


def _checked(parameters: BaseModel) -> PairsParameters:
    if not isinstance(parameters, PairsParameters):
        raise InternalError("pairs was started with another study's parameters")
    return parameters


def plan(p: PairsParameters, sets: int, seed: int) -> list[Run]:
    """Return the runs: twice as many on X as on each X without U.

    Where a method fits a model, a run is one training and writes all its generations; elsewhere each generation is a
    run of its own.
    """
    spec = get_method(p.method).spec
    fits = "train" in spec.needs and not spec.one_to_one
    each, generations = (p.trainings, p.generations) if fits else (p.trainings * p.generations, 1)
    runs = [("x", None, i) for i in range(2 * each)]
    places = [*runs, *((f"y{number}", number, i) for number in range(sets) for i in range(each))]
    return [
        Run(f"{side}-{i}", number, f"run {i + 1}", seed * 1_000_003 + 7919 * at, generations)
        for at, (side, number, i) in enumerate(places)
    ]


def _world(context: StudyContext, p: PairsParameters) -> _World:
    if max(p.n) > 3 or min(p.n) < 1 or min(p.excluded) < 1:
        raise UserError("n: 1 to 3 words; excluded: sizes of at least 1")
    unit = context.run.unit if p.adjacency == "corpus" else p.adjacency
    x = some_units(context.run.records, unit, p.records, context.run.seed)
    units = unit_numbers(x, unit)
    number = int(units.max()) + 1 if len(units) else 0
    sets = [
        (size, at, chosen)
        for size in p.excluded
        for at, chosen in enumerate(draw_sources(number, size, p.sets, context.run.seed))
    ]
    values = parsed_settings(p.settings)
    key = hashlib.sha256(b"pairs\0" + context.run.surrogate_key).digest()
    context.progress("accounting", 0, 1)
    terms = terms_of(context.run, p.method, values, x)
    held = near(context.run.embedder, x, units, [chosen for _, _, chosen in sets], context.run.cancelled)
    return _World(x, units, sets, values, terms, Keep(context.scratch), key, held)


def _make(
    context: StudyContext,
    p: PairsParameters,
    world: _World,
    run: Run,
    embed: Callable[[list[str]], NDArray[np.float32]] | None,
) -> None:
    """Run the method once and keep each generation's words; no text outlives this."""
    records = world.x
    if run.excluded is not None:
        records = records[~np.isin(world.units, world.sets[run.excluded][2])]
    whole = get_method(p.method).spec.one_to_one
    made = rerun(
        context.run, p.method, world.values, records, context.run.spans,
        len(records) if whole else p.count * run.generations, run.seed, terms=world.terms, embed=embed,
        progress=lambda stage, done, total: context.progress(f"{run.title}: {stage}", done, total),
    )  # fmt: skip
    words = words_of(made["text"].tolist(), world.key)
    each = words.texts // run.generations
    if not each:
        raise UserError(f"count: {p.method} made {words.texts} texts for {run.generations} generations; ask for more")
    for number in range(run.generations):
        first, last = number * each, (number + 1) * each
        if world.near is not None:
            world.keep.save_cosines(f"{run.name}-{number}", world.near.of(made["text"].iloc[first:last].tolist()))
        world.keep.save(f"{run.name}-{number}", words.part(first, last))


def _generations(world: _World, runs: list[Run]) -> tuple[list[Words], list[object]]:
    found: list[Words] = []
    trainings: list[object] = []
    for run in runs:
        for number in range(run.generations):
            kept = world.keep.load(f"{run.name}-{number}")
            if kept is None:
                raise InternalError("a generation that was made is missing")
            found.append(kept)
            trainings.append(run.name)
    return found, trainings


def _measured(p: PairsParameters, world: _World, runs: list[Run], number: int, seed: int) -> dict[str, pd.DataFrame]:
    size, at, excluded = world.sets[number]
    sides = [run for run in runs if run.excluded is None], [run for run in runs if run.excluded == number]
    (ours, ours_of), (theirs, theirs_of) = (_generations(world, side) for side in sides)
    x = words_of([str(text) for text in world.x["text"]], world.key)
    tables, vocabulary = together([x, *ours, *theirs])
    pair = analysis.Pair(
        x=tables[0], units=world.units, vocabulary=vocabulary, excluded=excluded,
        from_x=analysis.Generations(tuple(tables[1 : 1 + len(ours)]), tuple(ours_of)),
        from_y=analysis.Generations(tuple(tables[1 + len(ours) :]), tuple(theirs_of)),
        claimed=_claimed(world, excluded),
    )  # fmt: skip
    found = analysis.tables_of(pair, sorted(set(p.n)), seed)
    titles = [f"{row['variant']}, n = {row['n']}" for _, row in found["summary"].iterrows()]
    found["summary"]["variant"] = titles
    if world.near is not None:
        kept = [
            ([f"{run.name}-{i}" for run in side for i in range(run.generations)], of)
            for side, of in zip(sides, (ours_of, theirs_of), strict=True)
        ]
        more = measured(world.near, world.keep, kept, world.units, excluded, seed)
        found |= more | {"summary": pd.concat([found["summary"], more["summary"]], ignore_index=True)}
    found["summary"]["variant"] += f", |U| = {size}, set {at + 1}"
    for frame in found.values():
        frame.insert(0, "set", at)
        frame.insert(0, "excluded", size)
    return found


def _claimed(world: _World, excluded: NDArray[np.int64]) -> dict[str, tuple[float, ...]]:
    """Return the curve of what each run draws itself, for as many units as U touches; nothing where there is no claim.

    A pool or a model that was given is the same on both sides, so what it has spent is not in this curve.
    """
    from engine.dp.accounting.accountant import ExactAccountant

    terms, gone = world.terms, np.isin(world.units, excluded)
    if terms.guarantee.kind != "dp":
        return {}
    nothing = (0.0,) * len(analysis.GRID)
    if not terms.guarantee.events:
        return {"strict": nothing, "standard": nothing}
    group = len(np.unique(unit_numbers(world.x, terms.facts.unit)[gone]))
    if group > _LARGEST_GROUP:
        return {}
    curve = ExactAccountant().curve(terms.guarantee.mechanisms, list(analysis.GRID), group)
    return {"strict": curve.strict, "standard": curve.standard}


def _counted(world: _World, run: Run) -> pd.DataFrame:
    kept, _ = _generations(world, [run])
    side = "X" if run.excluded is None else "X without U"
    size, at = (0, 0) if run.excluded is None else world.sets[run.excluded][:2]
    return pd.DataFrame(
        [
            {"excluded": size, "set": at, "side": side, "training": run.training, "generation": number + 1,
             "texts": words.texts, "words": len(words.ids), "distinct": len(np.unique(words.ids))}
            for number, words in enumerate(kept)
        ]
    )  # fmt: skip


def _joined(old: dict[str, pd.DataFrame], new: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the old tables with the new rows below."""
    return old | {
        name: pd.concat([old[name], table], ignore_index=True) if name in old else table for name, table in new.items()
    }
