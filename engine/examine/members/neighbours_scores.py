"""Membership by neighbours: how close are the k synthetic records nearest to a private record?

Source: Meeus et al. 2025 (The Canary's Echo, arXiv 2502.14921), section 3: the mean similarity of a record to its k
most similar synthetic records, by Jaccard similarity of word sets or cosine of embeddings; they use k = 25.

Privacy posture: results are scores; nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.runs import Report, quiet
from engine.corpus.text.words import WordTable

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NEAREST = (1, 5, 10, 25)
BLOCK = 512  # private records compared at once

Numbers = NDArray[np.float64]
Similarity = Callable[[int, int], NDArray[np.floating]]


def word_sets(words: WordTable, vocabulary: int) -> csr_matrix:
    """Return which words stand in which text, as a sparse matrix of ones (n, vocabulary), float32."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(words.ids), np.float32)
    table = csr_matrix((ones, words.ids.astype(np.int64), words.offsets), shape=(words.size, vocabulary))
    table.sum_duplicates()
    table.data[:] = 1
    return table


def by_words(
    records: WordTable,
    synthetic: WordTable,
    vocabulary: int,
    nearest: Sequence[int] = NEAREST,
    report: Report = quiet,
    block: int = BLOCK,
) -> Numbers:
    """Return each record's mean Jaccard similarity of word sets to its k nearest synthetic records, float (n, ks).

    Args:
        records, synthetic: words of one vocabulary. vocabulary: how many words it has.
        nearest: the ks, each at least 1 and at most the number of synthetic records.
        report: told (records done, records of all) once a block.
    """
    ours, theirs = word_sets(records, vocabulary), word_sets(synthetic, vocabulary)
    turned = theirs.T.tocsr()
    sizes, other_sizes = np.diff(ours.indptr), np.diff(theirs.indptr)

    def similarity(start: int, stop: int) -> NDArray[np.floating]:
        common = (ours[start:stop] @ turned).toarray()  # (block, synthetic)
        union = sizes[start:stop, None] + other_sizes[None, :] - common
        return np.asarray(common / np.maximum(union, 1))

    return _mean_of_nearest(similarity, records.size, nearest, report, block)


def by_embedding(
    records: NDArray[np.float32],
    synthetic: NDArray[np.float32],
    nearest: Sequence[int] = NEAREST,
    report: Report = quiet,
    block: int = BLOCK,
) -> Numbers:
    """Return each record's mean cosine to its k nearest synthetic records, float (n, ks).

    Args:
        records, synthetic: unit rows, (n, d) and (m, d).
    """
    return _mean_of_nearest(lambda start, stop: records[start:stop] @ synthetic.T, len(records), nearest, report, block)


def _mean_of_nearest(
    similarity: Similarity,
    size: int,
    nearest: Sequence[int],
    report: Report,
    block: int,
) -> Numbers:
    """Return the mean of the k highest similarities a row, a column a k."""
    result = np.empty((size, len(nearest)))
    most = max(nearest)
    at = np.array(nearest) - 1
    for start in range(0, size, block):
        stop = min(start + block, size)
        table = similarity(start, stop)
        highest = -np.sort(-np.partition(table, table.shape[1] - most, axis=1)[:, -most:], axis=1)
        result[start:stop] = (np.cumsum(highest, axis=1, dtype=np.float64) / np.arange(1, most + 1))[:, at]
        report(stop, size)
    return result
