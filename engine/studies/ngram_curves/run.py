"""Study `ngram-curves`: what one n-gram drawn straight from a corpus gives away, by how many people are left out.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 4, figures 3 to 9.

Privacy posture: no text is made. Tables hold counts, chances and losses of n-grams that are not named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pandas as pd

from engine.errors import InternalError, UserError
from engine.examine.curves import lbf_adaptive, lbf_direct, ngram_counts
from engine.examine.curves.ngram_sampling import DirectSampling, draw_sources
from engine.studies import lemmas
from engine.studies.base import StudyContext, StudySpec, StudyStep, TableRow
from engine.studies.ngram_curves.parameters import NgramCurvesParameters
from engine.studies.ngram_curves.records import direct_records
from engine.studies.units import unit_numbers

OBSERVED = {
    lemmas.FORMS: {1: "one word form", 2: "two word forms in a row", 3: "three word forms in a row"},
    lemmas.LEMMAS: {1: "one lemma", 2: "two lemmas in a row", 3: "three lemmas in a row"},
}
MOST_POINTS = 1500  # of the scatter of losses, a length and size
ADAPTIVE = np.unique(np.concatenate([np.geomspace(1e-4, math.log(1000.0), 45), np.log([1.01, 1.2, 2.0, 10.0])]))


class NgramCurvesStudy:
    """Draw n-grams directly, leave people out, and compare."""

    spec = StudySpec(
        id="ngram-curves",
        title="What drawing words directly gives away",
        summary="ε–δ curves of one n-gram drawn from the records themselves, with and without 1 to 1,000 people, also "
        "with rare ones hidden, of words as written or of lemmas; how ε grows with their number, how many n-grams "
        "occur once, which give most away, and "
        "what an adversary gains who sees several before choosing.",
        citation="Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, sections 3.7 and 4",
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
        drawn = direct_records(context, p.part)
        records = drawn.records
        unit = context.run.unit if p.adjacency == "corpus" else p.adjacency
        codes = unit_numbers(records, unit)
        sizes = fitting(p.excluded, int(codes.max(initial=-1)) + 1)
        tables = dict(context.tables)
        done = list((context.state or {}).get("done", []))
        if not all(isinstance(one, str) for one in done):  # of an edition that counted forms alone
            tables, done = {}, []
        texts, told = _cut(context, p, records["text"].tolist())
        steps = [(kind, n) for kind in texts for n in lengths]
        for kind, n in steps:
            if f"{kind} {n}" in done:
                continue
            counts = ngram_counts.count(texts[kind][0], codes, n, texts[kind][1])
            for censor in dict.fromkeys((0, p.censor)):
                sampling = DirectSampling(counts, censor, p.censor_by)
                for name, made in self._tables(context, sampling, sizes, unit, kind).items():
                    made.insert(0, "words", kind)
                    tables[name] = pd.concat([tables[name], made], ignore_index=True) if name in tables else made
            tables |= {"direct_part": drawn.table(unit, int(codes.max()) + 1), "direct_words": told}
            done.append(f"{kind} {n}")
            yield StudyStep(len(done), len(steps), OBSERVED[kind][n], {"done": list(done)}, dict(tables))

    def _tables(
        self, context: StudyContext, sampling: DirectSampling, sizes: tuple[int, ...], unit: str, kind: str
    ) -> dict[str, pd.DataFrame]:
        """Return the tables of one length, of forms or of lemmas."""
        p, n = context.parameters, sampling.counts.n
        assert isinstance(p, NgramCurvesParameters)
        found, seen = [], OBSERVED[kind][n]
        hidden = f", {sampling.censor} or fewer hidden" if sampling.censor else ""
        for trial in lbf_direct.trials(sampling, sizes, p.trials, context.run.seed):
            found.append(trial)
            context.progress(f"{seen}, {trial.size:,} left out{hidden}", len(found), len(sizes) * p.trials)
        direct = lbf_direct.summarise(sampling, found, unit)
        tables = {
            "direct_curves": pd.concat([_curve(n, seen, size) for size in direct.sizes], ignore_index=True),
            "direct_trials": pd.DataFrame([_trial(n, trial) for trial in found]),
        }
        for table in tables.values():
            table.insert(1, "censor", sampling.censor)
        tables["direct_power"] = pd.DataFrame(_fits(direct))
        if sampling.censor:
            return tables
        tables["direct_rarity"] = _rarity(sampling)
        tables["direct_loss"] = pd.concat([_losses(sampling, s, context.run.seed) for s in sizes], ignore_index=True)
        if p.rounds:
            context.progress(f"{seen}, chosen afterwards", 0, len(sizes) * p.trials)
            tables["direct_adaptive"] = adaptive_table(sampling, sizes, p.trials, context.run.seed, p.rounds)
        return tables


def _cut(
    context: StudyContext, p: NgramCurvesParameters, texts: list[str]
) -> tuple[dict[str, tuple[ngram_counts.Tokens, int]], pd.DataFrame]:
    """Return the texts as numbers and how many distinct ones there are, by kind; and the table of what is counted."""
    asked = lemmas.counted(texts, p.words, p.language)
    known = ngram_counts.Numbers()
    forms = ngram_counts.tokens(texts, known)
    found = {lemmas.FORMS: (forms, len(known))}
    changed = float("nan")
    if asked.lemmatiser is not None:
        names = list(known)
        first = lemmas.lemmas_of(names, asked.lemmatiser, lambda at, every: context.progress("lemmas", at, every))
        found[lemmas.LEMMAS] = ngram_counts.replaced(forms, first)
        changed = lemmas.share_changed(names, first, np.bincount(forms.ids, minlength=len(names)))
    told = asked.table(len(known), found[lemmas.LEMMAS][1] if lemmas.LEMMAS in found else 0, changed)
    return {kind: found[kind] for kind in asked.kinds}, told


def fitting(sizes: tuple[int, ...], units: int) -> tuple[int, ...]:
    """Return the sizes, rising, that leave at least one unit.

    Raises:
        UserError: none does.
    """
    kept = tuple(sorted({size for size in sizes if 1 <= size < units}))
    if not kept:
        raise UserError(f"excluded: of {units:,} units between 1 and {max(units - 1, 0):,} can be left out")
    return kept


def _curve(n: int, seen: str, size: lbf_direct.SizeSummary) -> pd.DataFrame:
    return pd.DataFrame({
        "n": n, "excluded": size.size, "trials": size.trials, "epsilon": lbf_direct.GRID,
        "delta": size.delta, "low": size.delta_low, "high": size.delta_high,
        "delta_standard": size.delta_standard, "standard_low": size.standard_low, "standard_high": size.standard_high,
        "floor": size.floor, "observed": seen,
    })  # fmt: skip


def _trial(n: int, trial: lbf_direct.Trial) -> TableRow:
    row: TableRow = {"n": n, "excluded": trial.size, "trial": trial.trial}
    for delta, strict, standard in zip(lbf_direct.DELTAS, trial.epsilons, trial.standard_epsilons, strict=True):
        row |= {f"epsilon_at_{delta:g}": strict, f"standard_epsilon_at_{delta:g}": standard}
    return row | {"floor": trial.floor, "constant": trial.constant, "share": trial.share}


def _fits(direct: lbf_direct.Direct) -> list[TableRow]:
    return [
        {"n": direct.n, "unit": direct.unit, "sources": direct.sources, "ngrams": direct.total,
         "distinct": direct.distinct, "censor": direct.censor, "measure": name, "at_delta": delta, **asdict(fit)}
        for name, fits in (("strict", direct.fits), ("standard", direct.standard_fits))
        for delta, fit in zip(lbf_direct.DELTAS, fits, strict=True)
    ]  # fmt: skip


def _rarity(sampling: DirectSampling) -> pd.DataFrame:
    """Return how often n-grams occur in all records, and within the unit of middle size (figure 6)."""
    counts = sampling.counts
    parts = []
    for of, held in (("all", counts.totals), ("one unit", counts.of(ngram_counts.middle_source(counts))[1])):
        values, share = ngram_counts.ccdf(held)
        parts.append(pd.DataFrame({"n": counts.n, "of": of, "occurrences": values, "share": share}))
    return pd.concat(parts, ignore_index=True)


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


def adaptive_table(
    sampling: DirectSampling, sizes: tuple[int, ...], trials: int, seed: int, rounds: tuple[int, ...]
) -> pd.DataFrame:
    """Return strict δ against adversaries who choose a word probe after seeing k n-grams, and beforehand.

    Args:
        rounds: k, n-grams drawn independently that are seen.

    Raises:
        UserError: a k below 1.
    """
    parts = []
    for size in sizes:
        drawn = [sampling.grouped(u) for u in draw_sources(sampling.counts.sources, size, trials, seed)]
        for k in dict.fromkeys(rounds):
            found = [lbf_adaptive.probes(x, y, k, times=times) for x, y, times in drawn]
            afterwards, before = (
                np.array([getattr(one, name)(ADAPTIVE) for one in found]) for name in ("adaptive", "fixed")
            )
            parts.append(
                pd.DataFrame({
                    "n": sampling.counts.n, "excluded": size, "rounds": k, "trials": trials, "epsilon": ADAPTIVE,
                    "delta": afterwards.mean(axis=0), "low": afterwards.min(axis=0), "high": afterwards.max(axis=0),
                    "delta_fixed": before.mean(axis=0), "floor": float(np.mean([one.floor() for one in found])),
                })
            )  # fmt: skip
    return pd.concat(parts, ignore_index=True)
