"""The excess of the training part over the holdout, with an interval that knows the split was drawn at random.

Which people went into the holdout is chance. If the synthetic text owes nothing to either part, training and holdout
units are exchangeable: any other split of the same units into groups of these sizes was as likely. The excess is
computed again for splits drawn at random, and what they scatter by is the interval around the excess seen. An interval
over synthetic records alone would take the entities of both parts as given, and with many records it would call the
accident that one part holds a common name a leak.

The lower end answers whether there is a leak, which other splits answer exactly. How large a leak may be they cannot
say where hardly anything was found: of six texts without a find, up to 39% of such texts may hold one. So the upper end
lies no nearer than that of two paired shares of as many texts, or of two shares of as many values, whose ends follow
from the counts alone; nor does the lower end where no split changes anything.

Source: permutation distribution of a two-sample difference (Fisher 1935; Good 2005, "Permutation, Parametric, and
Bootstrap Tests of Hypotheses", section 3.2), turned into an interval for a shift (Lehmann and Romano 2005, section
5.12); Newcombe 1998c, method 10, for shares of the same texts; 1998b, method 10, for shares of different values.
Privacy posture: works on numbers of values, texts and units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.examine.stats.intervals import Groups, Interval, difference_independent, difference_paired, share

DRAWS = 999
_SOURCE = "Good 2005, section 3.2; Lehmann and Romano 2005, section 5.12"
_FIRST, _SECOND = 1, 2  # bits: some unit of the part holds a value
Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]


@dataclass(frozen=True)
class Split:
    """What was found of the values of two equally large parts.

    Args:
        texts: number of synthetic texts. values: number of distinct values of both parts.
        in_text, of_text: int arrays (k,): value number and text number of each find.
        held, unit: int arrays (p,): value number and unit number of each value in each unit.
        first: bool array (u,), whether a unit belongs to the training part.
    """

    texts: int
    values: int
    in_text: NDArray[np.int64]
    of_text: NDArray[np.int64]
    held: NDArray[np.int64]
    unit: NDArray[np.int64]
    first: NDArray[np.bool_]

    def finds(self, first: NDArray[np.bool_], kept: NDArray[np.bool_]) -> tuple[Sides, Sides]:
        """Return what was found of the values `kept` of both parts, for a split of the units into `first` and the rest.

        The first pair is whether each text holds a value of the part, bool (texts,); the second whether each value of
        the part was found, bool (values of that part,).
        """
        held, begins, units = self._by_value
        sides = np.zeros(self.values, np.uint8)
        if len(held):
            sides[held] = np.bitwise_or.reduceat(np.where(first, _FIRST, _SECOND).astype(np.uint8)[units], begins)
        hits, values = [], []
        for side in (_FIRST, _SECOND):
            mine = (sides & side > 0) & kept
            hit = np.zeros(self.texts, bool)
            hit[self.of_text[mine[self.in_text]]] = True
            hits.append(hit)
            values.append(self._found[mine])
        return (hits[0], hits[1]), (values[0], values[1])

    @cached_property
    def _found(self) -> NDArray[np.bool_]:
        """Which values were found at all, (values,)."""
        return np.bincount(self.in_text, minlength=self.values) > 0

    @cached_property
    def _by_value(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """The values that some unit holds, where the units of each begin, and the units of all, value by value."""
        order = np.argsort(self.held, kind="stable")
        own = self.held[order]
        begins = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])) if len(own) else np.zeros(0, np.int64)
        return own[begins], begins, self.unit[order].astype(np.int32)


def _excess(sides: Sides) -> float:
    return _mean(sides[0]) - _mean(sides[1])


def _mean(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else math.nan


def split_excess(
    split: Split, kept: NDArray[np.bool_], seed: int, draws: int = DRAWS, groups: Groups | None = None
) -> tuple[Interval, Interval]:
    """Return the excess of PIPP and of ELP, first part minus second, each with its 95% interval.

    Args:
        split: what was found.
        kept: bool array (values,), the values that count.
        seed: of the splits drawn.
        draws: how many of them.
        groups: the unit of each text, or None.
    """
    method = f"{draws} random splits of the same units"
    texts, values = split.finds(split.first, kept)
    seen = (_excess(texts), _excess(values))
    rng = np.random.default_rng(seed)
    again = np.full((draws, 2), math.nan)
    if len(split.first) > 1 and all(math.isfinite(value) for value in seen):
        for draw in range(draws):
            again[draw] = [_excess(sides) for sides in split.finds(rng.permutation(split.first), kept)]
    least = difference_paired(*texts, groups), difference_independent(share(values[0]), share(values[1]))
    made = []
    for value, column, n, counted in zip(seen, again.T, (split.texts, int(kept.sum())), least, strict=True):
        known = column[np.isfinite(column)]
        if not math.isfinite(value) or not len(known):
            made.append(Interval(value, None, None, n, method, _SOURCE))
            continue
        # the split seen is one of those that were possible
        low, high = np.quantile(np.append(known, value), [0.025, 0.975], method="higher")
        lower = np.quantile(np.append(known, value), 0.025, method="lower")
        drawn = Interval(value, max(-1.0, value - float(high)), min(1.0, value - float(min(low, lower))), n, method,
                         _SOURCE)  # fmt: skip
        made.append(_no_narrower(drawn, counted))
    return made[0], made[1]


def _no_narrower(drawn: Interval, counted: Interval) -> Interval:
    """Return the interval from splits, widened where the counts allow more: above, and below where it has no width."""
    if drawn.low is None or drawn.high is None or counted.low is None or counted.high is None:
        return drawn
    low = min(drawn.low, counted.low) if drawn.low == drawn.value else drawn.low
    high = max(drawn.high, counted.high)
    if (low, high) == (drawn.low, drawn.high):
        return drawn
    return Interval(drawn.value, low, high, drawn.n, f"{drawn.method}, no narrower than {counted.method}",
                    f"{drawn.source}; {counted.source}")  # fmt: skip
