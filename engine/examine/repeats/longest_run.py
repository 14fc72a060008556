"""The longest run of words a text shares with any text of a reference.

Runs grow by one word a step: positions on both sides whose next `width` words stand on the other side too get the
same number if they are the same words; those whose next word agrees as well go on. So no run is missed, nothing is
hashed, and a step costs only what is still alive.

Privacy posture: results are counts of words and positions, never words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.runs import Report, quiet
from engine.corpus.text.words import WordTable

MOST = 500
BLOCK = 5_000_000  # words of candidate texts looked at together: of all words of a million texts, what is alive at once

WIDEST = 8_000_000  # words of reference texts looked at together; of more, halves are looked at one after the other

Positions = NDArray[np.int32]


@dataclass(frozen=True)
class _Alive:
    """Positions of one side that still agree with the other. codes: equal where the words so far are equal."""

    words: WordTable
    ends: Positions  # of the text at each position of the table
    at: Positions
    codes: Positions

    def kept(self, mask: NDArray[np.bool_]) -> _Alive:
        return _Alive(self.words, self.ends, self.at[mask], self.codes[mask])

    def grown(self, width: int, words: int) -> tuple[_Alive, NDArray[np.int64]]:
        """Return those that have a word after `width`, and (their words so far, that word) as one number."""
        left = self.kept(self.at + width < self.ends[self.at])
        return left, left.codes.astype(np.int64) * words + left.words.ids[left.at + width]

    def numbered(self, codes: Positions) -> _Alive:
        return _Alive(self.words, self.ends, self.at, codes)


def _all(words: WordTable) -> _Alive:
    ends = np.repeat(words.offsets[1:].astype(np.int32), words.counts)
    return _Alive(words, ends, np.arange(len(words.ids), dtype=np.int32), words.ids)


def longest_runs(
    candidate: WordTable, reference: WordTable, report: Report = quiet, most: int = MOST
) -> NDArray[np.int64]:
    """Return, for each candidate text, the words of its longest run that stands in one reference text.

    Args:
        candidate, reference: words of one vocabulary.
        report: told (width, most) once a step.
        most: longer runs count as this many.
    """
    if len(reference.ids) > WIDEST and reference.size > 1:
        halves = np.array_split(np.arange(reference.size), 2)
        first, second = (longest_runs(candidate, reference.take(half), report, most) for half in halves)
        return np.maximum(first, second)
    blocks = np.unique(candidate.offsets[:-1] // BLOCK, return_index=True)[1].tolist()
    if len(blocks) < 2:
        return _longest(candidate, reference, report, most)
    rows = [np.arange(low, high) for low, high in pairwise([*blocks, candidate.size])]
    return np.concatenate([_longest(candidate.take(some), reference, report, most) for some in rows])


def _longest(candidate: WordTable, reference: WordTable, report: Report, most: int) -> NDArray[np.int64]:
    result = np.zeros(candidate.size, np.int64)
    text_of = np.repeat(np.arange(candidate.size, dtype=np.int32), candidate.counts)
    ours, theirs = _all(candidate), _all(reference)
    words = 1 + int(max(ours.codes.max(initial=0), theirs.codes.max(initial=0)))
    codes = words
    for width in range(1, most + 1):
        report(width, most)
        ours = ours.kept(_seen(theirs.codes, codes)[ours.codes])
        theirs = theirs.kept(_seen(ours.codes, codes)[theirs.codes])
        if not len(ours.at):
            break
        result[text_of[ours.at]] = width
        ours, keys = ours.grown(width, words)
        theirs, wanted = theirs.grown(width, words)
        distinct, inverse = np.unique(keys, return_inverse=True)
        codes = len(distinct)
        place = np.searchsorted(distinct, wanted)
        place[place == codes] = 0
        equal = distinct[place] == wanted if codes else np.zeros(len(wanted), bool)
        ours, theirs = (
            ours.numbered(inverse.astype(np.int32)),
            theirs.kept(equal).numbered(place[equal].astype(np.int32)),
        )
    return result


def _seen(codes: Positions, size: int) -> NDArray[np.bool_]:
    result = np.zeros(size, bool)
    result[codes] = True
    return result


def common_run(first: NDArray[np.int32], second: NDArray[np.int32]) -> tuple[int, int, int]:
    """Return (words, position in first, position in second) of the longest common run; the earliest if tied."""
    best = (0, 0, 0)
    row = np.zeros(len(second) + 1, np.int64)  # row[j + 1]: run that ends at first[i], second[j]
    for i, word in enumerate(first):
        row[1:] = np.where(second == word, row[:-1] + 1, 0)
        j = int(np.argmax(row))
        if row[j] > best[0]:
            size = int(row[j])
            best = (size, i + 1 - size, j - size)
    return best
