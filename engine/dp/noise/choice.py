"""Points of units for several sets of texts: who stands nearest to each unit, by rank.

Each unit orders the sets by the sum, over its records, of the cosine to the nearest text of a set, and gives a set one
point for every other set that it beats and half a point at a tie (Borda count), so that K sets get 0 to K − 1 points
from a unit, counted here in halves. Ranks weigh a small lead that most units agree on more than a large one of a few,
and a set that stands there twice takes no points from itself, as it would if each unit had one vote.

Cosines are multiples of 2^-22 (`engine.dp.noise.votes`), their sums exact, points whole numbers: a unit's points depend
on its own records alone, its going takes 0 to 2 (K − 1) halves from each sum and adds to none, and its replacement
changes each by at most 2 (K − 1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise import votes
from engine.errors import InternalError


def points(
    records: NDArray[np.float32], unit_of: NDArray[np.int64], sets: Sequence[NDArray[np.float32]]
) -> NDArray[np.int64]:
    """Return the half points of each set, shape (K,).

    Args:
        records: (n, d) and each of `sets`: (m, d), outputs of `votes.quantised`. unit_of: each record's unit, (n,).
    """
    if len(sets) < 2 or any(not len(one) for one in sets):
        raise InternalError("a choice needs at least two sets with texts")
    if not len(records):
        return np.zeros(len(sets), np.int64)
    units, own = np.unique(unit_of, return_inverse=True)
    near = np.zeros((len(units), len(sets)))
    for column, texts in enumerate(sets):
        best = np.empty(len(records))
        for part, block in votes.similarity_blocks(records, texts):
            best[part] = block.max(axis=1)
        near[:, column] = np.bincount(own, weights=best, minlength=len(units))
    total = np.zeros(len(sets), np.int64)
    for column in range(len(sets)):
        beaten = near[:, column, None] > near
        level = near[:, column, None] == near
        total[column] = 2 * int(beaten.sum()) + int(level.sum()) - len(units)  # nobody is level with itself
    return total


def most(sets: int) -> float:
    """Return the most half points that one unit can give or take."""
    return 2.0 * (sets - 1)


def moved(sets: int, adjacency: str) -> float:
    """Return the sensitivity that noise of scale 2Δ/ε needs: half of what one unit moves two sets against each other.

    A unit whose data go takes points from every set and gives none, so that two sets move against each other by at
    most what it gave the first of them; one that is replaced moves them by that twice. Sums that all move in one
    direction need half the noise (McSherry and Talwar 2007, theorem 6, on the sums' range; McKenna and Sheldon 2020,
    Permute-and-Flip, for exponential noise).
    """
    return most(sets) * (0.5 if adjacency == "zero-out" else 1.0)
