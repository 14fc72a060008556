"""Whether synthetic text of X differs from that of X ∖ U by more than trainings of one data set differ.

If U left no mark, all trainings are alike, and which of them are called X is a matter of labels. So the excess over
the null curve is computed again for every way (or many random ones) of naming as many trainings X ∖ U, and the p value
is the share of namings that give at least what was seen.

Source: Phipson and Smyth 2010 (permutation p values are never zero); the range over splits of the same few trainings
is no test, since splits share their texts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.examine.curves.lbf import Floats

NAMINGS = 499
SPLITS = 10
LEVEL = 0.05


@dataclass(frozen=True)
class Chance:
    """The excess of standard δ at one ε.

    Args:
        excess: X against X ∖ U minus X against X, means over splits. p: share of namings with at least as much, the
            one that was seen included. namings: how many were tried; 1 / namings is the least p there is.
    """

    excess: float
    p: float
    namings: int

    @property
    def verdict(self) -> str:
        """Return `leakage`, `chance`, or `too few` where no excess could pass."""
        if self.p <= LEVEL:
            return "leakage"
        return "too few" if 1.0 / self.namings > LEVEL else "chance"


def by_training(counts: NDArray[np.int64], trainings: Sequence[object]) -> Floats:
    """Return the mean frequencies of each training's generations, shape (t, g).

    Args:
        counts: of each generation, shape (r, g), none without words. trainings: which training each comes from.
    """
    names = np.array([repr(name) for name in trainings])
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.array([share[names == name].mean(axis=0) for name in dict.fromkeys(names.tolist())])


def excess_by_chance(x: Floats, y: Floats, epsilon: float, seed: int = 0) -> Chance | None:
    """Return the excess and its p value; None where X has fewer than two trainings.

    Args:
        x: frequencies of each training on X, shape (t, g). y: of each on X ∖ U, shape (s, g).
    """
    half = min(len(x) // 2, len(y))
    if half < 1:
        return None
    rng = np.random.default_rng([seed, 7])
    every = np.concatenate([x, y])
    observed = tuple(range(len(x), len(every)))
    tried = namings(len(every), observed, rng)
    found = np.array([_excess(every, naming, half, epsilon, rng) for naming in tried])
    seen = found[tried.index(observed)]
    return Chance(float(seen), float(np.mean(found >= seen - 1e-12)), len(tried))


def namings(number: int, observed: tuple[int, ...], rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return ways to name as many of `number` trainings X ∖ U as were, the observed one among them: all, or many."""
    size = len(observed)
    if math.comb(number, size) <= NAMINGS:
        return list(itertools.combinations(range(number), size))
    drawn = {tuple(sorted(rng.choice(number, size, replace=False).tolist())) for _ in range(NAMINGS - 1)}
    return [observed, *(drawn - {observed})]


def _excess(every: Floats, named: tuple[int, ...], half: int, epsilon: float, rng: np.random.Generator) -> float:
    rest = np.setdiff1d(np.arange(len(every)), named)
    total = 0.0
    for _ in range(SPLITS):
        mine, theirs = rng.permutation(rest), rng.permutation(named)
        first, second, other = (
            every[part].mean(axis=0) for part in (mine[:half], mine[half : 2 * half], theirs[:half])
        )
        total += hockey_stick(first, other, epsilon) - hockey_stick(first, second, epsilon)
    return total / SPLITS


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    """Return the standard δ between two distributions at ε, in the worse direction."""
    grown = math.exp(epsilon)
    return float(max(np.maximum(p - grown * q, 0.0).sum(), np.maximum(q - grown * p, 0.0).sum()))
