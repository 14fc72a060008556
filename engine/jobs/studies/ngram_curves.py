"""Study `ngram-curves`: what one n-gram drawn straight from a corpus gives away, by how many people are left out.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 4, figures 3 to 9.

Privacy posture: no text is made. Tables hold counts, chances and losses of n-grams that are not named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from engine.analysis import lbf_direct
from engine.attacks import ngram_counts
from engine.attacks.ngram_sampling import DirectSampling, draw_sources
from engine.errors import InternalError, UserError
from engine.jobs.studies.base import StudyContext, StudySpec, StudyStep
from engine.jobs.studies.pairs_units import unit_numbers

OBSERVED = {1: "one word", 2: "two words in a row", 3: "three words in a row"}
MOST_POINTS = 3000  # of the scatter of losses, a length


class NgramCurvesParameters(BaseModel):
    """What is drawn and left out."""

    model_config = ConfigDict(extra="forbid")

    n: tuple[int, ...] = Field((1, 3), min_length=1, max_length=3, description="Words that an attacker sees, 1 to 3.")
    excluded: tuple[int, ...] = Field(
        lbf_direct.SIZES, min_length=1, max_length=8, description="|U|: how many units are left out."
    )
    trials: int = Field(lbf_direct.TRIALS, ge=1, le=200, description="Random sets U of each size.")
    adjacency: Literal["corpus", "record", "source"] = Field(
        "corpus", description="What a unit of U is: as the corpus has it, a record, or all records of a source."
    )
    censor: int = Field(
        0, ge=0, le=1000, description="Hide n-grams that occur at most so often behind one mark; 0 hides none."
    )
    censor_by: Literal["x", "own"] = Field(
        "x", description="Whose counts decide what is hidden: those with everyone, or each side's own."
    )


class NgramCurvesStudy:
    """Draw n-grams directly, leave people out, and compare."""

    spec = StudySpec(
        id="ngram-curves",
        title="What drawing words directly gives away",
        summary="ε–δ curves of one n-gram drawn from the records themselves, with and without 1 to 1,000 people; how ε "
        "grows with their number, how many n-grams occur once, and which n-grams give most away.",
        citation="Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 4",
        parameters=NgramCurvesParameters,
        needs=(),
    )

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield the tables after each length of n-gram."""
        p = context.parameters
        if not isinstance(p, NgramCurvesParameters):
            raise InternalError("ngram-curves was started with another study's parameters")
        lengths = tuple(dict.fromkeys(p.n))
        if not all(1 <= n <= ngram_counts.MAX_N for n in lengths):
            raise UserError(f"n: n-grams of 1 to {ngram_counts.MAX_N} words are counted, got {list(lengths)}")
        records = context.run.records
        unit = context.run.unit if p.adjacency == "corpus" else p.adjacency
        codes = unit_numbers(records, unit)
        sizes = fitting(p.excluded, int(codes.max(initial=-1)) + 1)
        tables = dict(context.tables)
        done = list((context.state or {}).get("done", []))
        known = ngram_counts.Numbers()
        words = ngram_counts.tokens(records["text"].tolist(), known)
        for n in lengths:
            if n in done:
                continue
            counts = ngram_counts.count(words, codes, n, len(known))
            sampling = DirectSampling(counts, p.censor, p.censor_by)
            for name, made in self._tables(context, sampling, sizes, unit).items():
                tables[name] = pd.concat([tables[name], made], ignore_index=True) if name in tables else made
            done.append(n)
            yield StudyStep(len(done), len(lengths), OBSERVED[n], {"done": list(done)}, dict(tables))

    def _tables(
        self, context: StudyContext, sampling: DirectSampling, sizes: tuple[int, ...], unit: str
    ) -> dict[str, pd.DataFrame]:
        """Return the tables of one length."""
        p, n = context.parameters, sampling.counts.n
        assert isinstance(p, NgramCurvesParameters)
        found = []
        for trial in lbf_direct.trials(sampling, sizes, p.trials, context.run.seed):
            found.append(trial)
            context.progress(f"{OBSERVED[n]}, {trial.size:,} left out", len(found), len(sizes) * p.trials)
        direct = lbf_direct.summarise(sampling, found, unit)
        return {
            "direct_curves": pd.concat([_curve(n, size) for size in direct.sizes], ignore_index=True),
            "direct_trials": pd.DataFrame([_trial(n, trial) for trial in found]),
            "direct_power": pd.DataFrame(_fits(direct)),
            "direct_rarity": _rarity(sampling),
            "direct_loss": _losses(sampling, sizes[-1], context.run.seed),
        }


def fitting(sizes: tuple[int, ...], units: int) -> tuple[int, ...]:
    """Return the sizes, rising, that leave at least one unit.

    Raises:
        UserError: none does.
    """
    kept = tuple(sorted({size for size in sizes if 1 <= size < units}))
    if not kept:
        raise UserError(f"excluded: of {units:,} units between 1 and {max(units - 1, 0):,} can be left out")
    return kept


def _curve(n: int, size: lbf_direct.SizeSummary) -> pd.DataFrame:
    return pd.DataFrame({
        "n": n, "excluded": size.size, "trials": size.trials, "epsilon": lbf_direct.GRID,
        "delta": size.delta, "low": size.delta_low, "high": size.delta_high,
        "delta_standard": size.delta_standard, "standard_low": size.standard_low, "standard_high": size.standard_high,
        "floor": size.floor, "observed": OBSERVED[n],
    })  # fmt: skip


def _trial(n: int, trial: lbf_direct.Trial) -> dict[str, Any]:
    row: dict[str, Any] = {"n": n, "excluded": trial.size, "trial": trial.trial}
    for delta, strict, standard in zip(lbf_direct.DELTAS, trial.epsilons, trial.standard_epsilons, strict=True):
        row |= {f"epsilon_at_{delta:g}": strict, f"standard_epsilon_at_{delta:g}": standard}
    return row | {"floor": trial.floor, "constant": trial.constant, "share": trial.share}


def _fits(direct: lbf_direct.Direct) -> list[dict[str, Any]]:
    return [
        {"n": direct.n, "unit": direct.unit, "sources": direct.sources, "ngrams": direct.total,
         "distinct": direct.distinct, "censor": direct.censor, "measure": name, "at_delta": delta, **fit.as_dict()}
        for name, fits in (("strict", direct.fits), ("standard", direct.standard_fits))
        for delta, fit in zip(lbf_direct.DELTAS, fits, strict=True)
    ]  # fmt: skip


def _rarity(sampling: DirectSampling) -> pd.DataFrame:
    values, share = ngram_counts.ccdf(sampling.counts.totals)
    return pd.DataFrame({"n": sampling.counts.n, "occurrences": values, "share": share})


def _losses(sampling: DirectSampling, size: int, seed: int) -> pd.DataFrame:
    """Return the LBF of n-grams over their chance, for the first set of one size; at most `MOST_POINTS` of them."""
    points = lbf_direct.scatter(sampling.exclude(draw_sources(sampling.counts.sources, size, 1, seed)[0]))
    chosen = np.arange(points.loss.size)
    if chosen.size > MOST_POINTS:
        chosen = np.sort(np.random.default_rng(seed).choice(chosen, MOST_POINTS, replace=False))
    return pd.DataFrame({
        "n": sampling.counts.n, "excluded": size, "probability": points.probability[chosen],
        "loss": points.loss[chosen], "constant": points.constant,
        "only_with": points.infinite[0], "only_without": points.infinite[1],
    })  # fmt: skip
