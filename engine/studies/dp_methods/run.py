"""Study `dp-methods`: methods with a formal guarantee at equal (ε, δ), by number of records, beside public text.

A guarantee is worth its price where the text is better than text that read nothing private. Every method runs at every
number of records and ε as often as asked, on the same nested sets of people; all are measured against the whole
training part and the holdout, so that sizes can be compared. The table `best` says, for each number and ε, which method
leads by the first measure, which cannot be told from it, and whether it is better than public text at all.

Source: the comparison asked for in Ponomareva et al. 2023 (How to DP-fy ML), section 5: at equal budget, over repeats.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from pydantic import BaseModel

from engine.errors import InternalError, UserError
from engine.figures.base import listed
from engine.methods import get_method
from engine.methods.base import Facts
from engine.studies.base import Cell, StudyContext, StudySpec, StudyStep
from engine.studies.bench import compared
from engine.studies.bench.bench import (
    NOTHING,
    PROTECTION,
    Bench,
    Tables,
    Variant,
    check_settings,
    refusals,
    settings_for,
    standard,
)
from engine.studies.bench.parameters import POOLED
from engine.studies.bench.settings import parsed_settings
from engine.studies.dp_methods.parameters import DpMethodsParameters

PUBLIC = "public"
KEYS = ("method", "epsilon", "n")
APART = (compared.BETTER, compared.WORSE)
BEST = ["n", "epsilon", "measure", "title", "best", "value", "low", "high", "not_told_apart", "public", "verdict"]


class DpMethodsStudy:
    """Run every method at every number of records and ε."""

    spec = StudySpec(
        id="dp-methods",
        title="Which method when: formal guarantees by size and budget",
        summary="Methods with a formal guarantee at equal (ε, δ) for several numbers of records, beside public text; "
        f"a table says which leads, and whether it beats text that read nothing. {PROTECTION}",
        citation="Ponomareva et al. 2023 (How to DP-fy ML), section 5, for what a comparison must hold equal",
        parameters=DpMethodsParameters,
        needs=("generator", "operators", "embedder"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what the chosen methods need."""
        p = _checked(parameters)
        return (*(need for method in p.methods for need in get_method(method).spec.needs), "embedder")

    def refusals(self, parameters: BaseModel, facts: Facts, holdout: int) -> list[str]:
        """Return why the study cannot be done as asked."""
        return refusals(variants(_checked(parameters)), _checked(parameters), facts, holdout)

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each run."""
        p = _checked(context.parameters)
        cells = variants(p)

        def tables(runs: pd.DataFrame) -> Tables:
            found = standard(runs, pairs(cells), p.repeats, KEYS)
            return {**found, "best": best(found["summary"], found["comparison"], p.measures[0])}

        yield from Bench(context, p, cells).steps(tables)


def _checked(parameters: BaseModel) -> DpMethodsParameters:
    if not isinstance(parameters, DpMethodsParameters):
        raise InternalError("dp-methods was started with another study's parameters")
    return parameters


def variants(p: DpMethodsParameters) -> list[Variant]:
    """Return public text, then every method by number of records and ε, the cheapest cells first.

    Raises:
        UserError: a method that chooses from a pool is asked for without one.
    """
    values = parsed_settings(p.settings)
    check_settings(values, [*p.methods, PUBLIC], ("epsilon", "pool"))
    if not p.pool and any(method in POOLED for method in p.methods):
        raise UserError("pool: dp-select chooses from a pool; name one, or leave the method out")
    keys: dict[str, Cell] = {"method": PUBLIC, "epsilon": NOTHING, "n": 0}
    found = [Variant(PUBLIC, PUBLIC, settings_for(PUBLIC, values), p.outputs, keys=keys)]
    for n in p.sizes:
        for method in dict.fromkeys(p.methods):
            own = settings_for(method, values)
            for epsilon in p.epsilons:
                keys = {"method": method, "epsilon": f"{epsilon:g}", "n": n}
                name = f"{method} at n = {n:,}, ε = {epsilon:g}"
                found.append(Variant(name, method, {**own, "epsilon": epsilon}, p.outputs, keys=keys, records=n))
    return found


def pairs(cells: list[Variant]) -> list[tuple[str, str]]:
    """Return what is compared: each setting with public text, and methods at the same number and ε."""
    own = [cell for cell in cells if cell.method != PUBLIC]
    found = [(cell.name, PUBLIC) for cell in own]
    for number, one in enumerate(own):
        at = (one.keys["n"], one.keys["epsilon"])
        found += [
            (one.name, other.name) for other in own[number + 1 :] if (other.keys["n"], other.keys["epsilon"]) == at
        ]
    return found


def _cell(variant: Variant) -> tuple[Cell, Cell]:
    return variant.keys["n"], variant.keys["epsilon"]


def best(summary: pd.DataFrame, comparison: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return a row a number of records and ε: the leading method, those not told apart from it, and public text.

    Args:
        summary, comparison: of the study. measure: which one decides; of those where closer to real is better the
            distance from real does.
    """
    of = summary[(summary["measure"] == measure) & summary["value"].notna()]
    floor = of.loc[of["method"] == PUBLIC, "value"]
    mine = comparison[comparison["measure"] == measure]
    told = {
        frozenset((str(a), str(b))): str(verdict)
        for a, b, verdict in zip(mine["one"], mine["other"], mine["verdict"], strict=True)
    }
    rows = []
    for (n, epsilon), cell in of[of["method"] != PUBLIC].groupby(["n", "epsilon"], sort=False):
        runs = cell.to_dict("records")
        direction = str(runs[0]["direction"])
        closer = direction == compared.CLOSER
        scores = [abs(one["value"] - one["real"]) if closer else float(one["value"]) for one in runs]
        leads = runs[scores.index(max(scores) if direction == "higher is better" else min(scores))]
        name = str(leads["variant"])
        same = [
            str(one["method"]) for one in runs
            if one is not leads and told.get(frozenset((str(one["variant"]), name))) not in APART
        ]  # fmt: skip
        rows.append(
            {"n": n, "epsilon": epsilon, "measure": measure, "title": leads["title"], "best": leads["method"],
             "value": leads["value"], "low": leads["low"], "high": leads["high"],
             "not_told_apart": listed(same) if same else "", "public": float(floor.mean()) if len(floor) else None,
             "verdict": told.get(frozenset((name, PUBLIC)), compared.UNMEASURED)}
        )  # fmt: skip
    return pd.DataFrame(rows, columns=BEST)
