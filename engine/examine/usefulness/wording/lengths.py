"""How far the lengths of texts are apart, in words, sentences and tokens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.base import Sample, Value


def length_distance(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the 1-Wasserstein distance of the word counts, divided by the target's mean word count.

    0 = equal distributions; 0.2 = texts must grow or shrink by a fifth of the mean length on average.

    Source: Vallender 1974 (Calculation of the Wasserstein distance between probability distributions on
        the line): the area between the two distribution functions.
    """
    return _apart(sample.lengths.astype(np.float64), target.lengths.astype(np.float64))


def distance_of(feature: str) -> Callable[[Sample, Sample, int], Value]:
    """Return the metric that does the same for a feature counted once a text."""

    def score(sample: Sample, target: Sample, seed: int = 0) -> Value:
        nothing = np.empty(0)
        return _apart(sample.features.get(feature, nothing), target.features.get(feature, nothing))

    return score


def _apart(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Value:
    from scipy.stats import wasserstein_distance

    mean = float(theirs.mean()) if len(theirs) else 0.0
    if not len(ours) or mean == 0.0:
        return Value(float("nan"))
    return Value(float(wasserstein_distance(ours, theirs)) / mean)
