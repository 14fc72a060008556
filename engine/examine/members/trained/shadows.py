"""Shadow models of a model trained on synthetic text, "model-only": only the last training is run again.

The release is what it is: the method that wrote it is not run again, and no private record is drawn by a coin. Each
synthetic text is in exactly half of the shadow models. A private record is tested like this: if it was used, what it
left behind stands most likely in the synthetic text nearest to it; the shadow models that were trained without that
text show how likely the record is without it (out). Every private record is treated alike, whether it was used or not.
Weaker than shadows of the whole pipeline, whose coins decide which private records are used; said wherever a number
of it is shown.
Source: Carlini et al. 2022, section IV (each record in half of the models).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MODEL_ONLY = (
    "model-only: the method was not run again; each synthetic text is in half of the shadow models, and a record is "
    "judged by those trained without the synthetic text nearest to it"
)
_BLOCK = 512


def balanced_coins(models: int, texts: Sequence[str], seed: int) -> NDArray[np.bool_]:
    """Return which model is trained on which text, bool (models, n): each in half of them, equal texts alike.

    Args:
        models: even. texts: (n,), at least two different ones.
    """
    distinct, code = np.unique(np.array([str(text) for text in texts], dtype=object).astype(str), return_inverse=True)
    rng = np.random.default_rng(seed)
    coins = np.zeros((models, len(distinct)), bool)
    half = models // 2
    # A text and the next one in a random order share a deal and its opposite: every model gets about half of all.
    order = rng.permutation(len(distinct))
    for at in range(0, len(order), 2):
        drawn = rng.permutation(models)[:half]
        coins[drawn, order[at]] = True
        if at + 1 < len(order):
            coins[:, order[at + 1]] = ~coins[:, order[at]]
    found: NDArray[np.bool_] = coins[:, code]
    return found


def nearest_text(
    private: Sequence[NDArray[np.int64]], synthetic: Sequence[NDArray[np.int64]], vocabulary: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the row of the synthetic text nearest to each private one, and the cosine of their weighted tokens.

    Weights are those of the synthetic texts alone (log(1 + n / texts with the token)), pairs of tokens included.
    """
    from scipy.sparse import csr_matrix

    tables = [_pairs(rows, vocabulary) for rows in (private, synthetic)]
    known = np.unique(tables[1][1])
    weight = np.zeros(len(known))
    matrices = []
    for keyed, rows in zip(reversed(tables), (synthetic, private), strict=True):
        owner, keys = keyed
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        seen = known[at] == keys
        table = csr_matrix((np.ones(int(seen.sum())), (owner[seen], at[seen])), shape=(len(rows), len(known)))
        table.sum_duplicates()
        if not weight.any():
            weight = np.log1p(len(rows) / np.bincount(table.indices, minlength=len(known)))
        table.data = (1 + np.log(table.data)) * weight[table.indices]
        norms = np.sqrt(np.asarray(table.multiply(table).sum(axis=1))).ravel()
        matrices.append(csr_matrix(table.multiply(1.0 / np.maximum(norms, 1e-12)[:, None])))
    best, cosine = np.zeros(len(private), np.int64), np.zeros(len(private))
    for start in range(0, len(private), _BLOCK):
        near = np.asarray((matrices[1][start : start + _BLOCK] @ matrices[0].T).todense())
        best[start : start + _BLOCK] = near.argmax(axis=1)
        cosine[start : start + _BLOCK] = near.max(axis=1)
    return best, cosine


def _pairs(rows: Sequence[NDArray[np.int64]], vocabulary: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (row, key) of every token and every pair of neighbours."""
    singles = [(np.full(len(row), i), row) for i, row in enumerate(rows)]
    doubles = [(np.full(max(0, len(row) - 1), i), (row[:-1] + 1) * vocabulary + row[1:]) for i, row in enumerate(rows)]
    owners, keys = zip(*singles, *doubles, strict=True)
    return np.concatenate(owners).astype(np.int64), np.concatenate(keys).astype(np.int64)
