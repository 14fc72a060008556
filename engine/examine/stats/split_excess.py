"""The excess of the training part over the holdout, with an interval that knows the split was drawn at random.

Which people went into the holdout is chance. If the synthetic text owes nothing to either part, training and holdout
units are exchangeable: any other split of the same units into groups of these sizes was as likely. The excess is
computed again for splits drawn at random, and what they scatter by is the interval around the excess seen. An interval
over synthetic records alone would take the entities of both parts as given, and with many records it would call the
accident that one part holds a common name a leak.

Source: permutation distribution of a two-sample difference (Fisher 1935; Good 2005, "Permutation, Parametric, and
Bootstrap Tests of Hypotheses", section 3.2), turned into an interval for a shift (Lehmann and Romano 2005, section
5.12).
Privacy posture: works on numbers of values, texts and units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.examine.stats.intervals import Interval

DRAWS = 999
_SOURCE = "Good 2005, section 3.2; Lehmann and Romano 2005, section 5.12"


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

    def shares(self, first: NDArray[np.bool_], kept: NDArray[np.bool_]) -> tuple[float, float, float, float]:
        """Return PIPP of both parts, then ELP of both, for the values `kept` and a split into `first` and the rest."""
        made: list[tuple[float, float]] = []
        found = np.bincount(self.in_text, minlength=self.values) > 0
        for side in (first, ~first):
            mine = np.bincount(self.held, weights=side[self.unit], minlength=self.values) > 0
            mine &= kept
            hit = np.zeros(self.texts, bool)
            hit[self.of_text[mine[self.in_text]]] = True
            made.append((float(hit.mean()) if self.texts else math.nan, _mean(found[mine])))
        return made[0][0], made[1][0], made[0][1], made[1][1]


def _mean(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else math.nan


def split_excess(split: Split, kept: NDArray[np.bool_], seed: int, draws: int = DRAWS) -> tuple[Interval, Interval]:
    """Return the excess of PIPP and of ELP, first part minus second, each with its 95% interval.

    Args:
        split: what was found.
        kept: bool array (values,), the values that count.
        seed: of the splits drawn.
        draws: how many of them.
    """
    method = f"{draws} random splits of the same units"
    one, two, three, four = split.shares(split.first, kept)
    seen = (one - two, three - four)
    rng = np.random.default_rng(seed)
    again = np.full((draws, 2), math.nan)
    if len(split.first) > 1 and all(math.isfinite(value) for value in seen):
        for draw in range(draws):
            a, b, c, d = split.shares(rng.permutation(split.first), kept)
            again[draw] = a - b, c - d
    made = []
    for value, column, n in zip(seen, again.T, (split.texts, int(kept.sum())), strict=True):
        known = column[np.isfinite(column)]
        if not math.isfinite(value) or not len(known):
            made.append(Interval(value, None, None, n, method, _SOURCE))
            continue
        # the split seen is one of those that were possible
        low, high = np.quantile(np.append(known, value), [0.025, 0.975], method="higher")
        lower = np.quantile(np.append(known, value), 0.025, method="lower")
        made.append(Interval(value, max(-1.0, value - float(high)), min(1.0, value - float(min(low, lower))), n, method,
                             _SOURCE))  # fmt: skip
    return made[0], made[1]
