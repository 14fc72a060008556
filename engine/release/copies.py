"""Find word runs that a release shares with the private source.

Privacy posture: works on hashes of word runs in memory; a result holds positions of released
records and lengths, never words.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_BASE = np.uint64(0x9E3779B97F4A7C15)
_NOWHERE = np.int64(-1)  # between texts, and for source words that no released text uses

Ids = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class CopyCheck:
    """Which released texts share more than `longest_allowed` consecutive words with a source text.

    `texts` are positions in the released sequence; `compared` counts source texts.
    """

    longest_allowed: int
    texts: tuple[int, ...]
    compared: int

    @property
    def passed(self) -> bool:
        """Whether no text shares a longer run."""
        return not self.texts


def words(text: str) -> list[str]:
    """Return case-folded words; punctuation and spacing do not hide a copy."""
    return _WORD.findall(text.casefold())


def check_copies(released: Sequence[str], sources: Sequence[str], longest_allowed: int) -> CopyCheck:
    """Return the released texts with a run of more than `longest_allowed` words of one source text.

    Args:
        longest_allowed: k >= 0; a shared run of k words passes, one of k + 1 does not.
    """
    encoded, owner, original = _encode(released, sources)
    return CopyCheck(longest_allowed, _sharing(encoded, owner, original, longest_allowed + 1), len(sources))


def _encode(released: Sequence[str], sources: Sequence[str]) -> tuple[Ids, Ids, Ids]:
    """Return word ids of the released texts, the text each belongs to, and ids of the sources."""
    vocabulary: dict[str, int] = {}
    ids: list[int] = []
    owner: list[int] = []
    for position, text in enumerate(released):
        for word in words(text):
            ids.append(vocabulary.setdefault(word, len(vocabulary)))
            owner.append(position)
        ids.append(int(_NOWHERE))
        owner.append(position)
    original: list[int] = []
    for text in sources:
        original.extend(vocabulary.get(word, int(_NOWHERE)) for word in words(text))
        original.append(int(_NOWHERE))
    return np.array(ids, np.int64), np.array(owner, np.int64), np.array(original, np.int64)


def _sharing(encoded: Ids, owner: Ids, original: Ids, length: int) -> tuple[int, ...]:
    """Return positions of released texts that share a run of exactly `length` words."""
    key = np.frombuffer(secrets.token_bytes(8 * (int(encoded.max(initial=0)) + 2)), np.uint64)
    ours, starts = _hashes(encoded, length, key)
    theirs, _ = _hashes(original, length, key)
    hit = np.isin(ours, np.unique(theirs))
    return tuple(int(i) for i in np.unique(owner[starts[hit]]))


def _hashes(ids: Ids, length: int, key: Hashes) -> tuple[Hashes, Ids]:
    """Return a 64-bit hash for each run of `length` words inside one text, and where it starts."""
    count = len(ids) - length + 1
    if count <= 0:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    values = key[ids]  # (n,) a random value a word; -1 takes the last one, masked below
    result = np.zeros(count, np.uint64)
    for offset in range(length):
        result = result * _BASE + values[offset : offset + count]
    breaks = np.concatenate([[0], np.cumsum(ids == _NOWHERE)])
    starts = np.flatnonzero(breaks[length:] == breaks[:count])
    return result[starts], starts
