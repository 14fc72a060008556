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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")
_BLOCK = 256  # texts cut at once
_SPACED = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_Cut = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]


def fold(word: str) -> str:
    """Return the form in which a word is compared."""
    folded = word.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded).casefold()


class _Numbers(dict[str, int]):
    """Numbers of folded words in order of first sight, by surface form: folding happens once a form."""

    def __init__(self) -> None:
        super().__init__()
        self.folded: dict[str, int] = {}

    def __missing__(self, surface: str) -> int:
        known = self[surface] = self.folded.setdefault(fold(surface), len(self.folded))
        return known


@dataclass
class Vocabulary:
    """Numbers words in order of first sight. surfaces: number by surface form; looking up a new form gives it one."""

    surfaces: _Numbers = field(default_factory=_Numbers)

    def __len__(self) -> int:
        return len(self.surfaces.folded)

    def number(self, surface: str) -> int:
        """Return the word's number, giving it one if it is new."""
        return self.surfaces[surface]

    def copy(self) -> Vocabulary:
        """Return a vocabulary with the same numbers, which grows by itself."""
        numbers = _Numbers()
        numbers.update(self.surfaces)
        numbers.folded = dict(self.surfaces.folded)
        return Vocabulary(numbers)

    def words(self) -> list[str]:
        """Return the folded words by number."""
        return list(self.surfaces.folded)


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
    nothing = np.empty(0, np.int32)
    parts: list[_Cut] = [(nothing, nothing, nothing, np.zeros(1, np.int64))]
    parts += [(_cut_ascii if plain else _cut_any)(block, vocabulary) for plain, block in _blocks(texts)]
    ids, starts, ends, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return WordTable(ids, starts, ends, np.cumsum(counts))


def _blocks(texts: Sequence[str]) -> Iterator[tuple[bool, Sequence[str]]]:
    """Yield the texts in order, in blocks that are ASCII or not."""
    start = 0
    for plain, run in groupby(texts, str.isascii):
        stop = start + sum(1 for _ in run)
        for first in range(start, stop, _BLOCK):
            yield plain, texts[first : min(first + _BLOCK, stop)]
        start = stop


def _cut_any(texts: Sequence[str], vocabulary: Vocabulary) -> _Cut:
    """Return word numbers, starts, ends and words a text, one match after the other."""
    found = [[(vocabulary.number(m.group()), *m.span()) for m in WORD.finditer(text)] for text in texts]
    table = np.array([row for rows in found for row in rows], np.int32).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2], np.array([len(rows) for rows in found], np.int64)


def _cut_ascii(texts: Sequence[str], vocabulary: Vocabulary) -> _Cut:
    """Return the same for ASCII texts, several times faster: there, a code point is a byte and a word `[a-z0-9_]+`."""
    whole = " ".join(texts).lower().translate(_SPACED) + " "
    words = whole.split()
    ids = np.fromiter(map(vocabulary.surfaces.__getitem__, words), np.int32, count=len(words))
    inside = np.frombuffer(whole.encode("ascii"), np.uint8) != ord(" ")
    edges = np.flatnonzero(np.diff(inside, prepend=False))  # word starts and ends take turns
    lengths = np.array([len(text) + 1 for text in texts], np.int64)
    first = np.cumsum(lengths) - lengths
    counts = np.diff(np.searchsorted(edges[::2], np.append(first, len(whole))))
    shift = np.repeat(first, counts)
    return ids, (edges[::2] - shift).astype(np.int32), (edges[1::2] - shift).astype(np.int32), counts.astype(np.int64)
