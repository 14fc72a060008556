"""Study `repeats`: two methods, or one with two settings, run several times each, and their difference tested.

Source: Sun et al. 2025 (DPGA-TextSyn), appendix E, Table 4, p values of a t-test of its method against AUG-PE; Welch's
test here, since the two need not vary alike, beside an exact permutation of pairs of one seed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from pydantic import BaseModel

from engine.errors import InternalError, UserError
from engine.methods import get_method
from engine.methods.base import Facts
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench.bench import ENDLESS, PROTECTION, Bench, Tables, Variant, refusals, standard
from engine.studies.bench.settings import parsed_settings
from engine.studies.noiseless.parameters import VOTING
from engine.studies.repeats.parameters import RepeatsParameters


class RepeatsStudy:
    """Run both settings under the same seeds and test what lies between them."""

    spec = StudySpec(
        id="repeats",
        title="Is one better? Two settings over several runs",
        summary="Two methods, or one with two settings, run several times each; their differences are tested, by "
        f"Welch's test and by an exact permutation of pairs, and said in words. {PROTECTION}",
        citation="Sun et al. 2025, DPGA-TextSyn, Table 4; Welch 1947; Fisher 1935, section 21",
        parameters=RepeatsParameters,
        needs=("generator", "operators", "embedder"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what the two methods need."""
        p = _checked(parameters)
        return (*get_method(p.first).spec.needs, *get_method(p.second).spec.needs, "embedder")

    def refusals(self, parameters: BaseModel, facts: Facts, holdout: int) -> list[str]:
        """Return why the study cannot be done as asked."""
        return refusals(variants(_checked(parameters)), _checked(parameters), facts, holdout)

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each run of a setting."""
        p = _checked(context.parameters)
        both = variants(p)

        def tables(runs: pd.DataFrame) -> Tables:
            return standard(runs, [(both[0].name, both[1].name)], p.repeats, ("method", "epsilon"))

        yield from Bench(context, p, both).steps(tables)


def _checked(parameters: BaseModel) -> RepeatsParameters:
    if not isinstance(parameters, RepeatsParameters):
        raise InternalError("repeats was started with another study's parameters")
    return parameters


def variants(p: RepeatsParameters) -> list[Variant]:
    """Return the two settings.

    Raises:
        UserError: they are the same, a method does not exist, or it offers no run without noise.
    """
    found = []
    for method, text in ((p.first, p.first_settings), (p.second, p.second_settings)):
        values = parsed_settings(text)
        if p.noiseless and method not in VOTING:
            raise UserError(f"noiseless: {method} offers no run without noise; {', '.join(VOTING)} do")
        default = get_method(method).spec.parameters.model_fields.get("epsilon")
        epsilon = ENDLESS if p.noiseless else "" if default is None else f"{values.get('epsilon', default.default):g}"
        name = f"{method} ({text.strip()})" if text.strip() else method
        found.append(Variant(name, method, values, p.outputs, p.noiseless, {"method": method, "epsilon": epsilon}))
    if found[0].name == found[1].name:
        raise UserError("second: both settings are the same; change a method or its settings")
    return found
