"""A 3-gram language model with interpolated Kneser-Ney smoothing: what the built-in model must beat.

Source: Chen and Goodman 1998, section 2.8 (one absolute discount an order, n1 / (n1 + 2 n2)).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

BLOCK = 50_000  # documents counted at once: of a million, tens of millions of words would stand side by side
_SHIFT = np.uint64(16)
_Table = tuple[NDArray[np.uint64], NDArray[np.int64]]


def _unique(keys: NDArray[np.uint64]) -> _Table:
    values, counts = np.unique(keys, return_counts=True)
    return values, counts.astype(np.int64)


def _together(one: _Table, other: _Table) -> _Table:
    """Return the counts of both."""
    keys, counts = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
    return keys[first], np.add.reduceat(counts, first) if len(keys) else counts


def _look_up(table: _Table, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the count of each key, 0 where it is not in the table."""
    values, counts = table
    at = np.minimum(np.searchsorted(values, keys), len(values) - 1)
    return np.where(values[at] == keys, counts[at], 0)


def _discount(counts: NDArray[np.int64]) -> float:
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return once / max(1, once + 2 * twice)


class KneserNey:
    """Counts of a token stream and the probabilities they give.

    Args:
        documents: token ids a document, each with its end token last; ids below 65,536. They are read once, in blocks.
        vocabulary: number of token types.
        start: id that stands before the first token of a document.
    """

    def __init__(self, documents: Iterable[NDArray[np.uint64]], vocabulary: int, start: int) -> None:
        self.vocabulary, self.start = vocabulary, start
        self.trigrams: _Table = (np.empty(0, np.uint64), np.empty(0, np.int64))
        coming = iter(documents)
        while block := list(islice(coming, BLOCK)):
            w1, w2, w3 = self._grams(block)
            self.trigrams = _together(self.trigrams, _unique(w1 << (_SHIFT * np.uint64(2)) | w2 << _SHIFT | w3))
        tri, tri_count = self.trigrams
        self.tri_context = self._sums(tri >> _SHIFT, tri_count)
        self.tri_types = _unique(tri >> _SHIFT)
        # Lower orders count distinct left contexts (continuation counts).
        self.bigrams = _unique(tri & np.uint64(0xFFFFFFFF))
        bi, bi_count = self.bigrams
        self.bi_context = self._sums(bi >> _SHIFT, bi_count)
        self.bi_types = _unique(bi >> _SHIFT)
        self.unigrams = _unique(bi & np.uint64(0xFFFF))
        self.discounts = tuple(_discount(t[1]) for t in (self.unigrams, self.bigrams, self.trigrams))

    def _grams(self, documents: Sequence[NDArray[np.uint64]]) -> tuple[NDArray[np.uint64], ...]:
        pad = np.full(2, self.start, dtype=np.uint64)
        padded = [np.concatenate([pad, d.astype(np.uint64)]) for d in documents]
        stacked = [np.concatenate([p[i : len(p) - 2 + i] for p in padded]) for i in range(3)]
        return tuple(stacked)

    @staticmethod
    def _sums(keys: NDArray[np.uint64], counts: NDArray[np.int64]) -> _Table:
        values, first = np.unique(keys, return_index=True)
        return values, np.add.reduceat(counts, first).astype(np.int64)

    def bits(self, document: NDArray[np.uint64]) -> float:
        """Return what a document costs, in bits."""
        return float(-np.log2(self.probabilities([document])).sum())

    def probabilities(self, documents: Sequence[NDArray[np.uint64]]) -> NDArray[np.float64]:
        """Return each token's probability given the two before it, float (tokens of all documents,)."""
        w1, w2, w3 = self._grams(documents)
        d1, d2, d3 = self.discounts
        counts, total = _look_up(self.unigrams, w3), int(self.unigrams[1].sum())
        spread = d1 * len(self.unigrams[0]) / total
        p1 = np.maximum(counts - d1, 0) / total + spread / self.vocabulary
        p2 = self._level(self.bigrams, self.bi_context, self.bi_types, w2 << _SHIFT | w3, w2, d2, p1)
        context = w1 << _SHIFT | w2
        p3 = self._level(self.trigrams, self.tri_context, self.tri_types, context << _SHIFT | w3, context, d3, p2)
        return p3

    @staticmethod
    def _level(
        table: _Table,
        contexts: _Table,
        types: _Table,
        keys: NDArray[np.uint64],
        context: NDArray[np.uint64],
        discount: float,
        lower: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        total = _look_up(contexts, context)
        seen = np.maximum(total, 1)
        own = np.maximum(_look_up(table, keys) - discount, 0) / seen
        back_off = discount * _look_up(types, context) / seen
        return np.where(total > 0, own + back_off * lower, lower)
