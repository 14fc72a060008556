"""How close each synthetic text comes to its nearest reference text, by cosine of embeddings.

Closeness alone is a debugging view, not a measure of privacy (Yao et al. 2025, arXiv 2505.01524): it
means something only beside the same number for text that was never used. A maximum grows with the size
of the set it is taken over, so both sets must be equally large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK = 512


def nearest(
    queries: NDArray[np.float32], reference: NDArray[np.float32], block: int = BLOCK
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return each query's highest cosine to a reference row, and that row's number.

    Args:
        queries: (n, d) unit rows.
        reference: (m, d) unit rows, m >= 1.
        block: queries multiplied at once; bounds memory at block x m numbers.
    """
    best = np.empty(len(queries), np.float32)
    where = np.empty(len(queries), np.int64)
    for start in range(0, len(queries), block):
        cosine = queries[start : start + block] @ reference.T  # (block, m)
        rows = np.argmax(cosine, axis=1)
        where[start : start + block] = rows
        best[start : start + block] = cosine[np.arange(len(rows)), rows]
    return np.clip(best, -1.0, 1.0), where
