"""Lay texts out on a plane by meaning, for looking at; distances on it are not measurements.

The plane is laid out once a corpus, from its private texts and its holdout alone, so that all runs are drawn on the
same one. Texts of a run are put in among them: each at the weighted mean of its nearest neighbours' places, with
weights that fall off as in UMAP's own graph (McInnes, Healy and Melville 2018, section 3.1). A text unlike all of
them lands among them all the same, so the map also carries the distance to the nearest one.
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.meaning.compiled import keep_compiled

Layout = Literal["umap", "tsne"]
NEIGHBOURS = 15
MIN_DISTANCE = 0.1
LEAST = 5
PERPLEXITY = 30.0
SAME = 1e-6  # cosine distance below which two texts stand at one place


def lay_out(embeddings: NDArray[np.float32], seed: int, layout: Layout = "umap") -> NDArray[np.float64]:
    """Return two coordinates a text, float array (n, 2); one thread, so that a seed repeats exactly.

    Source: McInnes, Healy and Melville 2018 (UMAP); van der Maaten and Hinton 2008 (t-SNE); both by cosine distance.
    """
    if len(embeddings) < LEAST:
        return np.zeros((len(embeddings), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if layout == "tsne":
            from sklearn.manifold import TSNE

            least = min(PERPLEXITY, (len(embeddings) - 1) / 3)
            plane = TSNE(2, perplexity=least, metric="cosine", init="random", random_state=seed % 2**31, n_jobs=1)
            return np.asarray(plane.fit_transform(embeddings), np.float64)
        from umap import UMAP

        keep_compiled()
        model = UMAP(
            n_components=2, n_neighbors=min(NEIGHBOURS, len(embeddings) - 1), min_dist=MIN_DISTANCE, metric="cosine",
            init="random" if len(embeddings) < 4 * LEAST else "spectral", random_state=seed % 2**31, n_jobs=1,
        )  # fmt: skip
        return np.asarray(model.fit_transform(embeddings), np.float64)


def put_in(
    embeddings: NDArray[np.float32], reference: NDArray[np.float32], laid_out: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return where texts lie among texts that are laid out already, float array (n, 2).

    Args:
        embeddings: (n, d), unit rows. reference: (m, d), unit rows. laid_out: (m, 2), their places.
    """
    if not len(reference) or not len(embeddings):
        return np.zeros((len(embeddings), 2))
    count = min(NEIGHBOURS, len(reference))
    placed = np.empty((len(embeddings), 2))
    for start in range(0, len(embeddings), 500):
        rows = slice(start, start + 500)
        apart = np.maximum(0.0, 1.0 - embeddings[rows].astype(np.float64) @ reference.T.astype(np.float64))
        near = np.argpartition(apart, count - 1, axis=1)[:, :count]
        distance = np.take_along_axis(apart, near, axis=1)
        first = distance.min(axis=1, keepdims=True)
        beyond = distance - first
        weight = np.exp(-beyond / np.maximum(beyond.mean(axis=1, keepdims=True), 1e-12))
        weight = np.where(first < SAME, distance < SAME, weight)  # a copy lies where its original does
        placed[rows] = (weight[..., None] * laid_out[near]).sum(axis=1) / weight.sum(axis=1, keepdims=True)
    return placed
