"""Probe the released text for a person's words.

The probe A_w asks whether one word stands in an output (Stomakhin 2025, section 3.8). An attacker who asks it of all
words of a person's record, of one synthetic record after the other, and knows how common words are, adds up the
logarithms of the likelihood ratio of equation 3 (answers taken as independent):

    word stands in the synthetic record:  log((r + (1 - r) q) / q)
    word does not:                        log(1 - r)

with q the share of other people's texts that hold the word, and r the chance that a word of a record stands in a
synthetic record made from it. The highest sum over synthetic records is the record's score: a rare word counts for
much, a common one for little, and words met together for more than words met apart. Higher = more member-like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.examine.persons.profiles import by_unit

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

REACHES = 0.5  # r
BLOCK = 1024


def rarity(
    records: csr_matrix, codes: NDArray[np.int64], holds: NDArray[np.float64], texts: int
) -> NDArray[np.float64]:
    """Return q of each entry of `records`: the share of other people's texts that hold the word, never 0.

    Args:
        records: 1 where a word stands in a record, (n, words).
        codes: int (n,), whose record each is; all of that person's records are here.
        holds: float (words,), texts that hold a word; texts: how many there are. The records are among them.
    """
    units = int(codes.max(initial=-1)) + 1
    own = by_unit(records, codes, units)
    own.sort_indices()
    width = records.shape[1]
    keys = np.repeat(np.arange(units), np.diff(own.indptr)) * width + own.indices
    unit = np.repeat(codes, np.diff(records.indptr))
    here = own.data[np.searchsorted(keys, unit * width + records.indices)]
    sizes = np.bincount(codes, minlength=units)
    others = np.maximum(holds[records.indices] - here, 0.0)
    return np.asarray((others + 0.5) / (np.maximum(texts - sizes[unit], 0) + 1.0), np.float64)


def probe(
    records: csr_matrix,
    released: csr_matrix,
    shares: NDArray[np.float64],
    after: Callable[[int, int], None] = lambda done, total: None,
    reaches: float = REACHES,
) -> NDArray[np.float64]:
    """Return each record's highest summed log likelihood ratio over synthetic records, float (n,).

    Args:
        records: 1 where a word stands in a private record, (n, words).
        released: 1 where it stands in a synthetic one, (m, words), m >= 1.
        shares: float, q of each entry of `records`, in its order, in (0, 1].
        after: told (done, total) a block; may raise to stop.
        reaches: r, in (0, 1).
    """
    weighted = records.astype(np.float32)
    weighted.data = (np.log((reaches + (1 - reaches) * shares) / shares) - np.log1p(-reaches)).astype(np.float32)
    turned = released.astype(np.float32).T.tocsr()
    size = records.shape[0]
    best = np.empty(size)
    for start in range(0, size, BLOCK):
        after(start, size)
        together = weighted[start : start + BLOCK] @ turned
        best[start : start + BLOCK] = together.max(axis=1).toarray().ravel() if together.shape[1] else 0.0
    after(size, size)
    return best + np.diff(records.indptr) * np.log1p(-reaches)
