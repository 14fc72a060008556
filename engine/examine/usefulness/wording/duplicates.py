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
    return _share(_copies(sample, size), np.empty((0, 2), np.int64))


def near_duplicates(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the share of texts that share four of five runs of five words with another text, copies among them.

    Source: Broder 1997 (On the resemblance and containment of documents), section 2.
    """
    size = min(len(sample), len(other), len(sample.texts))
    texts = sample.texts[:size]
    near = [(one, two) for one, two, _ in near_duplicate_pairs(texts, texts, NEAR) if one != two] if size > 1 else []
    return _share(_copies(sample, size), np.array(near, np.int64).reshape(-1, 2))


def _copies(sample: Sample, size: int) -> NDArray[np.int64]:
    """Return the number of each text's group of equal texts."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(words.tobytes(), len(numbers)) for words in sample.words[:size]], np.int64)


def _share(copies: NDArray[np.int64], near: NDArray[np.int64]) -> Value:
    """Return the share of texts with an equal text or a near one; of some rows, with one among these rows."""
    if len(copies) < 2:
        return Value(float("nan"))

    def of(rows: NDArray[np.int64]) -> float:
        known = rows[rows < len(copies)]
        return float(repeated(copies, near, known).mean()) if len(known) > 1 else float("nan")

    return Value(of(np.arange(len(copies))), again=of)


def repeated(copies: NDArray[np.int64], near: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the rows have an equal text or a near one among the rows, bool array like `rows`.

    Args:
        copies: (n,), equal numbers for equal texts. near: (k, 2), pairs of near texts. rows: numbers of texts.
    """
    there = np.zeros(len(copies), bool)
    there[rows] = True
    found = (np.bincount(copies[rows], minlength=len(copies))[copies] > 1) & there
    found[near[there[near].all(axis=1)].ravel()] = True
    result: NDArray[np.bool_] = found[rows]
    return result
