"""The texts of a file in their folded form, each folded once and kept as numbers of words.

A million records of 25 words take a hundred megabytes so, and as text several times that.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from engine.corpus.text.folding import folded

_DIGIT = re.compile(r"\d")


class FoldedTexts:
    """Texts as `engine.corpus.text.folding` folds them, in order; a text is its words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._number: dict[str, int] = {}
        self._places, self._ends = array("i"), array("q", [0])
        for text in texts:
            self._places.extend(self._number.setdefault(word, len(self._number)) for word in folded(text).split())
            self._ends.append(len(self._places))
        self.words = list(self._number)
        self._bare = [not _DIGIT.search(word) for word in self.words]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield each text's words."""
        return (tuple(map(self.words.__getitem__, self._of(text))) for text in range(len(self)))

    def bare(self, begin: int, end: int) -> list[str]:
        """Return some of the texts without words that hold digits."""
        words, bare = self.words, self._bare
        return [" ".join(words[i] for i in self._of(text) if bare[i]) for text in range(begin, min(end, len(self)))]

    def distinct(self) -> npt.NDArray[np.int64]:
        """Return int64 (n,): a number a text, the same for equal ones (for equal 128-bit digests of their words)."""
        digests = b"".join(
            hashlib.blake2b(self._of(text).tobytes(), digest_size=16).digest() for text in range(len(self))
        )
        halves = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
        order = np.lexsort((halves[:, 0], halves[:, 1]))
        new = np.zeros(len(order), dtype=np.int64)
        new[1:] = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
        found = np.empty(len(order), dtype=np.int64)
        found[order] = np.cumsum(new)
        return found

    def held(self) -> tuple[npt.NDArray[np.int64], int]:
        """Return int64 (w,), how many of the distinct texts that hold a word hold each one, and how many those are."""
        _, first = np.unique(self.distinct(), return_index=True)
        found = np.zeros(len(self.words), dtype=np.int64)
        places, ends = np.frombuffer(self._places, dtype=np.int32) if self._places else _NONE, self._ends
        for text in first.tolist():
            found[np.unique(places[ends[text] : ends[text + 1]])] += 1
        return found, sum(ends[text] < ends[text + 1] for text in first.tolist())

    def _of(self, text: int) -> array[int]:
        return self._places[self._ends[text] : self._ends[text + 1]]


_NONE = np.zeros(0, dtype=np.int32)


def earlier(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return int64 (n,): how often each value stands before, in the order they are given."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    found = np.empty(len(values), dtype=np.int64)
    found[order] = np.arange(len(values)) - np.searchsorted(sorted_values, sorted_values)
    return found
