"""Which texts of one sample stand in it more than once, word for word or nearly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.near_duplicates import near_duplicate_pairs
from engine.examine.usefulness.base import Sample, Value

NEAR = 0.8  # Jaccard similarity of word 5-shingles


def duplicates(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the share of texts whose words another text of the sample has too, in the same order."""
    size = min(len(sample), len(other))
    if size < 2:
        return Value(float("nan"))
    return _share(_copies(sample, size))


def near_duplicates(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the share of texts that share four of five runs of five words with another text, copies among them.

    Source: Broder 1997 (On the resemblance and containment of documents), section 2.
    """
    size = min(len(sample), len(other), len(sample.texts))
    if size < 2:
        return Value(float("nan"))
    groups = _copies(sample, size)
    texts = sample.texts[:size]
    for one, two, _ in near_duplicate_pairs(texts, texts, NEAR):
        if groups[one] != groups[two]:
            groups[groups == groups[one]] = groups[two]
    return _share(groups)


def _copies(sample: Sample, size: int) -> NDArray[np.int64]:
    """Return the number of each text's group of equal texts."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(words.tobytes(), len(numbers)) for words in sample.words[:size]], np.int64)


def _share(groups: NDArray[np.int64]) -> Value:
    """Return the share of texts in groups of two or more; a group counts as one witness."""
    repeated = np.bincount(groups)[groups] > 1
    return Value(float(repeated.mean()), repeated, groups.astype(object))
