"""How far the mixture of kinds in one set of texts is from that in another: total variation with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.examine.findings.sizes import FEWER, row, smaller
from engine.examine.samples import sample_units
from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval
from engine.json_types import JSON


@dataclass(frozen=True)
class Mix:
    """How often each kind stands in each text, float64 (n, kinds), and whose text each is, object (n,).

    order: for what its units were put in seeded order: fewer texts are those of the first ones.
    """

    counts: NDArray[np.float64]
    units: NDArray[np.object_]
    order: str = "fewer"

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each kind, float64 (kinds,); NaN where there is nothing."""
        total = self.counts.sum(axis=0)
        return total / total.sum() if total.sum() else np.full(len(total), np.nan)

    def take(self, index: NDArray[np.int64]) -> Mix:
        """Return the texts named by `index`."""
        return Mix(self.counts[index], self.units[index], self.order)

    def drawn(self, size: int, seed: int) -> Mix:
        """Return so many of the texts, by whole units in seeded order."""
        return self.take(sample_units(self.units, size, seed, self.order)) if size < len(self.counts) else self


def mix_of(kinds: NDArray[np.int64], number: int, units: NDArray[np.object_], order: str = "fewer") -> Mix:
    """Return the mixture of texts that are of one kind each."""
    return Mix(np.eye(number)[kinds], units, order)


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


def at_fewer(ours: Mix, theirs: Mix, seed: int, least: int) -> dict[str, JSON]:
    """Return the setting that holds `apart` at each fixed smaller number of texts.

    Args:
        least: fewest counted things a side with which it is taken.
    """
    values: dict[str, JSON] = {}
    for size in smaller(len(ours.counts), 1):
        one, two = ours.drawn(size, seed), theirs.drawn(size, seed)
        if min(one.counts.sum(), two.counts.sum()) >= least:
            found = apart(one, two, seed)
            values[str(size)] = row(found.value, found.low, found.high)
    return {FEWER: values} if values else {}
