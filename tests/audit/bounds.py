"""Lower bounds on ε from repeated runs in two neighbouring worlds.

The event (a threshold on a statistic declared beforehand) is chosen on the first half of the runs and judged
on the second, so the bound holds at its stated confidence (Jagielski, Ullman and Oprea 2020, section 4;
exact binomial limits of Clopper and Pearson 1934).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

CONFIDENCE = 1.0 - 1e-6


def clopper_pearson(successes: int, trials: int, miss: float) -> tuple[float, float]:
    """Return the two one-sided limits of a proportion, each missed with probability `miss`."""
    low = 0.0 if successes == 0 else float(beta.ppf(miss, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1.0 - miss, successes + 1, trials - successes))
    return low, high


def epsilon_of_event(hits_with: int, hits_without: int, runs: int, delta: float, confidence: float) -> float:
    """Return the ε that Pr_with[E] <= e^ε Pr_without[E] + δ forces at least, from counts of E in `runs` each."""
    miss = (1.0 - confidence) / 2.0
    low, _ = clopper_pearson(hits_with, runs, miss)
    _, high = clopper_pearson(hits_without, runs, miss)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def epsilon_lower_bound(
    with_unit: NDArray[np.float64],
    without_unit: NDArray[np.float64],
    delta: float,
    confidence: float = CONFIDENCE,
) -> float:
    """Return a lower bound on ε at δ, both directions of the neighbouring pair tried.

    Args:
        with_unit, without_unit: the statistic of each run, equally many in both worlds; larger speaks for the unit.
        delta: the claim's δ.
        confidence: probability at least with which the bound is below the true ε.
    """
    half = len(with_unit) // 2
    best = 0.0
    for inside, outside in ((with_unit, without_unit), (-without_unit, -with_unit)):
        choose_in, choose_out = inside[:half], outside[:half]
        judge_in, judge_out = inside[half:], outside[half:]
        runs = len(judge_in)
        thresholds = np.quantile(np.concatenate([choose_in, choose_out]), np.linspace(0.02, 0.998, 120))
        gains = [
            epsilon_of_event(int((choose_in > t).sum()), int((choose_out > t).sum()), half, delta, confidence)
            for t in thresholds
        ]
        threshold = thresholds[int(np.argmax(gains))]
        # Two directions are tried, so each may miss half as often.
        found = epsilon_of_event(
            int((judge_in > threshold).sum()),
            int((judge_out > threshold).sum()),
            runs,
            delta,
            1.0 - (1.0 - confidence) / 2.0,
        )
        best = max(best, found)
    return best
