"""Bands that hold a whole distribution function at once, from a sample of independent scores, at any sample size.

The r-th smallest of n uniform numbers is Beta(r, n + 1 − r). The band gives every rank the same local level γ, and γ
is the largest at which all ranks together keep the level asked for (equal local levels: Aldor-Noiman et al. 2013, The
American Statistician 67, 249-260). It is exact and narrow in the tails, where ε–δ curves at large ε are decided.
The chance that all order statistics keep their limits is computed, not simulated: counts below t are a Poisson process
given its total, stepped from limit to limit (Moscovich and Nadler 2017, Statistics and Probability Letters 123).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InternalError

Floats = NDArray[np.float64]
RANKS, DENSE = 200, 4.0  # limits are set at so many ranks, or DENSE·√n if more, and hold between them by monotony
_MOST = 2000  # ranks with limits, however many scores
_ENDS = 10  # of these at each end, each rank
_FINE = 0.01  # relative precision of γ; the smaller end is taken, so the level is kept
_DIRECT = 100_000  # products of sizes up to which a convolution is summed directly


@dataclass(frozen=True)
class Band:
    """Limits of a distribution function F by how many of n scores are at most t.

    Args:
        low, high: of F(t), shape (n + 1,): entry k where k scores are at most t. n: scores. local: γ.
    """

    low: Floats
    high: Floats
    n: int
    local: float

    def at(self, count: ArrayLike) -> tuple[Floats, Floats]:
        """Return both limits of F where so many scores are at most t."""
        places = np.asarray(count, dtype=np.int64)
        return self.low[places], self.high[places]


@lru_cache(maxsize=256)
def band(n: int, miss: float) -> Band:
    """Return the band that misses F anywhere with a chance of at most `miss`, for any F, ties included.

    Raises:
        InternalError: n below 1, or a chance outside (0, 1).
    """
    if n < 1 or not 0.0 < miss < 1.0:
        raise InternalError("band: needs at least one score and a chance of missing within 0 and 1")
    ranks = _ranks(n)
    low, high = math.log(miss / (2 * ranks.size)), math.log(miss)
    while high - low > _FINE:
        middle = (low + high) / 2
        if stays_within(n, ranks, *_limits(n, ranks, math.exp(middle))) >= 1.0 - miss:
            low = middle
        else:
            high = middle
    local = math.exp(low)
    below, above = _limits(n, ranks, local)
    counts = np.arange(n + 1)
    # k scores are at most t: the k-th lies below t, so F(t) is at least its limit; the next lies above
    reached = np.searchsorted(ranks, counts, side="right")
    return Band(np.append(0.0, below)[reached], np.append(above, 1.0)[reached], n, local)


def _ranks(n: int) -> NDArray[np.int64]:
    """Return the ranks that have limits: all of few, else evenly on the scale where a share's spread is constant."""
    if n <= RANKS:
        return np.arange(1, n + 1)
    number = min(_MOST, max(RANKS, round(DENSE * math.sqrt(n))))
    inner = np.ceil(n * np.sin(np.linspace(0.0, math.pi / 2, number)) ** 2).astype(np.int64)
    ends = np.arange(1, _ENDS + 1)
    return np.unique(np.concatenate([np.clip(inner, 1, n), ends, n + 1 - ends]))


def _limits(n: int, ranks: NDArray[np.int64], local: float) -> tuple[Floats, Floats]:
    from scipy.special import betaincinv

    below, above = (betaincinv(ranks, n + 1.0 - ranks, p) for p in (local / 2, 1.0 - local / 2))
    return np.asarray(below, float), np.asarray(above, float)


def stays_within(n: int, ranks: Sequence[int] | NDArray[np.int64], low: Floats, high: Floats) -> float:
    """Return the chance that each named order statistic of n uniform numbers lies within its limits.

    Args:
        ranks: rising, within 1 to n. low, high: rising limits within [0, 1], one a rank.
    """
    from scipy.signal import fftconvolve
    from scipy.special import gammaln

    ranks = np.asarray(ranks, np.int64)
    times = np.unique(np.concatenate([low, high, [1.0]]))
    # at time t: all ranks whose high limit has passed are there, none whose low limit is still to come
    needed = np.append(0, ranks)[np.searchsorted(high, times, side="right")]
    allowed = np.append(ranks - 1, n)[np.searchsorted(low, times, side="left")]
    logs = gammaln(np.arange(n + 2) + 1.0)
    mass, first, before = np.ones(1), 0, 0.0
    for time, least, most in zip(times.tolist(), needed.tolist(), allowed.tolist(), strict=True):
        if most < least:
            return 0.0
        rate, before = n * (time - before), time
        if rate <= 0.0:
            continue
        # counts run from `first`; jumps that could end within [least, most]
        smallest, largest = max(0, least - (first + mass.size - 1)), most - first
        if largest < smallest:
            return 0.0
        jumps = np.arange(smallest, largest + 1)
        kernel = np.exp(jumps * math.log(rate) - rate - logs[jumps])
        big = mass.size * kernel.size > _DIRECT
        grown = np.maximum(fftconvolve(mass, kernel), 0.0) if big else np.convolve(mass, kernel)
        start = first + smallest
        mass, first = grown[max(0, least - start) : most - start + 1], max(start, least)
        if not mass.size:
            return 0.0
    total = n * math.log(n) - n - float(logs[n])
    end = n - first
    return min(1.0, float(mass[end]) / math.exp(total)) if 0 <= end < mass.size else 0.0
