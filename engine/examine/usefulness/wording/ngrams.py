"""How far the word sequences of two samples are apart: Jensen-Shannon divergence of n-gram frequencies.

The plug-in estimate is biased upwards, the more the smaller the sample and the longer the n-gram: two
halves of one corpus are not at 0. A value means something only beside real against real at the same
number of texts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.base import Sample, Value


def ngram_codes(sample: Sample, n: int, base: int) -> NDArray[np.int64]:
    """Return a number for each n-gram inside a text; equal numbers, equal n-grams.

    Args:
        sample: texts as word numbers below `base`.
        n: words an n-gram, 1 to 3.
        base: more than the largest word number; base ** n must fit 63 bits.
    """
    if base**n >= 2**63:
        raise ValueError(f"base: {base} words are too many for {n}-grams in 63 bits; use a smaller sample")
    texts = [text for text in sample.words if len(text) >= n]
    if not texts:
        return np.empty(0, np.int64)
    flat = np.concatenate(texts).astype(np.int64)
    counts = np.array([len(text) for text in texts])
    text_of = np.repeat(np.arange(len(texts)), counts)
    last = len(flat) - n + 1
    codes = np.zeros(last, np.int64)
    for place in range(n):
        codes = codes * base + flat[place : place + last]
    return codes[text_of[:last] == text_of[n - 1 :]]


def jensen_shannon(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Jensen-Shannon divergence of two distributions in bits, in [0, 1].

    Args:
        p, q: probabilities over the same outcomes, each summing to 1.

    Source: Lin 1991 (Divergence measures based on the Shannon entropy), equation 3.6, base 2.
    """
    middle = (p + q) / 2

    def to_middle(x: NDArray[np.float64]) -> float:
        positive = x > 0
        return float(np.sum(x[positive] * np.log2(x[positive] / middle[positive])))

    return float(np.clip((to_middle(p) + to_middle(q)) / 2, 0.0, 1.0))


def ngram_divergence(sample: Sample, target: Sample, n: int) -> Value:
    """Return the Jensen-Shannon divergence (base 2) of the n-gram frequencies: 0 equal, 1 nothing in common."""
    base = 1 + max((int(text.max()) for s in (sample, target) for text in s.words if len(text)), default=0)
    ours, theirs = ngram_codes(sample, n, base), ngram_codes(target, n, base)
    if not len(ours) or not len(theirs):
        return Value(float("nan"))
    _, place = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    size = int(place.max()) + 1
    p = np.bincount(place[: len(ours)], minlength=size) / len(ours)
    q = np.bincount(place[len(ours) :], minlength=size) / len(theirs)
    return Value(jensen_shannon(p, q))


def divergence_of(n: int) -> Callable[[Sample, Sample, int], Value]:
    """Return the metric for n-grams of `n` words."""

    def score(sample: Sample, target: Sample, seed: int = 0) -> Value:
        return ngram_divergence(sample, target, n)

    return score
