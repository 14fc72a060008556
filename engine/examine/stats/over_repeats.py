"""What runs that were repeated say about two settings: a difference with its interval, and what it could have shown.

A repeat is a run with a seed and noise of its own; its value is one number. Few repeats tell little, and how little is
part of the answer: the exact permutation test of n pairs has no p value below 2^(1-n), so three pairs never show
anything by it.

Sources: Student 1908; Welch 1947 (The generalization of "Student's" problem); Fisher 1935 (The design of experiments,
section 21) for the permutation of signs; Cohen 1988 (Statistical power analysis, chapter 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
LEAST = 3  # repeats below which no interval is given
MOST = 16  # pairs whose signs are all permuted
POWER = 0.8
_STEPS = 4_000  # of an integral
_RATIOS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 8.0, 10.0, 12.5, 16.0, 20.0, 30.0)  # of standard deviations
_CLOSE = 1e-9  # of the largest value: two sums of the same numbers in another order

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """The mean of repeats and the ends of its 95% t-interval.

    The ends are NaN where fewer than three repeats have a value, or where all have the same: what never varied in three
    runs may vary in the fourth.
    """

    value: float
    low: float
    high: float
    repeats: int


@dataclass(frozen=True)
class Difference:
    """One setting minus another over repeats.

    Args:
        value, low, high: difference of means and the ends of its 95% interval (Welch), NaN where neither side varies.
        p: two-sided p value of Welch's test; NaN where the repeats of both do not vary and yet differ.
        p_paired: exact two-sided p value of the permutation of signs over pairs of one seed.
        pairs: repeats that both have. first, second: repeats of each that have a value.
    """

    value: float
    low: float
    high: float
    p: float
    p_paired: float
    pairs: int
    first: int
    second: int

    @property
    def enough(self) -> bool:
        """Whether each side has the repeats that an interval needs."""
        return min(self.first, self.second) >= LEAST


def _known(values: Iterable[float]) -> Numbers:
    found = np.asarray(list(values), np.float64)
    return found[np.isfinite(found)]


def spread(values: Iterable[float], bounds: tuple[float, float] = (-math.inf, math.inf)) -> Spread:
    """Return the mean over repeats with Student's interval; values that are no numbers are left out.

    Args:
        values: one a repeat. bounds: smallest and largest possible value; the interval is cut there.
    """
    known = _known(values)
    n = len(known)
    if not n:
        return Spread(math.nan, math.nan, math.nan, 0)
    value = float(known.mean())
    error = float(known.std(ddof=1)) / math.sqrt(n) if n >= LEAST else 0.0
    if error <= _CLOSE * float(np.abs(known).max()):
        return Spread(value, math.nan, math.nan, n)
    half = _quantile(n - 1) * error
    return Spread(value, max(bounds[0], value - half), min(bounds[1], value + half), n)


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return first minus second: Welch's interval and test, and the permutation test of pairs.

    Args:
        first, second: a value a repeat, the same repeat at the same place; NaN where one has none.
    """
    one, two = _known(first), _known(second)
    pairs = np.asarray([_apart(a, b) for a, b in zip(first, second, strict=True)], np.float64)
    pairs = pairs[np.isfinite(pairs)]
    value = float(one.mean() - two.mean()) if len(one) and len(two) else math.nan
    low = high = p = math.nan
    if min(len(one), len(two)) >= LEAST:
        low, high, p = _welch(one, two, value)
    return Difference(value, low, high, p, paired_permutation(pairs), len(pairs), len(one), len(two))


def from_nothing(values: Iterable[float]) -> Difference:
    """Return the mean of changes, one a repeat, against no change: Student's test and the permutation of signs."""
    from scipy.stats import t

    known = _known(values)
    mean = spread(known)
    p = math.nan
    if mean.high == mean.high:
        n = len(known)
        p = float(2.0 * t.sf(abs(mean.value) / (float(known.std(ddof=1)) / math.sqrt(n)), n - 1))
    elif len(known) >= LEAST and not known.any():
        p = 1.0
    n = len(known)
    return Difference(mean.value, mean.low, mean.high, p, paired_permutation(known), n, n, n)


def _apart(one: float, two: float) -> float:
    """Return one minus two; nothing where they differ by rounding alone."""
    return 0.0 if abs(one - two) <= _CLOSE * max(abs(one), abs(two)) else one - two


def _welch(one: Numbers, two: Numbers, value: float) -> tuple[float, float, float]:
    from scipy.stats import t

    parts = np.array([one.var(ddof=1) / len(one), two.var(ddof=1) / len(two)])
    error = math.sqrt(float(parts.sum()))
    largest = float(max(np.abs(one).max(), np.abs(two).max()))
    if error <= _CLOSE * largest:
        return math.nan, math.nan, 1.0 if abs(value) <= _CLOSE * largest else math.nan
    freedom = float(parts.sum() ** 2 / (parts**2 / np.array([len(one) - 1, len(two) - 1])).sum())
    half = _quantile(freedom) * error
    return value - half, value + half, float(2.0 * t.sf(abs(value) / error, freedom))


def paired_permutation(differences: Sequence[float] | Numbers) -> float:
    """Return the share of all ways to set the signs of the differences that give as large a sum, in (0, 1].

    Exact, two-sided; NaN without a difference, or with more than 16 of them.
    """
    given = np.asarray(differences, np.float64)
    n = len(given)
    if not 0 < n <= MOST:
        return math.nan
    signs = 1.0 - 2.0 * ((np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1)  # the other half mirrors these
    sums = np.abs(signs @ given)
    return float(np.mean(sums >= abs(given.sum()) - _CLOSE * float(np.abs(given).sum())))


def smallest_p(pairs: int) -> float:
    """Return the least p value that the permutation of so many pairs can give: 2^(1-n)."""
    return float(2.0 ** (1 - pairs)) if pairs else math.nan


def pairs_needed(tests: int = 1) -> int:
    """Return with how many pairs the permutation can fall below 0.05, the first of so many tests by Holm's rule."""
    return math.ceil(1.0 - math.log2((1.0 - LEVEL) / max(1, tests)))


def detectable(repeats: int, tests: int = 1) -> float:
    """Return the difference, in standard deviations of a repeat, that Welch's test sees four times in five.

    Both sides vary alike; `tests` are corrected by Holm's rule at its first, hardest step.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    if repeats < 2:
        return math.inf
    freedom = 2 * repeats - 2
    edge = float(t.ppf(1.0 - (1.0 - LEVEL) / (2.0 * max(1, tests)), freedom))
    root = math.sqrt(repeats / 2.0)
    return float(brentq(lambda d: float(nct.sf(edge, freedom, d * root)) - POWER, 0.0, 1e3))


@lru_cache(maxsize=64)
def unlike(repeats: int, tests: int = 1) -> float:
    """Return how many times as often as it should Welch's test calls chance a difference, where settings vary unlike.

    Its degrees of freedom are estimates. Where one side varies much more than the other and few repeats hide that, they
    come out too large, the more so the further out in the tail a corrected test looks; this is the worst over how many
    times as much one side may vary, at the first step of so many corrected tests.

    Given the share B of the spread that is one side's, which is Beta distributed, Welch's quotient is a t variable with
    2n − 2 degrees of freedom times a known factor, so that its exact size is one integral (Wang 1971, Probabilities of
    the type I errors of the Welch tests for the Behrens-Fisher problem).
    """
    from scipy.stats import beta, t

    if repeats < LEAST:
        return math.nan
    level = (1.0 - LEVEL) / max(1, tests)
    steps = (np.arange(_STEPS) + 0.5) / _STEPS
    share = beta.ppf(steps, (repeats - 1) / 2.0, (repeats - 1) / 2.0)
    worst = 0.0
    for ratio in _RATIOS:
        own, other = 1.0 / (1.0 + ratio**2), ratio**2 / (1.0 + ratio**2)
        one, two = own * share, other * (1.0 - share)
        edge = t.isf(level / 2.0, (repeats - 1) * (one + two) ** 2 / (one**2 + two**2))
        beyond = 2.0 * t.sf(edge * np.sqrt(2.0 * (one + two)), 2 * repeats - 2)
        worst = max(worst, float(beyond.mean()) / level)
    return worst


def _quantile(freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.5 + LEVEL / 2.0, freedom))
