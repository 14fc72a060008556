"""Study `epsilon-sweep`: methods at several ε, repeated, between public text (ε = 0) and no noise at all (ε = ∞).

Source: Ma and Rajtmajer, RPSG, Tables 9 to 12 (ε = 4, 2, 1 and ∞, three runs each); here with intervals over runs, real
text against real text, and the same prompts without private text as the floor that a budget must lift a method above.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from pydantic import BaseModel

from engine.errors import InternalError, UserError
from engine.methods import get_method
from engine.methods.base import Facts
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench.bench import (
    ENDLESS,
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
from engine.studies.epsilon_sweep.parameters import EpsilonSweepParameters
from engine.studies.noiseless.parameters import VOTING

PUBLIC = "public"
KEYS = ("method", "epsilon")


class EpsilonSweepStudy:
    """Run every method at every ε as often as asked."""

    spec = StudySpec(
        id="epsilon-sweep",
        title="What ε buys: methods at several budgets",
        summary="Each method runs at each ε several times, beside no noise at all (ε = ∞) and beside the same prompts "
        "without private text (ε = 0); every run is measured alike, with intervals over repeats. "
        f"{PROTECTION}",
        citation="Ma and Rajtmajer, RPSG, Tables 9 to 12; Xie et al. 2024 (AUG-PE)",
        parameters=EpsilonSweepParameters,
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
        """Yield after each run of a method at an ε."""
        p = _checked(context.parameters)
        cells = variants(p)

        def tables(runs: pd.DataFrame) -> Tables:
            return standard(runs, pairs(cells), p.repeats, KEYS)

        yield from Bench(context, p, cells).steps(tables)


def _checked(parameters: BaseModel) -> EpsilonSweepParameters:
    if not isinstance(parameters, EpsilonSweepParameters):
        raise InternalError("epsilon-sweep was started with another study's parameters")
    return parameters


def variants(p: EpsilonSweepParameters) -> list[Variant]:
    """Return public text first, then every method from the least ε to no noise at all."""
    values = parsed_settings(p.settings)
    check_settings(values, [*p.methods, PUBLIC], ("epsilon", "pool"))
    if not p.pool and any(method in POOLED for method in p.methods):
        raise UserError("pool: dp-select chooses from a pool; name one, or leave the method out")
    found = []
    if p.public:
        keys = {"method": PUBLIC, "epsilon": NOTHING}
        found.append(Variant(PUBLIC, PUBLIC, settings_for(PUBLIC, values), p.outputs, keys=keys))
    for method in dict.fromkeys(p.methods):
        own = settings_for(method, values)
        for epsilon in p.epsilons:
            keys = {"method": method, "epsilon": f"{epsilon:g}"}
            found.append(
                Variant(f"{method} at ε = {epsilon:g}", method, {**own, "epsilon": epsilon}, p.outputs, keys=keys)
            )
        if p.endless and method in VOTING:
            # Calibration of what is then left out needs some ε; which one changes nothing but rounding.
            largest = {**own, "epsilon": max(p.epsilons)}
            keys = {"method": method, "epsilon": ENDLESS}
            found.append(Variant(f"{method} without noise", method, largest, p.outputs, True, keys))
    return found


def pairs(cells: list[Variant]) -> list[tuple[str, str]]:
    """Return what is compared: each setting with public text, with its method without noise, and at the same ε."""
    at = {(str(v.keys["method"]), str(v.keys["epsilon"])): v.name for v in cells}
    found = [(name, PUBLIC) for (method, _), name in at.items() if method != PUBLIC and PUBLIC in at.values()]
    found += [
        (name, at[method, ENDLESS])
        for (method, epsilon), name in at.items()
        if epsilon != ENDLESS and (method, ENDLESS) in at
    ]
    methods = [method for method in dict.fromkeys(method for method, _ in at) if method != PUBLIC]
    for number, one in enumerate(methods):
        for other in methods[number + 1 :]:
            found += [(name, at[other, e]) for (m, e), name in at.items() if m == one and (other, e) in at]
    return found
