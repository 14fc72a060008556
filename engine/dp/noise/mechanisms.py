"""Noise: every draw that protects someone, sampled exactly from OS entropy.

Floating-point noise on floating-point values gives itself away in the last bits (Mironov 2012). Statistics are
therefore integers on a grid of 2^-20, and noise is discrete Gaussian (Canonne, Kamath and Steinke 2020) or
discrete Laplace on that grid, sampled by OpenDP. Noise is at least 2^10 grid steps wide, where the discrete
curves equal the continuous ones far below accounting's own error. There is no seed anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InternalError

if TYPE_CHECKING:
    from opendp.mod import Measurement

GRID_BITS = 20
GRID = 2**GRID_BITS
_LEAST_STEPS = 2**10
_CHUNK = 64


def on_grid(values: ArrayLike) -> NDArray[np.int64]:
    """Return values as multiples of the grid step; integers are exact, others are rounded."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all() or np.abs(array).max(initial=0.0) > 2.0**32:
        raise InternalError("a statistic is not finite, or too large for exact noise")
    return np.rint(array * GRID).astype(np.int64)


def gaussian(values: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Return values with Gaussian noise of standard deviation sigma, same shape."""
    return _noisy(values, sigma, "gaussian")


def laplace(values: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Return values with Laplace noise of this scale, same shape."""
    return _noisy(values, scale, "laplace")


def _noisy(values: ArrayLike, scale: float, kind: str) -> NDArray[np.float64]:
    steps = on_grid(values)
    drawn = _measurement(kind, _steps(scale))([int(step) for step in steps.ravel()])
    return (np.asarray(drawn, dtype=np.float64) / GRID).reshape(steps.shape)


def _steps(scale: float) -> float:
    if not drawable(scale):
        raise InternalError(f"noise scale {scale:g} is out of range")
    return scale * GRID


def drawable(scale: float) -> bool:
    """Return whether noise of this scale can be drawn exactly: from 2^-10 to 2^40 in the statistic's unit."""
    return _LEAST_STEPS <= scale * GRID < 2.0**60


@lru_cache(maxsize=64)
def _measurement(kind: str, steps: float) -> Measurement:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "gaussian":
        return (domain, dp.l2_distance(T="f64")) >> dp.m.then_gaussian(scale=steps)
    if kind == "laplace":
        return (domain, dp.l1_distance(T="i64")) >> dp.m.then_laplace(scale=steps)
    space = (domain, dp.linf_distance(T="i64"))
    return space >> dp.m.then_noisy_max(dp.max_divergence(), scale=steps)


def noisy_argmax(utilities: ArrayLike, epsilon: float, sensitivity: float = 1.0) -> NDArray[np.int64]:
    """Return, for each row, the index of the noisy maximum: the exponential mechanism, ε per row.

    Args:
        utilities: shape (n, K). epsilon: pure loss of one row's choice. sensitivity: largest change of a utility.

    Source: McSherry and Talwar 2007, theorem 6; OpenDP's `make_noisy_max` (scale 2 Δ / ε).
    """
    choose = _measurement("max", _steps(2.0 * sensitivity / epsilon))
    return np.array([choose([int(step) for step in row]) for row in on_grid(utilities)], dtype=np.int64)


def gaussian_argmax(utilities: ArrayLike, sigma: float) -> NDArray[np.int64]:
    """Return, for each row, the index of the maximum after Gaussian noise on each utility."""
    return np.argmax(gaussian(utilities, sigma), axis=1).astype(np.int64)


def first_at_most(counts: Iterable[int], threshold: float, epsilon: float, sensitivity: float = 1.0) -> int | None:
    """Return the index of the first noisy count at or below the noisy threshold, or None; then stop for good.

    AboveThreshold with one answer, mirrored: Lap(2Δ/ε) on the threshold, drawn once, and fresh Lap(4Δ/ε) on each
    count; only the position is released (Dwork and Roth 2014, algorithm 1; Lyu, Su and Li 2017, algorithm 1, c = 1).

    Args:
        counts: answers to queries, each changing by at most `sensitivity`. threshold: public. epsilon: pure loss
            of the whole search, however many queries are asked.
    """
    level = float(laplace([threshold], 2.0 * sensitivity / epsilon)[0])
    remaining, asked = iter(counts), 0
    while chunk := list(islice(remaining, _CHUNK)):
        found = np.flatnonzero(laplace(chunk, 4.0 * sensitivity / epsilon) <= level)
        if found.size:
            return asked + int(found[0])
        asked += len(chunk)
    return None


def poisson_sample(units: int, probability: float) -> NDArray[np.bool_]:
    """Return which units take part, each on its own with this probability, from OS entropy.

    Args:
        units: how many. probability: in (0, 1]; kept to 53 bits, rounded down.
    """
    if probability >= 1.0:
        return np.ones(units, dtype=np.bool_)
    draws = np.frombuffer(os.urandom(8 * units), dtype="<u8") >> np.uint64(11)
    return draws < np.uint64(int(probability * 2.0**53))
