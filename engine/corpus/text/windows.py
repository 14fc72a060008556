"""Hash every run of n words, for what is compared or kept as hashes: shingles of near-duplicates, marks of people.

Words are runs of letters and digits, also around an apostrophe ("Smith's" is one), compared without case, punctuation
and blanks. Marks of people are stored, so this rule cannot change; whoever compares words with words takes
`engine.corpus.text.words`. A word becomes 64 bits of BLAKE2b, a window a polynomial of its words modulo 2**64 (Karp and
Rabin 1987): with W windows on each side a false match has a chance of about W**2 / 2**64.

Privacy posture: these hashes are not keyed and live in memory only; what is stored of them is keyed by the caller.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+(?:['’]\w+)*")
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: odd, and its multiples lie far apart
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_CHUNK = 256

UintArray = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.int32]
PositionArray = npt.NDArray[np.int64]


class Windows(NamedTuple):
    """All windows of a list of texts, in reading order.

    hashes: uint64 (m,). record: int32 (m,), index of the text. position: int32 (m,), index of the
    window's first word in its text.
    """

    hashes: UintArray
    record: IntArray
    position: IntArray


class _WordHashes(dict[str, int]):
    def __missing__(self, word: str) -> int:
        folded = word.casefold().replace("’", "'").encode("utf-8", "surrogatepass")
        value = int.from_bytes(hashlib.blake2b(folded, digest_size=8).digest(), "little")
        self[word] = value
        return value


def word_hashes(texts: Sequence[str]) -> tuple[UintArray, PositionArray]:
    """Return all words' hashes, uint64 (w,), and each text's first index, int64 (n + 1,)."""
    known = _WordHashes()
    parts: list[UintArray] = []
    counts = np.zeros(len(texts) + 1, dtype=np.int64)
    for start in range(0, len(texts), _CHUNK):
        words = [WORD.findall(text) for text in texts[start : start + _CHUNK]]
        lengths = [len(item) for item in words]
        counts[start + 1 : start + 1 + len(words)] = lengths
        values = map(known.__getitem__, chain.from_iterable(words))
        parts.append(np.fromiter(values, dtype=np.uint64, count=sum(lengths)))
    hashes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
    return hashes, np.cumsum(counts)


def window_hashes(texts: Sequence[str], n: int = 8) -> Windows:
    """Return every window of `n` words; texts shorter than that have none."""
    if n < 1:
        raise ValueError(f"n: expected at least one word, got {n}")
    words, starts = word_hashes(texts)
    lengths = np.diff(starts)
    per_text = np.maximum(lengths - n + 1, 0)
    record = np.repeat(np.arange(len(texts), dtype=np.int32), per_text)
    first = np.repeat(np.cumsum(per_text) - per_text, per_text)
    position = (np.arange(len(record), dtype=np.int64) - first).astype(np.int32)
    return Windows(_rolling(words, n)[starts[:-1][record] + position], record, position)


def mix(values: UintArray) -> UintArray:
    """Return 64 well-mixed bits a value (the finaliser of SplitMix64, Steele et al. 2014)."""
    values = (values ^ (values >> np.uint64(30))) * _MIX_A
    values = (values ^ (values >> np.uint64(27))) * _MIX_B
    return values ^ (values >> np.uint64(31))


def _rolling(words: UintArray, n: int) -> UintArray:
    """Return the hash of words i to i + n - 1 for every i that has so many after it."""
    count = max(len(words) - n + 1, 0)
    total = np.zeros(count, dtype=np.uint64)
    for offset in range(n):
        total = total * GOLDEN + words[offset : offset + count]
    return mix(total)
