"""What a pair experiment shows: text made from X against text made from X ∖ U, beside direct sampling and null pairs.

The thesis compared one text from each side and left open whether synthesis leaks more than drawing words directly, as
one text's noise counts as leakage (Stomakhin 2025, sections 5.4 and 7). Here several trainings and generations stand
on each side, beside the same comparison of X with X: only what exceeds that can be leakage.

Everything here holds for the sets U that were drawn, of typical sources, not for the worst case.

Privacy posture: tables hold numbers; a word is a number without meaning outside its table, never text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from engine.dp.accounting.pld import PrivacyLoss
from engine.examine.curves import lbf, lbf_direct, ngram_counts
from engine.examine.curves.lbf import Curve, Floats
from engine.examine.curves.ngram_counts import Ints, NgramCounts, Tokens, aligned
from engine.examine.curves.ngram_sampling import DirectSampling
from engine.studies.pairs import subjective as lbf_subjective
from engine.studies.pairs import synthetic as lbf_synthetic
from engine.studies.pairs.chance import by_training, excess_by_chance
from engine.studies.pairs.reproduced import reproduced
from engine.studies.pairs.synthetic import Band, SyntheticCurves

GRID = np.unique(np.concatenate([np.geomspace(1e-3, math.log(1000.0), 61), np.log([1.01, 1.2, 2.0, 10.0])]))
READ_AT = math.log(1.2)
CHECKED = (READ_AT, math.log(2.0))
MOST_POINTS = 2000
OBSERVED = (1, 10)  # n-grams seen together
_CELLS = 20_000  # of the grid on which their losses are added
CURVES = [
    "kind", "epsilon", "delta", "delta_low", "delta_high", "delta_standard", "standard_low", "standard_high", "runs",
    "observed",
]  # fmt: skip


@dataclass(frozen=True)
class Generations:
    """Generated text of one side: words of each generation, and which training each comes from."""

    generations: tuple[Tokens, ...]
    trainings: tuple[object, ...]


@dataclass(frozen=True)
class Pair:
    """One U: what was generated with it and without.

    Args:
        x: words of X's records. units: int64 (n,), the number of each record's unit (record or source).
        vocabulary: distinct words of everything here. excluded: numbers of the units of U.
        from_x, from_y: generated from X and from X ∖ U.
        claimed: δ (standard) of the method's own claim at `GRID` for a group as large as U, or None.
    """

    x: Tokens
    units: Ints
    vocabulary: int
    excluded: Ints
    from_x: Generations
    from_y: Generations
    claimed: Mapping[str, Sequence[float]] = field(default_factory=dict)


def tables_of(pair: Pair, lengths: Sequence[int], seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return the tables of one U, for each length of n-gram; `n` is their first column.

    Tables: `curves` (kinds direct, synthetic single, synthetic pooled, synthetic matched, null, excess, claimed),
    `excess` (with a permutation p value), `composed`, `points`, `shift`, `top`, `believed`, `reproduced` (always of
    three words) and `summary`.
    """
    made: dict[str, list[pd.DataFrame]] = {}
    for n in lengths:
        for name, frame in _of_length(pair, n, seed).items():
            frame.insert(0, "n", n)
            made.setdefault(name, []).append(frame)
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in made.items()}
    sides = pair.from_x.generations, pair.from_y.generations
    tables["reproduced"] = reproduced(pair.x, pair.units, pair.vocabulary, pair.excluded, *sides)
    return tables


def _of_length(pair: Pair, n: int, seed: int) -> dict[str, pd.DataFrame]:
    counts = ngram_counts.count(pair.x, pair.units, n, pair.vocabulary)
    from_x, from_y = (_counted(side, n, pair.vocabulary) for side in (pair.from_x, pair.from_y))
    keys, every = lbf_synthetic.tabulate([*from_x, *from_y])
    x, y = every[: len(from_x)], every[len(from_x) :]
    found = lbf_synthetic.compare(
        x, y, list(GRID), seed, trainings_x=pair.from_x.trainings, trainings_y=pair.from_y.trainings
    )
    outputs = DirectSampling(counts).exclude(pair.excluded)
    direct = lbf_direct.loss_of(outputs)
    curves = pd.concat([_curves(lbf.curve(direct, list(GRID), _words(n)), found), _claimed(pair)], ignore_index=True)
    both = min(len(x), len(y))
    known = np.union1d(counts.keys, keys)
    gone = np.zeros(counts.keys.size, np.int64)
    gone[outputs.grams] = outputs.x - outputs.y
    sides = [
        aligned(known, (counts.keys, counts.totals)), aligned(known, (counts.keys, counts.totals - gone)),
        aligned(known, (keys, x[:both].sum(axis=0))), aligned(known, (keys, y[:both].sum(axis=0))),
    ]  # fmt: skip
    points, shift = _shift(sides, seed)
    return {
        "curves": curves, "composed": _composed(direct, x, y, pair), "points": points, "shift": shift,
        "top": _top(sides), "believed": _believed(sides), "summary": _summary(curves),
        "excess": _excess_rows(x, y, pair, seed),
    }  # fmt: skip


def _counted(side: Generations, n: int, vocabulary: int) -> list[NgramCounts]:
    return [
        ngram_counts.count(one, np.zeros(len(one.offsets) - 1, np.int64), n, vocabulary) for one in side.generations
    ]


def _words(n: int) -> str:
    return "one word" if n == 1 else f"one run of {n} words"


def _curves(direct: Curve, found: SyntheticCurves) -> pd.DataFrame:
    parts = [
        _rows("direct", direct, 1),
        _rows("synthetic pooled", found.pooled, 1),
        _band("synthetic single", found.single),
    ]
    if found.null is not None and found.pooled_matched is not None:
        matched, null = found.pooled_matched, found.null
        parts += [_band("synthetic matched", matched), _band("null", null), _excess(matched, null)]
    return pd.concat(parts, ignore_index=True)


def _rows(kind: str, curve: Curve, runs: int, bands: Mapping[str, Floats] | None = None) -> pd.DataFrame:
    bands = bands or {}
    return pd.DataFrame(
        {
            "kind": kind, "epsilon": curve.epsilon, "delta": curve.delta, "delta_low": bands.get("low", math.nan),
            "delta_high": bands.get("high", math.nan), "delta_standard": curve.delta_standard,
            "standard_low": bands.get("standard_low", math.nan), "standard_high": bands.get("standard_high", math.nan),
            "runs": runs, "observed": curve.observed,
        },
        columns=CURVES,
    )  # fmt: skip


def _band(kind: str, band: Band) -> pd.DataFrame:
    bands = {name: getattr(band, name) for name in ("low", "high", "standard_low", "standard_high")}
    return _rows(kind, band.curve, band.number, bands)


def _excess(matched: Band, null: Band) -> pd.DataFrame:
    """Return matched minus null; the band goes from the largest to the least null curve."""
    m, z = matched.curve, null.curve
    curve = Curve(m.epsilon, m.delta - z.delta, m.delta_standard - z.delta_standard, m.observed)
    bands = {
        "low": m.delta - null.high, "high": m.delta - null.low,
        "standard_low": m.delta_standard - null.standard_high, "standard_high": m.delta_standard - null.standard_low,
    }  # fmt: skip
    return _rows("excess", curve, matched.number, bands)


def _claimed(pair: Pair) -> pd.DataFrame:
    if not pair.claimed:
        return pd.DataFrame(columns=CURVES)
    strict, standard = (np.asarray(pair.claimed[name], float) for name in ("strict", "standard"))
    return _rows("claimed", Curve(GRID, strict, standard, "the whole output, in the worst case"), 1)


def _composed(direct: PrivacyLoss, x: Ints, y: Ints, pair: Pair) -> pd.DataFrame:
    """Return δ where an attacker sees several n-grams drawn independently: direct, matched and null.

    The last two are of the first half of X's trainings, once against as many of X ∖ U and once against the rest of X.
    """
    losses: dict[str, PrivacyLoss] = {"direct": direct}
    names, theirs = (list(dict.fromkeys(map(repr, side.trainings))) for side in (pair.from_x, pair.from_y))
    half = min(len(names) // 2, len(theirs))
    if half:
        of_x, of_y = (np.array([repr(name) for name in side.trainings]) for side in (pair.from_x, pair.from_y))
        first, second = (_share(x[np.isin(of_x, part)]) for part in (names[:half], names[half : 2 * half]))
        losses["null"] = lbf.loss_of_counts(first, second)
        losses["synthetic matched"] = lbf.loss_of_counts(first, _share(y[np.isin(of_y, theirs[:half])]))
    rows = []
    for kind, loss in losses.items():
        coarse, step = _coarse(loss)
        for count in OBSERVED:
            curve = lbf.curve(coarse.compose(count), [math.log(value) for value in (1.2, 2.0, 10.0)])
            rows += [{"kind": kind, "observed": count, **row, "rounding": step * count} for row in curve.rows()]
    return pd.DataFrame(rows)


def _coarse(loss: PrivacyLoss) -> tuple[PrivacyLoss, float]:
    """Return a loss rounded up to a grid, and its step in nats: both δs stay upper bounds."""
    span = max(float(np.ptp(part.values)) + float(np.abs(part.values).max()) for part in loss.directions)
    step = max(span / _CELLS, 1e-9)
    return PrivacyLoss(tuple(part.rounded_up(step) for part in loss.directions)), step


def _share(counts: Ints) -> Floats:
    return np.asarray(np.mean(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), axis=0))


def _excess_rows(x: Ints, y: Ints, pair: Pair, seed: int) -> pd.DataFrame:
    """Return the excess over the null curve at a few ε, with its p value; no rows with a single training."""
    shares = by_training(x, pair.from_x.trainings), by_training(y, pair.from_y.trainings)
    rows = []
    for epsilon in CHECKED:
        found = excess_by_chance(*shares, epsilon, seed)
        if found is not None:
            rows.append(
                {"epsilon": epsilon, "excess": found.excess, "p": found.p, "namings": found.namings,
                 "verdict": found.verdict}
            )  # fmt: skip
    return pd.DataFrame(rows, columns=["epsilon", "excess", "p", "namings", "verdict"])


def _shift(sides: Sequence[Ints], seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return words as points (a random sample of them) and what they come to in all."""
    found = lbf_synthetic.shift(*sides)
    size = found.direct.size
    chosen = np.arange(size)
    if size > MOST_POINTS:
        chosen = np.sort(np.random.default_rng(seed).choice(size, MOST_POINTS, replace=False))
    columns = {
        "probability": found.probability, "direct": found.direct, "synthetic": found.synthetic,
        "change": found.change, "first_order": found.first_order, "shift_x": found.shift_x, "shift_y": found.shift_y,
    }  # fmt: skip
    points = pd.DataFrame(
        {"point": np.arange(chosen.size)} | {name: values[chosen] for name, values in columns.items()}
    )
    grown = np.abs(found.synthetic) > np.abs(found.direct)
    spread = size > 1 and float(np.ptp(found.direct)) > 0.0 and float(np.ptp(found.synthetic)) > 0.0
    row = {
        "words": size, "left_out": found.left_out,
        "grown": float(grown.mean()) if size else math.nan,
        "correlation": float(np.corrcoef(found.direct, found.synthetic)[0, 1]) if spread else math.nan,
        "mean_change": float(np.abs(found.change).mean()) if size else math.nan,
        "first_order_error": float(np.abs(found.change - found.first_order).mean()) if size else math.nan,
    }  # fmt: skip
    return points, pd.DataFrame([row])


def _top(sides: Sequence[Ints]) -> pd.DataFrame:
    """Return the three scenarios of an attacker who watches N words (figure 13)."""
    x, y, synthetic_x, synthetic_y = sides
    rows = [
        {"scenario": one.scenario, "top": one.top, "epsilon": epsilon, "delta": float(delta), "mass": one.mass}
        for one in lbf_subjective.scenarios(x, y, synthetic_x, synthetic_y)
        for epsilon, delta in zip(one.epsilons, one.delta, strict=True)
    ]
    return pd.DataFrame(rows)


def _believed(sides: Sequence[Ints]) -> pd.DataFrame:
    """Return what an attacker concludes who knows U's text and, of the rest, only how words rank in what came out."""
    x, y, synthetic_x, _ = sides
    background = lbf_subjective.zipf(lbf_subjective.ranks_of(synthetic_x))
    found = lbf_subjective.believed(x, y, background)
    return pd.DataFrame(
        {
            "epsilon": found.epsilons, "delta": found.delta, "false_delta": found.false_delta,
            "objective": found.objective, "error": found.error,
        }
    )  # fmt: skip


def _summary(curves: pd.DataFrame) -> pd.DataFrame:
    """Return standard δ at ε = ln 1.2 by kind, as variants of one measure."""
    at = curves[np.isclose(curves["epsilon"], READ_AT)]
    rows = [
        {
            "variant": row["kind"], "measure": "standard δ at ε = ln 1.2", "value": row["delta_standard"],
            "low": row["standard_low"], "high": row["standard_high"], "runs": row["runs"],
        }
        for _, row in at.iterrows()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def pooled_excess(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return, for each |U| and length, the excess at ε = ln 1.2 over sets U: mean, least, largest, how many stand out.

    `leakage` counts sets whose p value is at most 0.05, `too_few` those with too few trainings for any to be.
    """
    columns = ["excluded", "n", "excess", "low", "high", "leakage", "too_few", "sets"]
    at = tables["excess"][np.isclose(tables["excess"]["epsilon"].astype(float), READ_AT)]
    rows = [
        (
            size, n, part["excess"].mean(), part["excess"].min(), part["excess"].max(),
            int((part["verdict"] == "leakage").sum()), int((part["verdict"] == "too few").sum()), len(part),
        )
        for (size, n), part in at.groupby(["excluded", "n"])
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
