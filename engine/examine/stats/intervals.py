"""Intervals: each function returns a value with the ends of its 95% interval.

Cited where used: Wilson 1927; Newcombe 1998a (Statistics in Medicine 17, 857-872, single proportions),
1998b (873-890, two independent ones), 1998c (2635-2650, paired ones); Efron and Tibshirani 1993 (An
Introduction to the Bootstrap); Korn and Graubard 1998 (effective sample size of clustered proportions);
Kott 2001 (Journal of Official Statistics 17, delete-a-group jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
DRAWS = 1000
GROUPS = 10
MOSTLY = 0.5
Groups = NDArray[np.object_] | NDArray[np.int64] | Sequence[object]
"""The group of each item, such as the person whose record it is."""


@dataclass(frozen=True)
class Interval:
    """A value with the ends of its 95% interval (None where none is defined), and how it was made.

    freedom: of Student's t, where the ends lie at its quantile; whoever widens them for many intervals needs it.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: str
    source: str
    freedom: float = math.inf


def group_numbers(groups: Groups) -> NDArray[np.int64]:
    """Return the number of each item's group, 0 to g - 1."""
    import pandas as pd

    known = groups if isinstance(groups, np.ndarray) and groups.dtype.kind == "i" else np.asarray(groups, dtype=object)
    return np.asarray(pd.factorize(known)[0], np.int64)


def t_quantile(chance: float, freedom: float) -> float:
    """Return the quantile of Student's t; the normal one where `freedom` is infinite."""
    if not math.isfinite(freedom):
        return NormalDist().inv_cdf(chance)
    from scipy.special import stdtrit

    return float(stdtrit(freedom, chance))


def freedom_of(terms: Sequence[float], counts: Sequence[int]) -> float:
    """Return the degrees of freedom of a sum of two estimated variances, each of so many units.

    A side of one unit has the largest variance there is, which is not estimated. Infinite where nothing is.
    Source: Satterthwaite 1946 (An approximate distribution of estimates of variance components).
    """
    doubt = sum(term**2 / (count - 1) for term, count in zip(terms, counts, strict=True) if count > 1)
    return sum(terms) ** 2 / doubt if doubt > 0.0 else math.inf


def wilson(successes: float, n: float, z: float = Z) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion; `n` may be an effective sample size, `z` the width in errors.

    Source: Wilson 1927; Newcombe 1998a, method 3.
    """
    if n <= 0:
        return 0.0, 1.0
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if p == 0 else max(0.0, centre - half)
    return low, 1.0 if p == 1 else min(1.0, centre + half)


def design_effect(hits: NDArray[np.bool_], groups: Groups) -> float:
    """Return by what factor grouping widens the variance of a share: at least 1, and 1 where no group has two items.

    The larger of two factors. One is the variance of the ratio mean over groups (linearised) over that of independent
    items, with Student's t for the number of groups. It is small exactly where large groups happened to have no hit.
    The other does not hang on which groups were hit: 1 + (size - 1) * rho, of the mean group size of an item, and of
    how alike items of one group may be, one standard error above what was seen. With all items or none hit rho is 1.
    Source: Korn and Graubard 1998, section 2; Kish 1965, section 5.4.
    """
    n = len(hits)
    codes = group_numbers(groups)
    clusters = int(codes.max()) + 1 if n else 0
    if clusters == n:
        return 1.0
    sizes = np.bincount(codes, minlength=clusters).astype(float)
    size = float(np.sum(sizes**2)) / n
    p = float(np.mean(hits))
    if clusters < 2 or p in (0.0, 1.0):
        return size
    of_group = np.asarray(np.bincount(codes, weights=hits, minlength=clusters), np.float64)
    variance = clusters / (clusters - 1) * float(np.sum((of_group - p * sizes) ** 2)) / n**2
    linearised = variance / (p * (1 - p) / n) * (t_quantile(0.5 + LEVEL / 2, clusters - 1) / Z) ** 2
    return max(1.0, linearised, 1.0 + (size - 1.0) * _alike(of_group, sizes, p))


def _alike(hits: NDArray[np.float64], sizes: NDArray[np.float64], p: float) -> float:
    """Return how alike items of one group may be: their intraclass correlation and one standard error more.

    The chance that another item of a hit item's group is hit too, over ordered pairs (of misses, where these are
    rarer), with Wilson's end at one standard error for as many groups as have a pair with a hit; 1 where none has.
    Source: Ridout, Demétrio and Firth 1999 (Estimating intraclass correlation for binary data, Biometrics 55, 137-148).
    """
    rare, q = (hits, p) if p <= 0.5 else (sizes - hits, 1.0 - p)
    pairs = float(np.sum(rare * (sizes - 1.0)))
    if not pairs:
        return 1.0
    both = float(np.sum(rare * (rare - 1.0))) / pairs
    known = float(np.sum((rare > 0) & (sizes > 1)))
    _, most = wilson(both * known, known, 1.0)
    return max(0.0, (most - q) / (1.0 - q))


def share(hits: NDArray[np.bool_], groups: Groups | None = None) -> Interval:
    """Return the share of true items with Wilson's interval, widened where items of one group go together."""
    n = len(hits)
    source = "Wilson 1927; Newcombe 1998a, method 3"
    if n == 0:
        return Interval(math.nan, None, None, 0, "Wilson", source)
    value = float(np.mean(hits))
    effect = 1.0 if groups is None else design_effect(hits, groups)
    effective = n / effect
    low, high = wilson(value * effective, effective)
    if effect > 1.0:
        method = f"Wilson at {effective:.0f} effective records"
        return Interval(value, low, high, n, method, f"{source}; Korn and Graubard 1998, section 2")
    return Interval(value, low, high, n, "Wilson", source)


def difference_independent(first: Interval, second: Interval) -> Interval:
    """Return first - second for two independent shares.

    Source: Newcombe 1998b, method 10 (square-and-add of Wilson's limits).
    """
    source = "Newcombe 1998b, method 10"
    n = min(first.n, second.n)
    if None in (first.low, first.high, second.low, second.high):
        return Interval(first.value - second.value, None, None, n, "Newcombe", source)
    l1, u1, l2, u2 = (float(x) for x in (first.low, first.high, second.low, second.high) if x is not None)
    difference = first.value - second.value
    low = difference - math.hypot(first.value - l1, u2 - second.value)
    high = difference + math.hypot(u1 - first.value, second.value - l2)
    return Interval(difference, max(-1.0, low), min(1.0, high), n, "Newcombe, independent shares", source)


def difference_paired(first: NDArray[np.bool_], second: NDArray[np.bool_], groups: Groups | None = None) -> Interval:
    """Return share(first) - share(second) where both were observed on the same items.

    Source: Newcombe 1998c, method 10 (Wilson's limits with the correlation phi, continuity-corrected).
    """
    n = len(first)
    source = "Newcombe 1998c, method 10"
    if n == 0:
        return Interval(math.nan, None, None, 0, "Newcombe", source)
    one, two = share(first, groups), share(second, groups)
    both = float(np.sum(first & second))
    only1, only2 = float(np.sum(first & ~second)), float(np.sum(~first & second))
    neither = n - both - only1 - only2
    product = (both + only1) * (only2 + neither) * (both + only2) * (only1 + neither)
    cross = both * neither - only1 * only2
    if product == 0:
        phi = 0.0
    else:
        phi = (max(cross - n / 2, 0.0) if cross > 0 else cross) / math.sqrt(product)
    l1, u1, l2, u2 = (float(x) for x in (one.low, one.high, two.low, two.high) if x is not None)
    a, b, c, d = one.value - l1, u2 - two.value, u1 - one.value, two.value - l2
    difference = one.value - two.value
    low = difference - math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))
    high = difference + math.sqrt(max(0.0, c * c - 2 * phi * c * d + d * d))
    return Interval(difference, max(-1.0, low), min(1.0, high), n, "Newcombe, paired shares", source)


def mean(values: NDArray[np.float64], seed: int, groups: Groups | None = None) -> Interval:
    """Return the mean with a percentile bootstrap interval; whole groups are drawn where given.

    Of values within [0, 1] of which half or more are 0, or 1, it is no narrower than Wilson's of that mean at as many
    units (of unequal groups, the effective number): draws again of values that are all 0 have no width, and of values
    of which few are not, too little. No values within [0, 1] with that mean spread more than zeros and ones.
    Source: Efron and Tibshirani 1993, chapter 13 (percentile), section 8.3 (what is drawn again).
    """
    source = "Efron and Tibshirani 1993, chapter 13"
    n = len(values)
    if n == 0:
        return Interval(math.nan, None, None, 0, "bootstrap", source)
    value = float(np.mean(values))
    codes = np.arange(n) if groups is None else group_numbers(groups)
    clusters = int(codes.max()) + 1
    method = f"percentile bootstrap, {DRAWS} draws of {'records' if clusters == n else 'units'}"
    if clusters < 2:
        return Interval(value, None, None, n, method, source)
    sums = np.bincount(codes, weights=values, minlength=clusters)
    sizes = np.bincount(codes, minlength=clusters)
    rng = np.random.default_rng(seed)
    means = np.empty(DRAWS)
    for draw in range(DRAWS):
        chosen = rng.integers(0, clusters, clusters)
        means[draw] = sums[chosen].sum() / sizes[chosen].sum()
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    found = Interval(value, float(low), float(high), n, method, source)
    bounded = float(values.min()) >= 0.0 and float(values.max()) <= 1.0
    if bounded and max(np.mean(values == 0.0), np.mean(values == 1.0)) >= MOSTLY:
        return no_narrower_than_wilson(found, n**2 / float(np.sum(sizes.astype(float) ** 2)))
    return found


def jackknife(
    statistic: Callable[[NDArray[np.int64]], float],
    groups: Groups,
    value: float,
    bounds: tuple[float, float],
    seed: int,
) -> Interval:
    """Return the interval of a smooth statistic by leaving out one tenth of the units at a time.

    Args:
        statistic: value computed from the items whose numbers are given.
        groups: the unit of each item; a unit is left out as a whole.
        value: the statistic of all items.
        bounds: smallest and largest possible value; the interval is cut there.

    It gives the spread, not the bias: a biased statistic stays so, and is read beside real against real.
    Source: Kott 2001, equation 1; Student's t with one degree of freedom less than groups.
    """
    from scipy.stats import t

    source = "Kott 2001, equation 1"
    codes = group_numbers(groups)
    n, units = len(codes), int(codes.max()) + 1 if len(codes) else 0
    parts = min(GROUPS, units)
    if parts < 2 or not math.isfinite(value):
        return Interval(value, None, None, n, "delete-a-group jackknife", source)
    part_of_unit = np.random.default_rng(seed).permutation(units) % parts
    part = part_of_unit[codes]
    left_out = np.array([statistic(np.flatnonzero(part != number)) for number in range(parts)])
    if not np.isfinite(left_out).all():
        return Interval(value, None, None, n, "delete-a-group jackknife", source)
    spread = math.sqrt((parts - 1) / parts * float(np.sum((left_out - left_out.mean()) ** 2)))
    half = float(t.ppf(0.5 + LEVEL / 2, parts - 1)) * spread
    method = f"delete-a-group jackknife, {parts} groups"
    return Interval(value, max(bounds[0], value - half), min(bounds[1], value + half), n, method, source)


def no_narrower_than_wilson(found: Interval, units: float) -> Interval:
    """Return an interval of a share, widened to Wilson's of as many units where it is narrower.

    Where all texts agree, no text left out changes the share, and a jackknife has no width; that proves no certainty.
    Source: Wilson 1927.
    """
    if found.low is None or found.high is None or not math.isfinite(found.value):
        return found
    low, high = wilson(found.value * units, units)
    ends = min(found.low, low), max(found.high, high)
    if ends == (found.low, found.high):
        return found
    method, source = f"{found.method}, no narrower than Wilson's of {units:.0f} units", f"{found.source}; Wilson 1927"
    return Interval(found.value, *ends, found.n, method, source)


def trained_anew(found: Interval, again: NDArray[np.float64], bounds: tuple[float, float]) -> Interval:
    """Return an interval of what a trained model scored, widened by what training on people drawn anew changes.

    Args:
        found: over what the model was asked. again: the score of each model trained anew; unchanged with fewer than 2.
        bounds: smallest and largest possible score.

    Source: Efron and Tibshirani 1993, chapter 6; Satterthwaite 1946 for the degrees of freedom.
    """
    from scipy.stats import t

    if found.low is None or found.high is None or len(again) < 2:
        return found
    asked, trained = ((found.high - found.low) / (2.0 * Z)) ** 2, float(np.var(again, ddof=1))
    total = asked + trained
    freedom = total**2 / (trained**2 / (len(again) - 1)) if trained > 0 else math.inf
    half = float(t.ppf(0.5 + LEVEL / 2, freedom)) * math.sqrt(total)
    low, high = max(bounds[0], found.value - half), min(bounds[1], found.value + half)
    method = f"{found.method}, and {len(again)} trainings anew"
    return Interval(found.value, low, high, found.n, method, f"{found.source}; Satterthwaite 1946")
