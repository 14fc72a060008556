"""Count n-grams a source, over millions of words, with sorted arrays.

Words are those of `engine.corpus.text.words`; n-grams do not reach from one text into the next. An n-gram becomes one
64-bit key: the words' numbers side by side where they fit (n = 1; n = 2; n = 3 up to 2,097,152 distinct words), which
no two n-grams share. Beyond that a polynomial of mixed word numbers modulo 2**64 is taken (Karp and Rabin 1987):
among g distinct n-grams two share a key with a chance of about g² / 2**65, 3 in a million at ten million. Two that do
are counted as one output, which is post-processing: a curve can only fall by it (lemma 2 of Stomakhin 2025).

Privacy posture: keys and word numbers stand for private words; they live in memory only and are never stored or
released. The words themselves are kept by `Numbers`, for as long as texts are being cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.windows import GOLDEN, mix
from engine.corpus.text.words import WORD, fold
from engine.errors import InternalError

MAX_N = 3
# ASCII text is cut without a regular expression: small letters, digits and underscores stay, all else is a blank
_ASCII = bytes(ord(chr(c).lower()) if c < 128 and (chr(c).isalnum() or c == 95) else 32 for c in range(256))

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]


class Numbers(dict[str, int]):
    """Numbers of words in order of first sight."""

    def __missing__(self, word: str) -> int:
        """Give a new word the next number."""
        number = self[word] = len(self)
        return number


@dataclass(frozen=True)
class Tokens:
    """Words of n texts as numbers, one text after the other.

    Args:
        ids: int32 (w,), word numbers. offsets: int64 (n + 1,); text i has `ids[offsets[i]:offsets[i + 1]]`.
    """

    ids: NDArray[np.int32]
    offsets: Ints


def tokens(texts: Sequence[str], numbers: Numbers) -> Tokens:
    """Return the words of texts, numbered by `numbers` (which grows); the same words as `engine.corpus.text.words`."""
    number, find = numbers.__getitem__, WORD.findall
    parts: list[NDArray[np.int32]] = []
    for text in texts:
        if text.isascii():
            found = text.encode("ascii").translate(_ASCII).decode("ascii").split()
        else:
            found = [fold(word) for word in find(text)]
        parts.append(np.fromiter(map(number, found), np.int32, len(found)))
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([part.size for part in parts], out=offsets[1:])
    return Tokens(np.concatenate(parts) if parts else np.empty(0, np.int32), offsets)


def replaced(table: Tokens, by: Sequence[str]) -> tuple[Tokens, int]:
    """Return the texts with another word in the place of each, and how many distinct ones there are.

    Args:
        by: the word in the place of each numbered one, folded; several words may share one.
    """
    known = Numbers()
    numbers = np.fromiter((known[word] for word in by), np.int32, len(by))
    return Tokens(numbers[table.ids], table.offsets), len(known)


@dataclass(frozen=True)
class NgramCounts:
    """How often each n-gram occurs, in all and a source.

    Args:
        n: words an n-gram.
        keys: uint64 (g,), rising; the distinct n-grams.
        totals: int64 (g,), occurrences of each in all sources together.
        bounds: int64 (s + 1,); source i has the entries `bounds[i]:bounds[i + 1]` of the next two.
        grams: int32 (m,), index into `keys`, rising within a source.
        counts: int32 (m,), occurrences of that n-gram in that source, >= 1.
        hashed: whether keys are hashes, not the words' numbers side by side.
    """

    n: int
    keys: Keys
    totals: Ints
    bounds: Ints
    grams: NDArray[np.int32]
    counts: NDArray[np.int32]
    hashed: bool

    @property
    def sources(self) -> int:
        """Number of sources."""
        return len(self.bounds) - 1

    @property
    def total(self) -> int:
        """Occurrences of all n-grams."""
        return int(self.totals.sum())

    def of(self, source: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the n-grams of one source, as indices into `keys`, and how often it has each."""
        part = slice(int(self.bounds[source]), int(self.bounds[source + 1]))
        return self.grams[part], self.counts[part]


def count(table: Tokens, sources: NDArray[np.int64], n: int, vocabulary: int) -> NgramCounts:
    """Count the n-grams of each source.

    Args:
        table: words of the texts.
        sources: int (n,), number of each text's source, 0 to s - 1; texts' own numbers for record-wise adjacency.
        n: words an n-gram, 1 to 3.
        vocabulary: distinct words of all texts that are to be compared, `len(numbers)` after all of them were cut.
    """
    keys, text, hashed = ngram_keys(table, n, vocabulary)
    units = int(sources.max()) + 1 if sources.size else 0
    source = np.asarray(sources, np.int64)[text]
    del text
    distinct, place = np.unique(keys, return_inverse=True)
    del keys
    if units * max(distinct.size, 1) >= 2**63:
        raise InternalError(f"n-grams: {distinct.size} of {units} sources do not fit into 64 bits")
    source *= max(distinct.size, 1)
    source += place.ravel()
    del place
    source.sort()
    first = np.flatnonzero(np.diff(source, prepend=-1))
    times = np.diff(first, append=source.size)
    owner, gram = np.divmod(source[first], max(distinct.size, 1))
    totals = np.bincount(gram, weights=times, minlength=distinct.size).astype(np.int64)
    bounds = np.searchsorted(owner, np.arange(units + 1))
    return NgramCounts(n, distinct, totals, bounds, gram.astype(np.int32), times.astype(np.int32), hashed)


def ngram_keys(table: Tokens, n: int, vocabulary: int) -> tuple[Keys, Ints, bool]:
    """Return the key of every n-gram in reading order, the number of its text, and whether keys are hashes."""
    if not 1 <= n <= MAX_N:
        raise InternalError(f"n: n-grams of 1 to {MAX_N} words are counted, got {n}")
    lengths = np.diff(table.offsets)
    text = np.repeat(np.arange(lengths.size), np.maximum(lengths - n + 1, 0))
    # place of each n-gram's first word: its text's start plus its number within the text
    runs = np.concatenate([[0], np.cumsum(np.maximum(lengths - n + 1, 0))])
    at = np.arange(text.size) + (table.offsets[:-1] - runs[:-1])[text]
    bits = 64 // n
    hashed = vocabulary > 2**bits
    words = table.ids.astype(np.uint64)
    if hashed:
        words = mix(words + GOLDEN)
    keys = words[at]
    for step in range(1, n):
        following = words[at + step]
        if hashed:
            keys *= GOLDEN
            keys += following
        else:
            keys <<= np.uint64(bits)
            keys |= following
    return keys, text, hashed


def aligned(keys: Keys, other: NgramCounts | tuple[Keys, Ints]) -> Ints:
    """Return how often each n-gram of `keys` occurs in other counts, 0 where it does not."""
    theirs, totals = (other.keys, other.totals) if isinstance(other, NgramCounts) else other
    if not theirs.size:
        return np.zeros(keys.size, np.int64)
    at = np.minimum(np.searchsorted(theirs, keys), theirs.size - 1)
    return np.where(theirs[at] == keys, totals[at], 0)


def same_keys(first: NgramCounts, second: NgramCounts) -> None:
    """Refuse two counts whose keys do not mean the same.

    Raises:
        InternalError: n differs, or one has hashes and the other numbers; count both after cutting all texts.
    """
    if first.n != second.n or first.hashed != second.hashed:
        raise InternalError("n-gram counts: made with different n or key forms, and so not comparable")


def middle_source(counts: NgramCounts) -> int:
    """Return the source whose number of distinct n-grams is the middle one, the lower of two; ties by number."""
    held = np.diff(counts.bounds)
    return int(np.argsort(held, kind="stable")[(held.size - 1) // 2])


def ccdf(counts: NDArray[np.int64] | NDArray[np.int32]) -> tuple[Ints, NDArray[np.float64]]:
    """Return each distinct count c, and the share of n-grams that occur at least c times.

    Source: Stomakhin 2025, figure 6.
    """
    values, times = np.unique(np.asarray(counts, np.int64), return_counts=True)
    return values, np.cumsum(times[::-1])[::-1] / max(1, int(times.sum()))
