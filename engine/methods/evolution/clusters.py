"""Coarse clusters of public candidates, so that few noisy counts stand for many texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_TURNS = 15


def cluster(embeddings: NDArray[np.float32], groups: Sequence[str] | None, clusters: int) -> NDArray[np.int64]:
    """Return a cluster number a candidate, 0 .. k − 1 without gaps; no cluster spans two groups.

    Args:
        embeddings: float32 (n, d) of unit rows. groups: one name a row, or None. clusters: how many in all.
    """
    names = ["" for _ in embeddings] if groups is None else list(groups)
    result = np.zeros(len(names), dtype=np.int64)
    start = 0
    distinct = sorted(set(names))
    for name in distinct:
        rows = np.array([i for i, other in enumerate(names) if other == name])
        wanted = max(1, min(round(clusters * len(rows) / len(names)), len(rows)))
        _, own = np.unique(nearest_centres(embeddings[rows], wanted), return_inverse=True)
        result[rows] = own + start
        start += int(own.max()) + 1
    return result


def nearest_centres(points: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return spherical k-means clusters from farthest-first centres; the same points give the same clusters."""
    centres = [points.mean(axis=0)]
    near = points @ centres[0]
    chosen: list[int] = []
    for _ in range(k):
        chosen.append(int(near.argmin() if chosen else near.argmax()))
        similarity = points @ points[chosen[-1]]
        near = similarity if len(chosen) == 1 else np.maximum(near, similarity)
    means = points[chosen].astype(np.float64)
    own = np.zeros(len(points), dtype=np.int64)
    for _ in range(_TURNS):
        found = (points @ means.T.astype(np.float32)).argmax(axis=1)
        if (found == own).all():
            break
        own = found.astype(np.int64)
        for c in range(k):
            rows = points[own == c]
            if len(rows):
                mean = rows.sum(axis=0)
                means[c] = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return own


def spread(votes: NDArray[np.float64], parts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a cluster's votes split evenly over its candidates, float64 (n,)."""
    sizes = np.bincount(parts, minlength=len(votes))
    return np.asarray(votes, dtype=np.float64)[parts] / np.maximum(sizes, 1)[parts]
