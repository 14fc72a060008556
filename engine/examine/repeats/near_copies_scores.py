"""Find near-verbatim copies: records whose word shingles are mostly those of a reference record.

Min-wise hashing proposes pairs (Broder 1997, On the resemblance and containment of documents; banding as in Leskovec,
Rajaraman and Ullman, Mining of Massive Datasets, section 3.4); the Jaccard similarity of each proposed pair is then
computed exactly, so a pair is never reported on the estimate alone. Shingles are runs of five words
(`engine.corpus.text.minhash`), a text shorter than that is one shingle of all its words. Equal texts are handled as
one. Of a minimum its last eight bits are kept, which says enough of two texts (Li and König 2010, b-bit minwise
hashing), and training texts pass by in blocks: a million texts would take gigabytes otherwise.

Privacy posture: results are row numbers and similarities; shingle hashes live in memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.minhash import (
    PERMUTATIONS,
    SHINGLE_WORDS,
    BandKeys,
    ShingleSets,
    agreeing_pairs,
    band_keys,
    band_rows,
    jaccard,
    shingle_sets,
    signatures,
)
from engine.corpus.text.runs import Report, quiet
from engine.examine.memory import give_back

__all__ = ["LEAST", "SHINGLE_WORDS", "Groups", "NearPairs", "Sketch", "near_pairs", "near_pairs_in_blocks", "sketch"]

LEAST = 0.5
BATCH = 1000  # texts sketched at once
BLOCK = 100_000  # distinct texts that others are held against at once
PAIRS = 50_000  # proposed pairs looked at together
SLACK = 4 * 0.5  # standard errors of an estimate, times sqrt(permutations)
CHANCE = 1 / 256  # that eight bits of two minima are the same where the minima are not
BAND = band_rows(LEAST)

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Which of n texts have the same shingles.

    Args:
        group: int64 array (n,), each text's distinct one, of g; -1 for a text without words.
        first: int64 array (g,), the first text of each.
        sizes: int64 array (g,), how many texts are equal.
    """

    group: Numbers
    first: Numbers
    sizes: Numbers

    def __len__(self) -> int:
        return len(self.group)

    def holds(self, rows: Numbers) -> NDArray[np.bool_]:
        """Return which distinct texts are among these rows, bool (g,)."""
        result = np.zeros(len(self.first), bool)
        groups = self.group[rows]
        result[groups[groups >= 0]] = True
        return result


@dataclass(frozen=True)
class Hashes:
    """What is held against others of g distinct texts: shingle sets, keys of bands, minima's last bits, uint8."""

    sets: ShingleSets = field(repr=False)
    keys: BandKeys = field(repr=False)
    bits: NDArray[np.uint8] = field(repr=False)


@dataclass(frozen=True)
class Sketch:
    """The shingles of n texts, equal texts once: the distinct ones, and their hashes in the same order."""

    groups: Groups
    hashes: Hashes


@dataclass(frozen=True)
class NearPairs:
    """Pairs of distinct texts at or above a similarity.

    Args:
        ours, theirs: int64 arrays (k,), groups of the two sides.
        jaccard: float array (k,), exact similarity in (0, 1].
        estimate: float array (k,), the share of equal minima, with a standard error of at most 0.045.
    """

    ours: Numbers
    theirs: Numbers
    jaccard: NDArray[np.float64]
    estimate: NDArray[np.float64]

    def best(self, candidate: Groups, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Return each candidate text's highest similarity to an allowed reference group, float (n,); 0 if none."""
        kept = np.ones(len(self.ours), bool) if allowed is None else allowed[self.theirs]
        best = np.zeros(len(candidate.first) + 1)  # one more, for texts without words (-1)
        np.maximum.at(best, self.ours[kept], self.jaccard[kept])
        return best[candidate.group]


class _Numbering:
    """Numbers distinct texts as their shingle sets come by, batch after batch."""

    def __init__(self, texts: int) -> None:
        self.known: dict[bytes, int] = {}
        self.group = np.full(texts, -1, np.int64)
        self.first: list[int] = []

    def new(self, sets: ShingleSets, start: int) -> Numbers:
        """Number a batch of texts, of which the first is text `start`; return the rows of those not seen before."""
        rows: list[int] = []
        for row in np.flatnonzero(sets.sizes).tolist():
            mine = sets.values[sets.offsets[row] : sets.offsets[row + 1]]
            number = self.known.setdefault(blake2b(mine.tobytes(), digest_size=16).digest(), len(self.known))
            self.group[start + row] = number
            if number == len(self.first):
                self.first.append(start + row)
                rows.append(row)
        return np.array(rows, np.int64)

    def groups(self) -> Groups:
        counts = np.bincount(self.group[self.group >= 0], minlength=len(self.first)).astype(np.int64)
        return Groups(self.group, np.array(self.first, np.int64), counts)


def _hashes(texts: Sequence[str], numbers: _Numbering, report: Report, batch: int, block: int) -> Iterator[Hashes]:
    """Yield the hashes of the distinct texts in their order, at least `block` a time but for the last; at least one."""
    held: list[tuple[ShingleSets, BandKeys, NDArray[np.uint8]]] = []
    waiting = 0
    for start in range(0, len(texts), batch):
        sets = shingle_sets(texts[start : start + batch])
        chosen = _chosen(sets, numbers.new(sets, start))
        minima = signatures(chosen)
        held.append((chosen, band_keys(minima, BAND), minima.astype(np.uint8)))
        waiting += len(chosen)
        report(min(start + batch, len(texts)), len(texts))
        if waiting >= block:
            yield _joined(held)
            held, waiting = [], 0
    yield _joined(held)


def _joined(held: list[tuple[ShingleSets, BandKeys, NDArray[np.uint8]]]) -> Hashes:
    """Return batches as one; each batch is let go as its numbers are copied."""
    sizes = np.concatenate([np.zeros(1, np.int64), *(sets.sizes for sets, _, _ in held)])
    offsets = np.cumsum(sizes).astype(np.int64)
    values = np.empty(int(offsets[-1]), np.uint64)
    keys = np.empty((len(offsets) - 1, PERMUTATIONS // BAND), np.uint32)
    bits = np.empty((len(offsets) - 1, PERMUTATIONS), np.uint8)
    row = 0
    held.reverse()
    while held:
        sets, own, low = held.pop()
        values[offsets[row] : offsets[row + len(sets)]] = sets.values
        keys[row : row + len(sets)], bits[row : row + len(sets)] = own, low
        row += len(sets)
    give_back()
    return Hashes(ShingleSets(values, offsets), keys, bits)


def _chosen(sets: ShingleSets, rows: Numbers) -> ShingleSets:
    _, values = sets.take(rows)
    return ShingleSets(values, np.concatenate([[0], np.cumsum(sets.sizes[rows])]).astype(np.int64))


def _pass() -> None:
    """Do nothing."""


def sketch(texts: Sequence[str], report: Report = quiet, batch: int = BATCH) -> Sketch:
    """Return the shingles of texts; `report` is told (texts done, texts of all) once a batch."""
    numbers = _Numbering(len(texts))
    (hashes,) = _hashes(texts, numbers, report, batch, len(texts) + 1)
    return Sketch(numbers.groups(), hashes)


def near_pairs(candidate: Sketch, reference: Sketch, look: Callable[[], None] = _pass) -> NearPairs:
    """Return the pairs of distinct texts whose shingles have a Jaccard similarity of at least `LEAST`.

    A pair there is found with a chance of 0.99, a closer one with more. `look` is called once a batch of pairs.
    """
    return _sorted(list(_near(candidate.hashes, reference.hashes, 0, look)))


def near_pairs_in_blocks(
    candidates: Sequence[Sketch],
    texts: Sequence[str],
    report: Report = quiet,
    *,
    batch: int = BATCH,
    block: int = BLOCK,
) -> tuple[Groups, list[NearPairs]]:
    """Return what `sketch` says of the texts' groups and `near_pairs` of each candidate and them, a block at a time.

    `report` is told (texts done, texts of all) once a batch and once a batch of proposed pairs.
    """
    numbers = _Numbering(len(texts))
    found: list[list[NearPairs]] = [[] for _ in candidates]
    done = seen = 0

    def told(now: int, of: int) -> None:
        nonlocal seen
        seen = now
        report(now, of)

    for hashes in _hashes(texts, numbers, told, batch, block):
        for own, candidate in zip(found, candidates, strict=True):
            own += _near(candidate.hashes, hashes, done, lambda: report(seen, len(texts)))
        done += len(hashes.sets)
    return numbers.groups(), [_sorted(own) for own in found]


def _near(ours: Hashes, theirs: Hashes, offset: int, look: Callable[[], None]) -> Iterator[NearPairs]:
    """Yield the near pairs of a block, whose first text has the number `offset`."""
    if not len(ours.sets) or not len(theirs.sets):
        return
    for i, j in agreeing_pairs(ours.keys, theirs.keys, PAIRS):
        estimate = ((ours.bits[i] == theirs.bits[j]).mean(axis=1) - CHANCE) / (1 - CHANCE)
        likely = estimate >= LEAST - SLACK / np.sqrt(PERMUTATIONS)
        i, j, estimate = i[likely], j[likely], estimate[likely]
        exact = jaccard(ours.sets, theirs.sets, i, j)
        close = exact >= LEAST
        yield NearPairs(i[close], j[close] + offset, exact[close], estimate[close])
        look()


def _sorted(found: Sequence[NearPairs]) -> NearPairs:
    """Return pairs as one, by our text, the closest first."""
    none = NearPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
    ours, theirs, exact, estimate = (
        np.concatenate([getattr(one, name) for one in (none, *found)])
        for name in ("ours", "theirs", "jaccard", "estimate")
    )
    order = np.lexsort((theirs, -exact, ours))
    return NearPairs(ours[order], theirs[order], exact[order], estimate[order])
