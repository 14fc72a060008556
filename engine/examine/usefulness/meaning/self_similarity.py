"""How alike the texts of one sample are in meaning, as a mean and as a distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.base import Sample, Value
from engine.examine.usefulness.meaning.embeddings import embedded

BINS = 2_000  # of cosines from -1 to 1: the distance below is off by less than a bin


def self_similarity(rows: NDArray[np.float32]) -> float:
    """Return the mean cosine over all pairs of different texts; NaN for fewer than two."""
    n = len(rows)
    if n < 2:
        return float("nan")
    total = rows.astype(np.float64).sum(axis=0)
    return float((total @ total - np.square(rows.astype(np.float64)).sum()) / (n * (n - 1)))


def alike(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the mean cosine of two texts of the sample."""
    return Value(self_similarity(embedded(sample)))


def likeness_shift(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the 1-Wasserstein distance between the cosines of two texts of the sample and those of two real ones.

    Source: Vallender 1974, over the cosines of DPGA-TextSyn's self-similarity (Figure 3).
    """
    ours, theirs = embedded(sample), embedded(target)
    if min(len(ours), len(theirs)) < 2:
        return Value(float("nan"))
    apart = np.abs(_shares_below(ours) - _shares_below(theirs)).sum()
    return Value(float(apart) * 2.0 / BINS)


def _shares_below(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return, for each bin's end, the share of pairs of different texts with a smaller cosine."""
    below: NDArray[np.float64] = np.cumsum(shares_of_pairs(rows, BINS))
    return below


def shares_of_pairs(rows: NDArray[np.float32], bins: int) -> NDArray[np.float64]:
    """Return the share of pairs of different texts in each bin of cosines from -1 to 1, float64 (bins,)."""
    n = len(rows)
    places = np.clip((rows @ rows.T + 1.0) * (bins / 2), 0, bins - 1).astype(np.int32)
    counts = np.bincount(places.ravel(), minlength=bins)
    counts -= np.bincount(np.diag(places), minlength=bins)
    shares: NDArray[np.float64] = counts / (n * (n - 1))
    return shares
