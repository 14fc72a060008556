"""How much more is found of people whose records were used than chance explains, when others were set aside by lot.

What is found of a person is a count: in how many texts something stands that this person alone has. By chance as much
is found of a person of either part, since a lot decided who is in which. So chance finds in the part that was used what
it finds of those set aside, times how many more people it has: nothing has to be cut to equal sizes, and what one text
gives away of one person counts in full however few were set aside.

A cut of the larger part to the size of the smaller sees a leak in that share of the texts only whose person fell into
the cut (`split_excess`); it is for values that several people have, of which the larger part has more by chance.

Source: limits of a Poisson count by Garwood 1936 (Biometrika 28), with counts that go together as in compound Poisson
counts (variance = sum of squares; an effective count as Korn and Graubard 1998 take an effective sample); the ends of a
difference from those of its two terms by Zou and Donner 2008 (Statistics in Medicine 27, 1693-1702, section 2); whether
the lower end may lie above zero by random lots (Fisher 1935).
Privacy posture: works on counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.examine.stats.intervals import LEVEL, Interval

LOTS = 1999
TAIL = (1 - LEVEL) / 2
Counts = NDArray[np.int64]


def excess_by_lot(used: Counts, aside: Counts, texts: int, seed: int) -> Interval:
    """Return the share of texts that give somebody used away, beyond chance, with its 95% interval.

    A text that gives two people away counts twice, so with several the value lies above the share.

    Args:
        used: int array (T,), for each person whose records were used in how many texts something of them alone stands.
        aside: int array (H,), the same for each person set aside by lot.
        texts: number of texts. seed: of the lots drawn.
    """
    method = f"limits of two counts, {LOTS:,} lots"
    source = "Garwood 1936; Zou and Donner 2008, section 2; Fisher 1935"
    if not texts or not len(used) or not len(aside):
        return Interval(math.nan, None, None, 0, method, source)
    more = len(used) / len(aside)
    first, second = float(used.sum()), float(aside.sum())
    together = _together(np.concatenate([used, aside]))
    low1, high1 = _limits(first, _together(used) if first else together)
    low2, high2 = _limits(second, _together(aside) if second else together)
    value = first - more * second
    low = value - math.hypot(first - low1, more * (high2 - second))
    high = value + math.hypot(high1 - first, more * (second - low2))
    if low > 0 and not _beyond_lots(used, aside, seed):
        low = 0.0
    low, value, high = (min(1.0, max(-1.0, end / texts)) for end in (low, value, high))
    return Interval(value, low, high, texts, method, source)


def by_chance(aside: Counts, people: int, texts: int) -> Interval:
    """Return the share of texts in which chance finds somebody among `people`, going by those set aside."""
    source = "Garwood 1936"
    if not texts or not len(aside):
        return Interval(math.nan, None, None, 0, "limits of a count", source)
    more = people / len(aside)
    ends = _limits(float(aside.sum()), _together(aside))
    value, low, high = (min(1.0, more * end / texts) for end in (float(aside.sum()), *ends))
    return Interval(value, low, high, texts, "limits of a count", source)


def _together(counts: Counts) -> float:
    """Return how many finds go together, at least 1: the variance of a sum of counts in units of its size."""
    total = float(counts.sum())
    return max(1.0, float(np.square(counts, dtype=np.float64).sum()) / total) if total else 1.0


def _limits(count: float, together: float) -> tuple[float, float]:
    from scipy.stats import chi2

    own = count / together
    low = 0.0 if count == 0 else together * float(chi2.ppf(TAIL, 2 * own)) / 2
    return low, together * float(chi2.ppf(1 - TAIL, 2 * (own + 1))) / 2


def _beyond_lots(used: Counts, aside: Counts, seed: int) -> bool:
    """Return whether fewer than 2.5% of random lots of the same people give as large an excess."""
    found = np.concatenate([used[used > 0], aside[aside > 0]]).astype(np.float64)
    people, more = len(used) + len(aside), len(used) / len(aside)
    seen = float(used.sum()) - more * float(aside.sum())
    rng, as_much, left = np.random.default_rng(seed), 1, LOTS
    for _ in range(left):
        drawn = int(rng.hypergeometric(len(aside), people - len(aside), len(found)))
        out = float(found[rng.permutation(len(found))[:drawn]].sum())
        as_much += (float(found.sum()) - out) - more * out >= seen - 1e-9
    return as_much / (LOTS + 1) <= TAIL
