"""Study `evolution-ablation`: DPGA-TextSyn with one thing changed at a time, against itself as it is.

Source: Sun et al. 2025, DPGA-TextSyn, sections 5.3 to 5.6 and appendix G: Table 3 (length, key words, suppression, at
T = 1 and T = 10), Figures 3 and 4 (rounds), 6 (τ) and 7 (q). Fewer rounds are read from the populations of the same
runs, whose noise is that of all their rounds; a run of its own with fewer rounds would draw less noise. Who votes in a
round is drawn from the operating system's entropy, also where there is no noise, unless q is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
from pydantic import BaseModel

from engine.errors import InternalError
from engine.json_types import JSONObject
from engine.methods import get_method
from engine.methods.base import Facts
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench import measured
from engine.studies.bench.bench import (
    ENDLESS,
    PROTECTION,
    Bench,
    Ran,
    Tables,
    Variant,
    check_settings,
    refusals,
    standard,
)
from engine.studies.bench.settings import parsed_settings
from engine.studies.evolution_ablation.claims import claims
from engine.studies.evolution_ablation.parameters import EvolutionAblationParameters
from engine.studies.evolution_ablation.tables import BASE, KEYS, RATE, TAU, rounds_summary, table_3

METHOD = "dpga"
SET_HERE = ("epsilon", "rounds", "length", "keywords", "suppression", "tau", "sampling_rate")
PARTS: dict[str, tuple[str, JSONObject]] = {
    "length": ("without length", {"length": False}),
    "keywords": ("without key words", {"keywords": False}),
    "suppression": ("without suppression", {"suppression": "off"}),
    "as printed": ("suppression as printed", {"suppression": "as printed"}),
}


class EvolutionAblationStudy:
    """Run the method as it is and with each change, and measure every round."""

    spec = StudySpec(
        id="evolution-ablation",
        title="What each part of the genetic algorithm does",
        summary="DPGA-TextSyn runs as it is and with one thing changed at a time (lengths, key words, suppression, τ, "
        "q), several times each; every round is measured, and the paper's claims are tested at this scale. "
        f"{PROTECTION}",
        citation="Sun et al. 2025, DPGA-TextSyn, Table 3, Figures 3, 4, 6 and 7",
        parameters=EvolutionAblationParameters,
        needs=get_method(METHOD).spec.needs,
    )

    def refusals(self, parameters: BaseModel, facts: Facts, holdout: int) -> list[str]:
        """Return why the study cannot be done as asked."""
        p = _checked(parameters)
        found = refusals(variants(p), p, facts, holdout)
        more = measured.lacks(p.each_round, p.outputs, min(p.records or facts.records, facts.records), holdout)
        return [*found, *(why for why in more if why not in found)]

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each run of a setting."""
        p = _checked(context.parameters)
        cells = variants(p)
        bench = Bench(context, p, cells)
        rounds: list[pd.DataFrame] = [context.tables["rounds"]] if "rounds" in context.tables else []

        def each_round(variant: Variant, repeat: int, ran: Ran) -> None:
            """Measure every round's population."""
            for number, population in ran.rounds if p.each_round else ():
                stage = f"{variant.name}, repeat {repeat + 1}: measuring round {number}"
                rows = bench.measured(variant, repeat, population, stage, p.each_round)
                rounds.append(rows.drop(columns="seconds").assign(round=number))

        def tables(runs: pd.DataFrame) -> Tables:
            pairs = [(v.name, BASE) for v in cells if v.name != BASE]
            found = standard(runs, pairs, p.repeats, KEYS)
            every = pd.concat(rounds, ignore_index=True) if rounds else None
            if every is not None:
                found |= {"rounds": every, "rounds_summary": rounds_summary(every)}
            return found | {
                "parts_left_out": table_3(found["summary"], found.get("rounds_summary")),
                "claims": claims(runs, every, found["summary"], found["comparison"]),
            }

        yield from bench.steps(tables, each_round)


def _checked(parameters: BaseModel) -> EvolutionAblationParameters:
    if not isinstance(parameters, EvolutionAblationParameters):
        raise InternalError("evolution-ablation was started with another study's parameters")
    return parameters


def variants(p: EvolutionAblationParameters) -> list[Variant]:
    """Return the method as it is, then with each change."""
    values = parsed_settings(p.settings)
    check_settings(values, [METHOD], SET_HERE)
    common = {**values, "epsilon": p.epsilon, "rounds": p.rounds}
    epsilon = ENDLESS if p.noiseless else f"{p.epsilon:g}"
    usual = float(get_method(METHOD).spec.parameters.model_fields["sampling_rate"].default)
    changes: list[tuple[str, str, float, JSONObject]] = [(BASE, "", math.nan, {})]
    changes += [(PARTS[part][0], part, math.nan, PARTS[part][1]) for part in dict.fromkeys(p.without)]
    changes += [(f"τ = {tau:g}", TAU, tau, {"tau": tau}) for tau in p.taus]
    changes += [(f"q = {rate:g}", RATE, rate, {"sampling_rate": rate}) for rate in p.rates if rate != usual]
    return [
        Variant(
            name, METHOD, {**common, **change}, p.outputs, p.noiseless,
            {"changed": changed, "level": level, "epsilon": epsilon},
        )
        for name, changed, level, change in changes
    ]  # fmt: skip
