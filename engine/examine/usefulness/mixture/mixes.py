"""How far the mixture of kinds in one set of texts is from that in another: total variation with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval


@dataclass(frozen=True)
class Mix:
    """How often each kind stands in each text, float64 (n, kinds), and whose text each is, object (n,)."""

    counts: NDArray[np.float64]
    units: NDArray[np.object_]

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each kind, float64 (kinds,); NaN where there is nothing."""
        total = self.counts.sum(axis=0)
        return total / total.sum() if total.sum() else np.full(len(total), np.nan)

    def take(self, index: NDArray[np.int64]) -> Mix:
        """Return the texts named by `index`."""
        return Mix(self.counts[index], self.units[index])


def mix_of(kinds: NDArray[np.int64], number: int, units: NDArray[np.object_]) -> Mix:
    """Return the mixture of texts that are of one kind each."""
    return Mix(np.eye(number)[kinds], units)


def apart(ours: Mix, theirs: Mix, seed: int) -> Interval:
    """Return the total variation of the two shares of kinds, in [0, 1]: what would have to be of another kind.

    Source: Levin and Peres 2017, proposition 4.2; interval: delete-a-group jackknife over units of both sides,
        no narrower than Wilson's of as many units.
    """
    both = np.concatenate([ours.counts, theirs.counts])
    size = len(ours.counts)

    def distance(rows: NDArray[np.int64]) -> float:
        one, two = both[rows[rows < size]].sum(axis=0), both[rows[rows >= size]].sum(axis=0)
        if not one.sum() or not two.sum():
            return float("nan")
        return 0.5 * float(np.abs(one / one.sum() - two / two.sum()).sum())

    units = np.concatenate([ours.units, theirs.units])
    found = intervals.jackknife(distance, units, distance(np.arange(len(both))), (0.0, 1.0), seed)
    found = intervals.no_narrower_than_wilson(found, len(set(ours.units)))
    return Interval(found.value, found.low, found.high, size, found.method, found.source)
