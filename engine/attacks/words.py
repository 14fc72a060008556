"""Cut texts into words once, as numbers, so that every attack compares the same words.

Privacy posture: the vocabulary holds words of private text; it lives in memory for one examination
and is never stored or logged.

A word is a run of letters, digits or underscores, compared after Unicode compatibility folding (NFKC) and
case folding; in scripts written without spaces each character is a word. Punctuation and spacing
never decide a comparison.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")


def fold(word: str) -> str:
    """Return the form in which a word is compared."""
    folded = word.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded).casefold()


@dataclass
class Vocabulary:
    """Numbers words in order of first sight; surface forms are cached so folding happens once a form."""

    _folded: dict[str, int] = field(default_factory=dict)
    _surface: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._folded)

    def number(self, surface: str) -> int:
        """Return the word's number, giving it one if it is new."""
        known = self._surface.get(surface)
        if known is None:
            known = self._folded.setdefault(fold(surface), len(self._folded))
            self._surface[surface] = known
        return known

    def words(self) -> list[str]:
        """Return the folded words by number."""
        return list(self._folded)


@dataclass(frozen=True)
class WordTable:
    """The words of n texts, one after the other.

    Args:
        ids: int32 array (w,), word numbers.
        starts, ends: int32 arrays (w,), half-open code-point offsets in the word's own text.
        offsets: int64 array (n + 1,); text i has words `offsets[i]:offsets[i + 1]`.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of texts."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """Words a text, int64 array (n,)."""
        return np.diff(self.offsets)

    def of(self, index: int) -> NDArray[np.int32]:
        """Return the word numbers of one text."""
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def take(self, index: NDArray[np.int64]) -> WordTable:
        """Return the table of the texts named by `index`, in that order."""
        counts = self.counts[index]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        flat = np.repeat(self.offsets[index] - offsets[:-1], counts) + np.arange(offsets[-1])
        return WordTable(self.ids[flat], self.starts[flat], self.ends[flat], offsets)


def cut(texts: Sequence[str], vocabulary: Vocabulary) -> WordTable:
    """Return the words of `texts`, numbered by `vocabulary` (which grows)."""
    ids: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    offsets = [0]
    number = vocabulary.number
    for text in texts:
        for match in WORD.finditer(text):
            ids.append(number(match.group()))
            starts.append(match.start())
            ends.append(match.end())
        offsets.append(len(ids))
    as_int = np.int32
    return WordTable(
        np.array(ids, as_int), np.array(starts, as_int), np.array(ends, as_int), np.array(offsets, np.int64)
    )
