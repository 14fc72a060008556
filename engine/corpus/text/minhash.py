"""Estimate and compute how many word shingles two texts share, without comparing all pairs.

Source: min-wise hashing, Broder 1997 ("On the resemblance and containment of documents");
banding, Indyk and Motwani 1998, as in Leskovec, Rajaraman and Ullman, "Mining of Massive
Datasets", section 3.4. Shingles are runs of five words as 64-bit hashes.

Privacy posture: shingle hashes are not keyed; they live in memory only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.corpus.text.windows import PositionArray, UintArray, mix, window_hashes, word_hashes

SHINGLE_WORDS = 5
PERMUTATIONS = 128
RECALL = 0.99
_CHUNK_VALUES = 500_000
_CHUNK_PAIRS = 100_000
_SEED = 20_240_229

Signatures = npt.NDArray[np.uint32]
BandKeys = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class ShingleSets:
    """The set of shingle hashes of each text.

    values: uint64 (m,), sorted within a text. offsets: int64 (n + 1,); text i owns
    `values[offsets[i]:offsets[i + 1]]`.
    """

    values: UintArray = field(repr=False)
    offsets: PositionArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> PositionArray:
        """Return the number of distinct shingles a text, int64 (n,)."""
        return np.diff(self.offsets)

    def take(self, index: PositionArray) -> tuple[PositionArray, UintArray]:
        """Return (position in `index`, shingle) for every shingle of the texts in `index`."""
        sizes = self.sizes[index]
        owner = np.repeat(np.arange(len(index)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owner, self.values[self.offsets[index][owner] + within]


def shingle_sets(texts: Sequence[str], n: int = SHINGLE_WORDS) -> ShingleSets:
    """Return each text's distinct n-word shingles; a shorter text is one shingle of all its words."""
    windows = window_hashes(texts, n)
    record = windows.record.astype(np.int64)
    values = windows.hashes
    short = np.setdiff1d(np.arange(len(texts)), record)
    if len(short):
        words, starts = word_hashes([texts[i] for i in short])
        whole = [_whole(words[starts[k] : starts[k + 1]]) for k in range(len(short))]
        kept = np.diff(starts) > 0
        record = np.concatenate([record, short[kept]])
        values = np.concatenate([values, np.array(whole, dtype=np.uint64)[kept]])
    order = np.lexsort((values, record))
    record, values = record[order], values[order]
    distinct = np.ones(len(values), dtype=bool)
    distinct[1:] = (np.diff(record) != 0) | (values[1:] != values[:-1])
    record, values = record[distinct], values[distinct]
    offsets = np.searchsorted(record, np.arange(len(texts) + 1))
    return ShingleSets(values, offsets.astype(np.int64))


def signatures(sets: ShingleSets, permutations: int = PERMUTATIONS) -> Signatures:
    """Return each text's smallest hashes, uint32 (n, permutations); all ones for an empty text.

    The share of equal entries of two rows estimates the Jaccard similarity of their sets, with a
    standard error of at most 1 / (2 sqrt(permutations)).
    """
    masks = np.random.default_rng(_SEED).integers(0, 2**64, size=permutations, dtype=np.uint64)
    result = np.full((len(sets), permutations), np.iinfo(np.uint32).max, dtype=np.uint32)
    filled = np.flatnonzero(sets.sizes)
    start = 0
    while start < len(filled):
        bound = sets.offsets[filled[start]] + _CHUNK_VALUES
        stop = max(start + 1, int(np.searchsorted(sets.offsets[filled + 1], bound, side="right")))
        chunk = filled[start:stop]
        low, high = sets.offsets[chunk[0]], sets.offsets[chunk[-1] + 1]
        values, firsts = sets.values[low:high], sets.offsets[chunk] - low
        for k, mask in enumerate(masks):
            hashed = (mix(values ^ mask) >> np.uint64(32)).astype(np.uint32)
            result[chunk, k] = np.minimum.reduceat(hashed, firsts)
        start = stop
    return result


def band_rows(threshold: float, permutations: int = PERMUTATIONS, recall: float = RECALL) -> int:
    """Return the most rows a band for which pairs at the threshold are found with this chance."""
    rows = 1
    while 1 - (1 - threshold ** (rows + 1)) ** (permutations // (rows + 1)) >= recall:
        rows += 1
    return rows


def candidate_pairs(
    a: Signatures, b: Signatures, rows: int, chunk_pairs: int = 2_000_000
) -> Iterator[tuple[PositionArray, PositionArray]]:
    """Yield (indices in a, indices in b) of pairs whose signatures agree in some band; each pair once."""
    yield from agreeing_pairs(band_keys(a, rows), band_keys(b, rows), chunk_pairs)


def agreeing_pairs(
    keys_a: BandKeys, keys_b: BandKeys, chunk_pairs: int = 2_000_000
) -> Iterator[tuple[PositionArray, PositionArray]]:
    """Yield (indices in a, indices in b) of pairs whose keys are the same in some band; each pair once."""
    for band in range(keys_a.shape[1]):
        order = np.argsort(keys_b[:, band], kind="stable")
        column = keys_b[order, band]
        queries = np.argsort(keys_a[:, band], kind="stable")
        left = np.searchsorted(column, keys_a[queries, band], side="left")
        count = np.searchsorted(column, keys_a[queries, band], side="right") - left
        hit = np.flatnonzero(count)
        ends = np.cumsum(count[hit])
        start = 0
        while start < len(hit):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + chunk_pairs, side="right")))
            part = hit[start:stop]
            i = np.repeat(queries[part], count[part])
            firsts = np.repeat(np.cumsum(count[part]) - count[part], count[part])
            j = order[np.repeat(left[part], count[part]) + np.arange(len(i)) - firsts]
            # A pair belongs to the first band it agrees in; later bands need no list of those seen.
            new = ~(keys_a[i, :band] == keys_b[j, :band]).any(axis=1)
            if new.any():
                yield i[new], j[new]
            start = stop


def jaccard(sets_a: ShingleSets, sets_b: ShingleSets, i: PositionArray, j: PositionArray) -> npt.NDArray[np.float64]:
    """Return |A and B| / |A or B| of each pair (i[k], j[k]), float64 in [0, 1]; 0 for two empty sets."""
    result = np.zeros(len(i), dtype=np.float64)
    for start in range(0, len(i), _CHUNK_PAIRS):
        part = slice(start, start + _CHUNK_PAIRS)
        owner_a, values_a = sets_a.take(i[part])
        owner_b, values_b = sets_b.take(j[part])
        owners = np.concatenate([owner_a, owner_b])
        distinct, dense = np.unique(np.concatenate([values_a, values_b]), return_inverse=True)
        keys = np.sort(owners * max(len(distinct), 1) + dense)
        twice = keys[1:][keys[1:] == keys[:-1]] // max(len(distinct), 1)
        common = np.bincount(twice, minlength=len(i[part]))
        union = sets_a.sizes[i[part]] + sets_b.sizes[j[part]] - common
        result[part] = common / np.maximum(union, 1)
    return result


def band_keys(signature: Signatures, rows: int) -> BandKeys:
    """Return one key a band, uint32 (n, bands): few keys are the same by chance, and those pairs are looked at too."""
    bands = signature.shape[1] // rows
    keys = np.zeros((len(signature), bands), dtype=np.uint64)
    for row in range(rows):
        keys = mix(keys + signature[:, row : bands * rows : rows].astype(np.uint64) + np.uint64(1))
    return (keys >> np.uint64(32)).astype(np.uint32)


def _whole(words: UintArray) -> int:
    """Return the hash of a whole short text, apart from that of any shorter or longer one."""
    value = np.array([len(words)], dtype=np.uint64)
    for word in words:
        value = mix(value * np.uint64(31) + word)
    return int(value[0])
