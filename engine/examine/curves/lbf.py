"""ε–δ curves of any two output distributions: the logarithmic Bayes factor of each output, and how often it is large.

LBF(o) = ln Pr[M(X) = o] / Pr[M(Y) = o] is a privacy loss, so the curves are read off the privacy-loss distribution
of `engine.dp.accounting.pld`, as those of accountants are (Stomakhin 2025, Framework for Privacy-Preserving Synthesis
of Textual Data, University of Tartu; definitions 5, 7 and theorem 5).

Each point carries two failure probabilities. δ (strict) is max over both directions of Pr[LBF > ε] and is what
theorem 5 states. δ (standard) is the hockey-stick divergence that accountants state; it is never larger (lemma 3).
Only like is compared with like.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.dp.accounting.pld import Losses, PrivacyLoss
from engine.errors import InternalError, UserError

Floats = NDArray[np.float64]
# Gaps below this are rounding of logarithms, not different losses.
TIE = 1e-12
_EXACT_ATOMS = 200_000
_GRID_CELLS = 400_000


@dataclass(frozen=True)
class Curve:
    """Points of an ε–δ curve.

    Args:
        epsilon: float (n,), > 0, rising; the last may be infinite. One point (0, 0, 0) where nothing differs.
        delta: strict δ, Pr[LBF > ε] in the worse direction, in [0, 1].
        delta_standard: hockey-stick δ at the same ε, in [0, 1], at most `delta`.
        observed: what an attacker sees: one word, k words, an attack's score.
    """

    epsilon: Floats
    delta: Floats
    delta_standard: Floats
    observed: str = "one output"

    def __len__(self) -> int:
        return int(self.epsilon.size)

    def rows(self) -> list[dict[str, float | None]]:
        """Return the points as JSON-ready rows; an infinite ε is None."""
        return [
            {"epsilon": float(e) if math.isfinite(e) else None, "delta": float(d), "delta_standard": float(s)}
            for e, d, s in zip(self.epsilon, self.delta, self.delta_standard)
        ]


def loss_of_counts(
    x: ArrayLike,
    y: ArrayLike,
    *,
    shared: tuple[float, float] = (0.0, 0.0),
    totals: tuple[float, float] | None = None,
) -> PrivacyLoss:
    """Return the privacy loss of drawing one output from counts x against counts y.

    Args:
        x: non-negative counts or probabilities of the outputs under X, shape (n,). y: the same outputs under Y.
        shared: mass under X and Y of further outputs whose counts are equal on both sides. Their LBF is one
            constant, so they count as a single output with that ratio.
        totals: mass of X and of Y, default the sums.

    Returns:
        Losses of both directions, X against Y first. Equal losses are merged exactly: losses are computed from
        the ratio of counts, so equal ratios are equal floats.

    Raises:
        InternalError: lengths differ, a count is negative or not finite, or a side is empty.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise InternalError("x, y: counts of the same outputs are needed, one array each")
    if first.size and not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InternalError("x, y: counts must be finite")
    if first.size and min(first.min(), second.min()) < 0.0:
        raise InternalError("x, y: counts must not be negative")
    if shared[0] != shared[1]:
        raise InternalError("shared: outputs that nobody changed have equal counts on both sides")
    mass_x, mass_y = totals or (float(first.sum()) + shared[0], float(second.sum()) + shared[1])
    if not (mass_x > 0.0 and mass_y > 0.0):
        raise InternalError("x, y: both sides need at least one output")
    return PrivacyLoss(
        (_direction(first, second, shared[0], mass_x, mass_y), _direction(second, first, shared[1], mass_y, mass_x))
    )


def _direction(p: Floats, q: Floats, shared: float, mass_p: float, mass_q: float) -> Losses:
    """Return the losses of outputs drawn by p; counts are added before they are divided, which is exact."""
    both = (p > 0.0) & (q > 0.0)
    infinity = float(p[(p > 0.0) & (q == 0.0)].sum()) / mass_p
    ratios, weights = p[both] / q[both], p[both]
    if shared > 0.0:
        ratios, weights = np.append(ratios, 1.0), np.append(weights, shared)
    if not ratios.size:
        return Losses(np.zeros(1), np.zeros(1), infinity)
    distinct, place = np.unique(ratios, return_inverse=True)
    summed = np.bincount(place.ravel(), weights=weights, minlength=distinct.size)
    return Losses(np.log(distinct) + math.log(mass_q / mass_p), summed / mass_p, infinity)


def loss_of_outputs(x: Mapping[str, float], y: Mapping[str, float]) -> PrivacyLoss:
    """Return the privacy loss between two tables of output → count.

    Raises:
        UserError: a table is empty, or a count is negative or no number.
    """
    for name, table in (("x", x), ("y", y)):
        values = list(table.values())
        if any(isinstance(v, bool) or not isinstance(v, int | float) or not 0 <= v < math.inf for v in values):
            raise UserError(f"{name}: every count must be a number that is not negative; correct the table")
        if not sum(values) > 0:
            raise UserError(f"{name}: needs at least one output with a count above 0; got none")
    names = sorted(set(x) | set(y))
    return loss_of_counts([float(x.get(n, 0)) for n in names], [float(y.get(n, 0)) for n in names])


def curve(loss: PrivacyLoss, epsilons: Sequence[float] | None = None, observed: str = "one output") -> Curve:
    """Return the ε–δ curve of a privacy loss (theorem 5: ε fixed and above 0, datasets fixed).

    Args:
        epsilons: where to read it, each > 0; default every distinct |LBF|, from which any other point follows
            because δ changes nowhere else. An infinite ε closes the curve where an output is impossible on one side.

    Raises:
        UserError: an ε is not above 0.
    """
    if epsilons is None:
        grid = _thresholds(loss)
    else:
        grid = np.sort(np.asarray(epsilons, dtype=float))
        if not (grid > 0.0).all():
            raise UserError(f"epsilons: theorem 5 holds for ε > 0, got {float(grid.min()):g}; leave it out")
    strict = np.max([strict_tail(part, grid) for part in loss.strict or loss.directions], axis=0)
    standard = np.max([standard_tail(part, grid) for part in loss.directions], axis=0)
    return Curve(grid, strict, np.minimum(standard, strict), observed)


def _thresholds(loss: PrivacyLoss) -> Floats:
    """Return every distinct positive loss, and infinity where an output gives one side away."""
    parts = loss.strict or loss.directions
    used = np.concatenate([part.values[part.weights > 0.0] for part in parts])
    found = np.unique(used[used > TIE])
    if found.size:
        # of values that differ by rounding only, the largest: at it the whole group is no failure
        found = found[np.append(np.diff(found) > TIE, True)]
    if any(part.infinity > 0.0 for part in parts):
        found = np.append(found, math.inf)
    return found if found.size else np.zeros(1)


def strict_tail(losses: Losses, epsilons: Floats) -> Floats:
    """Return Pr[L > ε] at each ε; the chance of an infinite loss counts at every finite ε."""
    at = np.searchsorted(losses.values, epsilons + TIE, side="right")
    mass = np.append(np.cumsum(losses.weights[::-1])[::-1], 0.0)
    return np.where(np.isinf(epsilons), 0.0, np.clip(losses.infinity + mass[at], 0.0, 1.0))


def standard_tail(losses: Losses, epsilons: Floats) -> Floats:
    """Return E[max(0, 1 − e^(ε − L))] at each ε."""
    at = np.searchsorted(losses.values, epsilons + TIE, side="right")
    scaled = losses.weights * np.exp(-np.maximum(losses.values, -600.0))
    mass, weighed = (np.append(np.cumsum(part[::-1])[::-1], 0.0) for part in (losses.weights, scaled))
    finite = np.minimum(epsilons, 700.0)
    delta = losses.infinity + mass[at] - np.exp(finite) * weighed[at]
    return np.where(np.isinf(epsilons), 0.0, np.clip(delta, 0.0, 1.0))


def floor(loss: PrivacyLoss) -> float:
    """Return the least δ with a finite ε: the chance of an output that the other side never gives."""
    return max(part.infinity for part in loss.strict or loss.directions)


@dataclass(frozen=True)
class Composed:
    """Privacy loss of k independent observations.

    Args:
        loss: their privacy loss. count: k. rounding: by how much ε may be overstated, in nats (0: exact).
    """

    loss: PrivacyLoss
    count: int
    rounding: float

    def curve(self, epsilons: Sequence[float], what: str = "outputs") -> Curve:
        """Return both δs at the given ε."""
        return curve(self.loss, epsilons, f"{self.count} {what}")


def compose(loss: PrivacyLoss, count: int) -> Composed:
    """Return the loss of `count` observations drawn independently from the same side.

    Losses of independent outputs add up. Few distinct losses are added exactly; many are first rounded up to a
    grid, so both δs are upper bounds (see `engine.dp.accounting.pld`).

    Raises:
        UserError: count below 1.
    """
    if count < 1:
        raise UserError(f"count: at least 1 observation is needed, got {count}")
    if count == 1:
        return Composed(loss, 1, 0.0)
    most = max(part.values.size for part in loss.directions)
    if most**count <= _EXACT_ATOMS:
        return Composed(loss.compose(count), count, 0.0)
    span = max(float(np.ptp(part.values)) + float(np.abs(part.values).max()) for part in loss.directions)
    step = max(span / _GRID_CELLS, 1e-12)
    rounded = PrivacyLoss(tuple(part.rounded_up(step) for part in loss.directions))
    return Composed(rounded.compose(count), count, step * count)
