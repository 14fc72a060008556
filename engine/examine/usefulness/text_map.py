"""Lay texts out on a plane by meaning, for looking at; distances on it are not measurements."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

NEIGHBOURS = 15
MIN_DISTANCE = 0.1
LEAST = 5


def lay_out(embeddings: NDArray[np.float32], seed: int) -> NDArray[np.float64]:
    """Return two coordinates a text, float array (n, 2); one thread, so that a seed repeats exactly.

    Source: McInnes, Healy and Melville 2018 (UMAP), cosine distance.
    """
    if len(embeddings) < LEAST:
        return np.zeros((len(embeddings), 2))
    from umap import UMAP

    neighbours = min(NEIGHBOURS, len(embeddings) - 1)
    start = "random" if len(embeddings) < 4 * LEAST else "spectral"
    model = UMAP(
        n_components=2, n_neighbors=neighbours, min_dist=MIN_DISTANCE, metric="cosine", init=start,
        random_state=seed % 2**31, n_jobs=1,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        placed: NDArray[np.float64] = np.asarray(model.fit_transform(embeddings), np.float64)
    return placed
