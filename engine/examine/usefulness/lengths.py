"""How far the lengths of texts are apart."""

from __future__ import annotations

from engine.examine.usefulness.base import Sample, Value


def length_distance(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the 1-Wasserstein distance of the word counts, divided by the target's mean word count.

    0 = equal distributions; 0.2 = texts must grow or shrink by a fifth of the mean length on average.

    Source: Vallender 1974 (Calculation of the Wasserstein distance between probability distributions on
        the line): the area between the two distribution functions.
    """
    from scipy.stats import wasserstein_distance

    mean = float(target.lengths.mean()) if len(target) else 0.0
    if not len(sample) or mean == 0.0:
        return Value(float("nan"))
    return Value(float(wasserstein_distance(sample.lengths, target.lengths)) / mean)
