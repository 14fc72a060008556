"""Guess a missing attribute of a private record from the synthetic records most like the rest of it.

The attacker knows a record but for one attribute, finds the k synthetic records whose words are most like it (TF-IDF,
cosine), and takes the attribute most of them have, each weighted by the cube of its likeness, so that a near copy
outvotes the rest.

Sources: Giomi et al. 2023 (A unified framework for quantifying privacy risk in synthetic data), inference risk: nearest
synthetic record, with control records and a naive attack; Yeom et al. 2018, section 5 (attribute inference).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NEAREST = 5  # k
POWER = 3
UNKNOWN = -1


@dataclass(frozen=True)
class Guesses:
    """What was guessed of n records.

    Args:
        values: int (n,), the value guessed. votes: float in [0, 1], its share of the weights of the nearest records.
        likeness: float in [0, 1], cosine of the nearest record.
    """

    values: NDArray[np.int64]
    votes: NDArray[np.float64]
    likeness: NDArray[np.float64]


def weights(released: csr_matrix) -> NDArray[np.float64]:
    """Return the weight of each word, float (words,): rarer in the released text = higher (smoothed IDF)."""
    holds = np.bincount(released.indices, minlength=released.shape[1])
    return np.asarray(np.log((1.0 + released.shape[0]) / (1.0 + holds)) + 1.0, np.float64)


def weighted(records: csr_matrix, weight: NDArray[np.float64]) -> csr_matrix:
    """Return rows of length 1: words present x weight, (n, words)."""
    made = records.astype(np.float64)
    made.data = weight[made.indices]
    sizes = np.diff(made.indptr)
    rows = np.repeat(np.arange(made.shape[0]), sizes)
    lengths = np.sqrt(np.bincount(rows, weights=made.data**2, minlength=made.shape[0]))
    made.data /= np.repeat(np.maximum(lengths, 1e-12), sizes)
    return made


def guess(targets: csr_matrix, released: csr_matrix, known: NDArray[np.int64], nearest: int = NEAREST) -> Guesses:
    """Return the attribute guessed of each target.

    Args:
        targets, released: rows of length 1, (n, words) and (m, words).
        known: int (m,), the released records' attribute, 0 or more, or `UNKNOWN`; at least one is known.
        nearest: k.
    """
    rows = np.flatnonzero(known >= 0)
    values = known[rows]
    likeness = np.asarray((targets @ released[rows].T).todense(), np.float64)  # (n, known records)
    k = min(nearest, len(rows))
    order = np.argsort(-likeness, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(likeness, order, axis=1)
    votes = np.zeros((len(likeness), int(values.max()) + 1))
    # a share of everybody's values decides where no word is shared
    votes += 1e-9 * np.bincount(values, minlength=votes.shape[1])[None, :] / len(values)
    np.add.at(votes, (np.arange(len(likeness))[:, None], values[order]), near**POWER)
    best = np.argmax(votes, axis=1)
    share = votes[np.arange(len(best)), best] / votes.sum(axis=1)
    return Guesses(best.astype(np.int64), share, near[:, 0])
