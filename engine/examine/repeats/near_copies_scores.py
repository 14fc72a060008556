"""Find near-verbatim copies: records whose word shingles are mostly those of a reference record.

Min-wise hashing proposes pairs (Broder 1997, On the resemblance and containment of documents; banding as in Leskovec,
Rajaraman and Ullman, Mining of Massive Datasets, section 3.4); the Jaccard similarity of each proposed pair is then
computed exactly, so a pair is never reported on the estimate alone. Shingles are runs of five words
(`engine.corpus.text.minhash`), a text shorter than that is one shingle of all its words. Equal texts are handled as
one.

Privacy posture: results are row numbers and similarities; shingle hashes live in memory only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.minhash import (
    SHINGLE_WORDS,
    ShingleSets,
    Signatures,
    band_rows,
    candidate_pairs,
    jaccard,
    shingle_sets,
    signatures,
)
from engine.corpus.text.runs import Report, quiet

__all__ = ["LEAST", "SHINGLE_WORDS", "NearPairs", "Sketch", "near_pairs", "sketch"]

LEAST = 0.5
BATCH = 1000  # texts sketched at once
PAIRS = 50_000  # proposed pairs looked at together
SLACK = 4 * 0.5  # standard errors of an estimate, times sqrt(permutations)


@dataclass(frozen=True)
class Sketch:
    """The shingles of n texts, equal texts once.

    Args:
        sets: shingle sets of the g distinct texts that have a word.
        signatures: uint32 array (g, permutations).
        group: int64 array (n,), each text's distinct one; -1 for a text without words.
        first: int64 array (g,), the first text of each.
        sizes: int64 array (g,), how many texts are equal.
    """

    sets: ShingleSets = field(repr=False)
    signatures: Signatures = field(repr=False)
    group: NDArray[np.int64]
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.group)

    def holds(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which distinct texts are among these rows, bool (g,)."""
        result = np.zeros(len(self.first), bool)
        groups = self.group[rows]
        result[groups[groups >= 0]] = True
        return result


@dataclass(frozen=True)
class NearPairs:
    """Pairs of distinct texts at or above a similarity.

    Args:
        ours, theirs: int64 arrays (k,), groups of the two sketches.
        jaccard: float array (k,), exact similarity in (0, 1].
        estimate: float array (k,), the share of equal minima, with a standard error of at most 0.044.
    """

    ours: NDArray[np.int64]
    theirs: NDArray[np.int64]
    jaccard: NDArray[np.float64]
    estimate: NDArray[np.float64]

    def best(self, candidate: Sketch, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Return each candidate text's highest similarity to an allowed reference group, float (n,); 0 if none."""
        kept = np.ones(len(self.ours), bool) if allowed is None else allowed[self.theirs]
        best = np.zeros(len(candidate.first) + 1)  # one more, for texts without words (-1)
        np.maximum.at(best, self.ours[kept], self.jaccard[kept])
        return best[candidate.group]


def sketch(texts: Sequence[str], report: Report = quiet, batch: int = BATCH) -> Sketch:
    """Return the shingles of texts; `report` is told (texts done, texts of all) once a batch."""
    known: dict[bytes, int] = {}
    group = np.full(len(texts), -1, np.int64)
    values: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    none = signatures(shingle_sets([]))
    minima = np.empty((len(texts), none.shape[1]), none.dtype)  # room for all; the system gives what is written
    sizes: list[int] = []
    first: list[int] = []
    for start in range(0, len(texts), batch):
        sets = shingle_sets(texts[start : start + batch])
        new: list[int] = []
        for row in np.flatnonzero(sets.sizes).tolist():
            mine = sets.values[sets.offsets[row] : sets.offsets[row + 1]]
            number = known.setdefault(blake2b(mine.tobytes(), digest_size=16).digest(), len(known))
            group[start + row] = number
            if number == len(first):
                first.append(start + row)
                new.append(row)
        chosen = _chosen(sets, np.array(new, np.int64))
        values.append(chosen.values)
        sizes += chosen.sizes.tolist()
        minima[len(first) - len(new) : len(first)] = signatures(chosen)
        report(min(start + batch, len(texts)), len(texts))
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    counts = np.bincount(group[group >= 0], minlength=len(first))
    return Sketch(
        ShingleSets(np.concatenate(values), offsets), minima[: len(first)], group, np.array(first, np.int64), counts
    )


def _chosen(sets: ShingleSets, rows: NDArray[np.int64]) -> ShingleSets:
    _, values = sets.take(rows)
    return ShingleSets(values, np.concatenate([[0], np.cumsum(sets.sizes[rows])]).astype(np.int64))


def near_pairs(candidate: Sketch, reference: Sketch, least: float = LEAST, report: Report = quiet) -> NearPairs:
    """Return the pairs of distinct texts whose shingles have a Jaccard similarity of at least `least`.

    A pair at `least` is found with a chance of 0.99, a closer one with more. `report` is told (pairs looked at, same)
    once a batch of proposed pairs.
    """
    size = candidate.signatures.shape[1]
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]] = []
    seen = 0
    if not len(candidate.first) or not len(reference.first):
        return NearPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
    for i, j in candidate_pairs(candidate.signatures, reference.signatures, band_rows(least, size), PAIRS):
        estimate = (candidate.signatures[i] == reference.signatures[j]).mean(axis=1)
        likely = estimate >= least - SLACK / np.sqrt(size)
        i, j, estimate = i[likely], j[likely], estimate[likely]
        exact = jaccard(candidate.sets, reference.sets, i, j)
        close = exact >= least
        found.append((i[close], j[close], exact[close], estimate[close]))
        seen += len(likely)
        report(seen, seen)
    if not found:
        return NearPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
    ours, theirs, exact, estimate = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((theirs, -exact, ours))
    return NearPairs(ours[order], theirs[order], exact[order], estimate[order])
