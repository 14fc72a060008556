"""Synthetic text of X and of X ∖ U against each other: word-level curves, the null curve, and what of U comes back.

The thesis compares one text generated from X with one from Y and finds synthesis worse than drawing words directly;
it names the reason itself: chance differences of two texts count as leakage (Stomakhin 2025, sections 5.4 and 7).
Here several generations (of several trainings) stand on each side. Two remedies go together, since averaging alone
leaves the noise of the averages: counts are pooled within a side, and the same is done with generations of X alone,
cut into two groups. That null curve is what noise of this size gives; only the excess over it can be leakage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.examine.curves import lbf
from engine.examine.curves.lbf import Curve, Floats
from engine.examine.curves.ngram_counts import Ints, NgramCounts, aligned, same_keys
from engine.examine.curves.ngram_sampling import DirectSampling
from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval

SPLITS = 20


@dataclass(frozen=True)
class Band:
    """A mean curve with the least and largest δ of what it was averaged over, at each ε."""

    curve: Curve
    low: Floats
    high: Floats
    standard_low: Floats
    standard_high: Floats
    number: int


@dataclass(frozen=True)
class SyntheticCurves:
    """Synthetic text of X against that of Y, word by word.

    Args:
        pooled: all generations of a side together, equal numbers on both.
        single: mean over pairs of one generation a side, with their range: the thesis' setting.
        null: generations of X against others of X, equal numbers, over random splits of trainings; None
            with one training.
        pooled_matched: X against Y pooled over as many trainings as `null` has a side, over random choices: the
            curve that may be compared with it.
        excess: mean standard δ of `pooled_matched` minus that of `null` at each ε; None without `null`.
    """

    pooled: Curve
    single: Band
    null: Band | None
    pooled_matched: Band | None
    excess: Floats | None


def tabulate(generations: Sequence[NgramCounts]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the keys that any generation has, rising (g,), and the counts of each generation (r, g)."""
    for other in generations[1:]:
        same_keys(generations[0], other)
    keys = np.unique(np.concatenate([one.keys for one in generations]))
    return keys, np.array([aligned(keys, one) for one in generations])


def compare(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    epsilons: Sequence[float],
    seed: int = 0,
    splits: int = SPLITS,
    trainings_x: Sequence[object] | None = None,
    trainings_y: Sequence[object] | None = None,
) -> SyntheticCurves:
    """Return the curves between generations of X and of Y.

    Args:
        x: counts of each generation trained on X, shape (r, g). y: of each trained on X ∖ U, shape (s, g).
        epsilons: where to read the curves, each > 0.
        trainings_x, trainings_y: which training each generation comes from, default one each. Splits keep a
            training's generations together: two of one model differ less than two models do, and a null curve
            from a single model would leave the noise of training out.

    Raises:
        UserError: a side has no generation, or one of no words.
    """
    if not (len(x) and len(y)) or min(x.sum(axis=1).min(), y.sum(axis=1).min()) <= 0:
        raise UserError("generations: each side needs at least one, with at least one n-gram of this length")
    rng = np.random.default_rng(seed)
    both = min(len(x), len(y))
    models_x, models_y = _parts(trainings_x, len(x)), _parts(trainings_y, len(y))

    def one(first: NDArray[np.int64], second: NDArray[np.int64]) -> Curve:
        # averaged frequencies: a long generation must not count more than a short one
        p, q = (np.mean(side / side.sum(axis=1, keepdims=True), axis=0) for side in (first, second))
        return lbf.curve(lbf.loss_of_counts(p, q), epsilons, "one word of synthetic text")

    pairs = [(i, j) for i in range(len(x)) for j in range(len(y))]
    if len(pairs) > splits:
        pairs = [pairs[k] for k in rng.choice(len(pairs), splits, replace=False)]
    single = _band([one(x[i : i + 1], y[j : j + 1]) for i, j in pairs])
    pooled = one(x[:both], y[:both])
    half = min(len(models_x) // 2, len(models_y))
    if half < 1:
        return SyntheticCurves(pooled, single, None, None, None)
    nulls, matched = [], []
    for _ in range(splits):
        mine, theirs = rng.permutation(len(models_x)), rng.permutation(len(models_y))
        first, second = (np.concatenate([models_x[i] for i in part]) for part in (mine[:half], mine[half : 2 * half]))
        other = np.concatenate([models_y[i] for i in theirs[:half]])
        nulls.append(one(x[first], x[second]))
        matched.append(one(x[first], y[other]))
    null, against = _band(nulls), _band(matched)
    excess = against.curve.delta_standard - null.curve.delta_standard
    return SyntheticCurves(pooled, single, null, against, excess)


def _parts(trainings: Sequence[object] | None, number: int) -> list[NDArray[np.int64]]:
    """Return the generations of each training."""
    names = [repr(name) for name in trainings] if trainings is not None else [str(i) for i in range(number)]
    if len(names) != number:
        raise UserError(f"trainings: one name a generation is needed, got {len(names)} for {number}")
    return [np.flatnonzero(np.asarray(names) == name) for name in dict.fromkeys(names)]


def _band(curves: Sequence[Curve]) -> Band:
    strict, standard = (np.array([getattr(c, name) for c in curves]) for name in ("delta", "delta_standard"))
    mean = Curve(curves[0].epsilon, strict.mean(0), standard.mean(0), curves[0].observed)
    return Band(mean, strict.min(0), strict.max(0), standard.min(0), standard.max(0), len(curves))


@dataclass(frozen=True)
class Shift:
    """How generation changes the LBF of each word (section 5.2).

    Args:
        probability: Pr[M(X) = w] when drawing directly, > 0. direct, synthetic: LBF of each word, finite.
        first_order: shift_x − shift_y, the Taylor term of the change.
        shift_x, shift_y: relative change of the word's frequency by the generator, f′/f − 1, on each side.
        left_out: words that one of the four texts lacks, whose LBF or shift has no finite value.
    """

    probability: Floats
    direct: Floats
    synthetic: Floats
    first_order: Floats
    shift_x: Floats
    shift_y: Floats
    left_out: int

    @property
    def change(self) -> Floats:
        """ΔLBF, synthetic minus direct: exactly ln(1 + shift_x) − ln(1 + shift_y)."""
        return self.synthetic - self.direct


def shift(x: Ints, y: Ints, synthetic_x: Ints, synthetic_y: Ints) -> Shift:
    """Return the ΔLBF decomposition over words that all four texts have.

    Args:
        x, y: counts in X and in X ∖ U, shape (g,). synthetic_x, synthetic_y: in what was generated from them.
    """
    sides = [np.asarray(side, dtype=float) for side in (x, y, synthetic_x, synthetic_y)]
    everywhere = np.all([side > 0 for side in sides], axis=0)
    anywhere = np.any([side > 0 for side in sides], axis=0)
    fx, fy, gx, gy = (side[everywhere] / max(1.0, side.sum()) for side in sides)
    shift_x, shift_y = gx / fx - 1.0, gy / fy - 1.0
    return Shift(
        fx, np.log(fx / fy), np.log(gx / gy), shift_x - shift_y, shift_x, shift_y,
        int(anywhere.sum() - everywhere.sum()),
    )  # fmt: skip


@dataclass(frozen=True)
class Reproduced:
    """Share of the n-grams that only U has which come back in synthetic text (section 5.4.2).

    Args:
        from_x: share found in text generated from X, which has U. from_y: in text generated from X ∖ U, where each
            is chance. difference: from_x − from_y; above 0 beyond its interval it is memory, not chance.
        unique: n-grams of U that no other source has.
    """

    from_x: Interval
    from_y: Interval
    difference: Interval
    unique: int


def reproduced(
    counts: NgramCounts, excluded: NDArray[np.int64], synthetic_x: NgramCounts, synthetic_y: NgramCounts
) -> Reproduced:
    """Return which of U's own n-grams each synthetic text has; intervals take a source's n-grams together.

    Args:
        counts: n-grams a source of X, n = 3 in the thesis. excluded: U, numbers of sources.
    """
    same_keys(counts, synthetic_x)
    same_keys(counts, synthetic_y)
    grams, times = DirectSampling(counts).removed(excluded)
    unique = grams[counts.totals[grams] == times]
    owner = np.empty(counts.keys.size, np.int64)
    for source in np.unique(excluded):
        owner[counts.of(int(source))[0]] = source
    keys = counts.keys[unique]
    hits = [aligned(keys, other) > 0 for other in (synthetic_x, synthetic_y)]
    groups = owner[unique].astype(object)
    shares = [intervals.share(one, groups) for one in hits]
    return Reproduced(shares[0], shares[1], intervals.difference_paired(hits[0], hits[1], groups), int(unique.size))
