"""The Fréchet distance of two sets of embeddings along the principal axes of one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 64


def principal_axes(rows: NDArray[np.float32], most: int) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return the first principal axes, float array (k, d) with k = min(64, `most`), and the mean row."""
    centre = rows.mean(axis=0)
    _, _, axes = np.linalg.svd((rows - centre).astype(np.float64), full_matrices=False)
    return axes[: max(1, min(DIMENSIONS, most))], centre


def frechet(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return the Fréchet distance of two samples of at least two rows: 0 where mean and covariance are equal.

    Source: Heusel et al. 2017, equation 6.
    """
    covariance, other = np.atleast_2d(np.cov(one, rowvar=False)), np.atleast_2d(np.cov(two, rowvar=False))
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    cross = np.linalg.eigvalsh(root @ other @ root)
    distance = np.square(one.mean(axis=0) - two.mean(axis=0)).sum()
    trace = np.trace(covariance) + np.trace(other)
    return float(max(0.0, distance + trace - 2.0 * np.sqrt(np.maximum(cross, 0.0)).sum()))
