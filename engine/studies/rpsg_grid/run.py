"""Study `rpsg-grid`: RPSG at several sizes and temperatures, repeated, and what each of the two does.

Source: Ma and Rajtmajer, RPSG, appendix G.2 to G.5, Table 17, Figures 5 to 7. Every size is a run of its own, as there.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from pydantic import BaseModel

from engine.errors import InternalError
from engine.methods import get_method
from engine.methods.base import Facts
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench import compared
from engine.studies.bench.bench import PROTECTION, Bench, Tables, Variant, check_settings, refusals
from engine.studies.bench.settings import parsed_settings
from engine.studies.rpsg_grid.parameters import RpsgGridParameters
from engine.studies.rpsg_grid.tables import KEYS, effects, in_words, table_17, whole_repeats


class RpsgGridStudy:
    """Run the method at every size and temperature as often as asked."""

    spec = StudySpec(
        id="rpsg-grid",
        title="RPSG: how many texts, how much randomness",
        summary="RPSG runs at several sizes and temperatures, several times each; what more texts and more randomness "
        f"do to each measure is tested over the repeats. {PROTECTION}",
        citation="Ma and Rajtmajer, RPSG, Table 17, Figures 5 to 7",
        parameters=RpsgGridParameters,
        needs=("generator", "operators", "embedder"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what the chosen method needs."""
        return (*get_method(_checked(parameters).method).spec.needs, "embedder")

    def refusals(self, parameters: BaseModel, facts: Facts, holdout: int) -> list[str]:
        """Return why the study cannot be done as asked."""
        return refusals(variants(_checked(parameters)), _checked(parameters), facts, holdout)

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each run of a size and temperature."""
        p = _checked(context.parameters)

        def tables(runs: pd.DataFrame) -> Tables:
            summary, tested = compared.summary(runs, KEYS), effects(runs)
            return {
                "summary": summary, "effects": tested, "sizes_and_temperatures": table_17(summary),
                "in_words": in_words(tested, len(whole_repeats(runs)), p.repeats),
            }  # fmt: skip

        yield from Bench(context, p, variants(p)).steps(tables)


def _checked(parameters: BaseModel) -> RpsgGridParameters:
    if not isinstance(parameters, RpsgGridParameters):
        raise InternalError("rpsg-grid was started with another study's parameters")
    return parameters


def variants(p: RpsgGridParameters) -> list[Variant]:
    """Return every size at every temperature, the smallest first."""
    values = parsed_settings(p.settings)
    check_settings(values, [p.method], ("temperature",))
    return [
        Variant(
            f"{size:,} texts at temperature {temperature:g}", p.method, {**values, "temperature": temperature}, size,
            keys={"size": size, "temperature": temperature},
        )
        for size in p.sizes
        for temperature in p.temperatures
    ]  # fmt: skip
