"""Privacy-loss distributions: the one currency of mechanisms, curves of outputs and attacks.

The privacy loss of an output o is ln P(o)/Q(o) where o is drawn from P. Both δs, composition and posteriors
follow from its distribution (Sommer, Meiser and Mohammadi 2019; Koskela, Jälkö and Honkela 2020):
standard δ(ε) = E[max(0, 1 − e^(ε − L))], strict δ(ε) = Pr[L > ε], composition = sum of independent losses.
Numerical distributions round losses on a grid: up (an upper bound of both δs), down (a lower bound), or by
connecting the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022: tight upper bound of the standard δ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.dp.accounting import closed_form
from engine.errors import InternalError

_TIE = 1e-12
_TAIL = 1e-15
_MOST_ATOMS = 4_000_000
_ATOM_STEP = 1e-5


@dataclass(frozen=True)
class Losses:
    """Privacy losses of one direction.

    Args:
        values: losses in nats, ascending, shape (n,).
        weights: their probabilities, shape (n,); with `infinity` they add up to at most 1.
        infinity: probability of an output that the neighbour never gives.
        step: grid step where `values` are consecutive multiples of it, else None.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    infinity: float = 0.0
    step: float | None = None

    @cached_property
    def _tails(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Σ p and Σ p e^(−l) over losses from each index on, with a final zero."""
        scaled = self.weights * np.exp(-np.maximum(self.values, -600.0))
        return tuple(np.append(np.cumsum(part[::-1])[::-1], 0.0) for part in (self.weights, scaled))  # type: ignore[return-value]

    def delta(self, epsilon: float) -> float:
        """Return E[max(0, 1 − e^(ε − L))]."""
        at = int(np.searchsorted(self.values, epsilon, side="right"))
        mass, scaled = self._tails
        return min(1.0, max(0.0, self.infinity + float(mass[at]) - math.exp(min(epsilon, 700.0)) * float(scaled[at])))

    def strict_delta(self, epsilon: float) -> float:
        """Return Pr[L > ε]; losses within 1e-12 of ε count as equal."""
        at = int(np.searchsorted(self.values, epsilon + _TIE, side="right"))
        return min(1.0, max(0.0, self.infinity + float(self._tails[0][at])))

    def compose(self, other: Losses) -> Losses:
        """Return the losses of both outputs together."""
        infinity = self.infinity + other.infinity - self.infinity * other.infinity
        if self.step is not None and self.step == other.step:
            return _on_grid(self, other, infinity)
        if self.values.size * other.values.size > _MOST_ATOMS:
            step = self.step or other.step or _ATOM_STEP
            return _on_grid(self.rounded_up(step), other.rounded_up(step), infinity)
        values = np.add.outer(self.values, other.values).ravel()
        weights = np.multiply.outer(self.weights, other.weights).ravel()
        return atoms(values, weights, infinity)

    def rounded_up(self, step: float) -> Losses:
        """Return losses rounded up to multiples of a step: both δs are upper bounds afterwards."""
        if self.step == step:
            return self
        index = np.ceil(self.values / step - 1e-9).astype(np.int64)
        weights = np.bincount(index - index.min(), weights=self.weights).astype(np.float64)
        return grid(int(index.min()), weights, self.infinity, step)


def atoms(values: ArrayLike, weights: ArrayLike, infinity: float = 0.0) -> Losses:
    """Return losses of finitely many outputs, equal ones merged."""
    distinct, place = np.unique(np.round(np.asarray(values, dtype=float), 13), return_inverse=True)
    mass = np.bincount(place.ravel(), weights=np.asarray(weights, dtype=float), minlength=distinct.size)
    return Losses(distinct, mass.astype(np.float64), infinity)


def grid(lower: int, weights: NDArray[np.float64], infinity: float, step: float) -> Losses:
    """Return losses at (lower, lower + 1, …) × step."""
    values = ((lower + np.arange(weights.size)) * step).astype(np.float64)
    return Losses(values, np.maximum(weights, 0.0), infinity, step)


def _on_grid(left: Losses, right: Losses, infinity: float) -> Losses:
    from scipy.signal import fftconvolve

    step = left.step or _ATOM_STEP
    if min(left.weights.size, right.weights.size) <= 64:
        weights = np.convolve(left.weights, right.weights)
    else:
        weights = np.maximum(fftconvolve(left.weights, right.weights), 0.0)
    lower = round(left.values[0] / step) + round(right.values[0] / step)
    # Mass that is cut goes where it can only raise δ: to infinity above, to the lowest kept loss below.
    first = int(np.searchsorted(np.cumsum(weights), _TAIL))
    last = weights.size - int(np.searchsorted(np.cumsum(weights[::-1]), _TAIL))
    first = min(first, weights.size - 1)
    last = max(last, first + 1)
    kept = weights[first:last].copy()
    kept[0] += float(weights[:first].sum())
    return grid(lower + first, kept, min(1.0, infinity + float(weights[last:].sum())), step)


@dataclass(frozen=True)
class PrivacyLoss:
    """Losses in each direction (a unit removed, a unit added), the worse of which counts.

    Args:
        directions: distributions for the standard δ. strict: distributions for Pr[loss > ε], where rounding
            calls for others; None: the same ones.
    """

    directions: tuple[Losses, ...]
    strict: tuple[Losses, ...] | None = None

    def delta(self, epsilon: float) -> float:
        """Return the hockey-stick δ at ε, the worse direction."""
        return max(losses.delta(epsilon) for losses in self.directions)

    def strict_delta(self, epsilon: float) -> float:
        """Return Pr[privacy loss > ε], the worse direction."""
        return max(losses.strict_delta(epsilon) for losses in self.strict or self.directions)

    def epsilon(self, delta: float, strict: bool = False) -> float:
        """Return the smallest ε >= 0 whose δ is at most `delta`; infinite where none is."""
        used = (self.strict or self.directions) if strict else self.directions
        if max(losses.infinity for losses in used) > delta:
            return math.inf
        if strict:
            return max(_strict_epsilon(losses, delta) for losses in used)
        return closed_form.smallest(lambda value: self.delta(value) <= delta)

    def compose(self, other: PrivacyLoss | int) -> PrivacyLoss:
        """Return the loss of both releases together, or of k equal ones."""
        if isinstance(other, int):
            return _repeat(self, other)
        pairs = zip(self.directions, other.directions, strict=True)
        strict = None
        if self.strict is not None or other.strict is not None:
            ours, theirs = self.strict or self.directions, other.strict or other.directions
            strict = tuple(a.compose(b) for a, b in zip(ours, theirs, strict=True))
        return PrivacyLoss(tuple(a.compose(b) for a, b in pairs), strict)


def _strict_epsilon(losses: Losses, delta: float) -> float:
    """Return the smallest ε >= 0 with Pr[L > ε] <= δ: one of the losses, or zero."""
    above = losses.infinity + losses._tails[0][1:]
    holds = np.flatnonzero(above <= delta + 1e-15)
    return max(0.0, float(losses.values[holds[0]])) if holds.size else math.inf


def _repeat(loss: PrivacyLoss, count: int) -> PrivacyLoss:
    if count < 1:
        raise InternalError(f"count: must be at least 1, got {count}")
    result: PrivacyLoss | None = None
    power = loss
    while count:
        if count & 1:
            result = power if result is None else result.compose(power)
        count >>= 1
        if count:
            power = power.compose(power)
    assert result is not None
    return result
