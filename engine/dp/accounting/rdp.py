"""Rényi differential privacy at integer orders, in closed form: the cross-check, and the ledger's currency.

Sources: Mironov 2017 (Rényi Differential Privacy, table II); Mironov, Talwar and Zhang 2019 (Rényi Differential
Privacy of the Sampled Gaussian Mechanism, section 3.3); Bun and Steinke 2016 (zCDP).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import gammaln, logsumexp

from engine.dp.accounting.closed_form import rdp_to_epsilon, zcdp_epsilon
from engine.dp.events import Event, acting, group_factor

ORDERS: tuple[int, ...] = (*range(2, 65), *range(68, 129, 4), *range(144, 513, 16), 1024, 2048, 4096, 16384, 65536)
_QUICK = tuple(order for order in ORDERS if order <= 512)
_MOST_INTEGRATED = 512
_GRID_POINTS = 4001


def rdp(event: Event, order: float, group: int = 1) -> float:
    """Return the Rényi divergence bound of an event (all its `count` releases) at an order.

    Args:
        event: what was released. order: α > 1; integers have closed forms throughout.
        group: how many units change at once, >= 1.
    """
    k = group_factor(group)
    if not acting([event]):
        return 0.0
    if event.type == "zcdp":
        return event.count * k * k * float(event.rho or 0.0) * order
    if event.type == "gaussian":
        return event.count * _gaussian(event, order, k)
    loss = k * float(event.epsilon or 0.0)
    return event.count * (_laplace(loss, order) if event.type == "laplace" else _pure(loss, order))


def total_rdp(events: Sequence[Event], order: float, group: int = 1) -> float:
    """Return the sum over events: Rényi divergence bounds add up at a fixed order."""
    return sum(rdp(event, order, group) for event in events)


def added_delta(events: Sequence[Event], group: int = 1) -> float:
    """Return the failure probability that events bring along, before any conversion.

    For a group of k units a chain of k neighbours gives at most Σ e^(jε) δ for pure events, whose factor is known.
    For Gaussian ones (a bought list of labels) nothing is claimed for groups: 1 each.
    """
    total = 0.0
    for event in acting(events):
        if event.delta > 0.0 and event.type == "gaussian" and group > 1:
            total += 1.0
        elif event.delta > 0.0:
            loss = float(event.epsilon or 0.0)
            total += event.count * event.delta * sum(math.exp(j * loss) for j in range(group))
    return total


def epsilon_rdp(events: Sequence[Event], delta: float, group: int = 1, *, quick: bool = False) -> float:
    """Return ε at δ by Rényi accounting, the best order (Gaussian and zCDP alone: of all real orders).

    Args:
        events: any. delta: in (0, 1). group: how many units change at once. quick: fewer orders, a looser bound.
    """
    left = delta - added_delta(events, group)
    if left <= 0.0:
        return math.inf
    live = acting(events)
    if not live:
        return 0.0
    if all(e.type == "zcdp" or (e.type == "gaussian" and e.sampling_probability == 1.0) for e in live):
        return zcdp_epsilon(sum(rdp(e, 2, group) for e in live) / 2.0, left)

    def value(order: float) -> float:
        return rdp_to_epsilon(order, total_rdp(live, order, group), left)

    if quick:
        return value(_lowest(_QUICK, value))
    best = min(ORDERS, key=value)
    return min(value(best + i / 10.0) for i in range(-9, 10) if best + i / 10.0 > 1.0)


def _lowest(orders: Sequence[int], value: Callable[[float], float]) -> int:
    """Return the order with the least value, which first falls and then rises, by halving.

    Times (α − 1), the conversion is a convex function of α (the cumulant of the loss, and logarithms that are convex),
    so that it has one valley. Any order gives an upper bound, so a plateau costs tightness alone.
    """
    low, high = 0, len(orders) - 1
    while low < high:
        middle = (low + high) // 2
        if value(orders[middle + 1]) < value(orders[middle]):
            low = middle + 1
        else:
            high = middle
    return orders[low]


def strict_epsilon_rdp(events: Sequence[Event], delta: float, group: int = 1) -> float:
    """Return ε with Pr[loss > ε] <= δ by Markov's inequality on e^((α−1) loss) (Mironov 2017, proposition 3)."""
    left = delta - added_delta(events, group)
    if left <= 0.0:
        return math.inf
    live = acting(events)
    if not live:
        return 0.0
    return min(total_rdp(live, order, group) - math.log(left) / (order - 1) for order in ORDERS)


def delta_rdp(events: Sequence[Event], epsilon: float, group: int = 1, strict: bool = False) -> float:
    """Return δ at ε by Rényi accounting: the inverse of the conversions above."""
    live = acting(events)
    if not live:
        return 0.0
    best = 0.0
    for order in ORDERS:
        exponent = (order - 1) * (total_rdp(live, order, group) - epsilon)
        if not strict:
            exponent += (order - 1) * math.log1p(-1.0 / order) - math.log(order)
        best = min(best, exponent)
    return min(1.0, math.exp(best) + added_delta(events, group))


def _gaussian(event: Event, order: float, group: int) -> float:
    q, noise = event.sampling_probability, float(event.noise_multiplier or 1.0)
    full = group * group * order / (2.0 * noise * noise)
    summed = group == 1 and order == int(order) and event.geometry == "counts"
    if q == 1.0 or (not summed and order > _MOST_INTEGRATED):
        # Sampling never raises the divergence, so the unsampled bound holds where no other is computed.
        return full
    return min(full, _sampled_gaussian(event, q, noise, order, group))


def _sampled_gaussian(event: Event, q: float, noise: float, order: float, group: int) -> float:
    if event.adjacency == "zero-out":
        return _sampled(q, noise, order, group)
    if event.geometry == "counts":
        # Orthogonal contributions: removing one and adding the other live in different coordinates, and the
        # divergence of the addition is never above that of the removal.
        return 2.0 * _sampled(q, noise * math.sqrt(2.0), order, group)
    return _opposed(q, noise * 2.0, order, group)


def _sampled(q: float, noise: float, order: float, group: int) -> float:
    """Return D_α(Σ_j Bin(k, q)(j) N(j, σ²) ‖ N(0, σ²)); for k = 1 the binomial sum of Mironov et al. 2019."""
    if group > 1 or order != int(order):
        return _integrated(q, noise, order, group)
    j = np.arange(int(order) + 1, dtype=float)
    choose = gammaln(order + 1) - gammaln(j + 1) - gammaln(order - j + 1)
    terms = choose + j * math.log(q) + (order - j) * math.log1p(-q) + j * (j - 1) / (2.0 * noise * noise)
    return max(0.0, float(logsumexp(terms)) / (order - 1))


def _log_mixture(x: np.ndarray, q: float, noise: float, group: int, sign: float = 1.0) -> np.ndarray:
    """Return the log density, but for its norm, of Σ_j Bin(k, q)(j) N(±j, σ²) at x."""
    if group == 1:  # two terms: many times as quick as the general sum
        exponents = [math.log1p(-q) - x * x / (2.0 * noise * noise), math.log(q) - (x - sign) ** 2 / (2 * noise**2)]
        return np.logaddexp(*exponents)
    j = np.arange(group + 1, dtype=float)
    weights = gammaln(group + 1) - gammaln(j + 1) - gammaln(group - j + 1)
    weights = weights + j * math.log(q) + (group - j) * math.log1p(-q)
    return logsumexp(weights - (x[:, None] - sign * j) ** 2 / (2.0 * noise * noise), axis=1)


def _quadrature(log_p: np.ndarray, log_q: np.ndarray, x: np.ndarray, noise: float, order: float) -> float:
    log_norm = math.log(x[1] - x[0]) - math.log(noise) - 0.5 * math.log(2.0 * math.pi)
    return max(0.0, float(logsumexp(order * log_p + (1 - order) * log_q) + log_norm) / (order - 1))


def _integrated(q: float, noise: float, order: float, group: int) -> float:
    # The integrand peaks at most at order × group and falls like a Gaussian: the trapezium rule is exact there.
    x = np.linspace(-12.0 * noise - group, order * group + 12.0 * noise, _points(order * group, noise))
    log_q = -(x**2) / (2.0 * noise * noise)
    return _quadrature(_log_mixture(x, q, noise, group), log_q, x, noise, order)


def _opposed(q: float, noise: float, order: float, group: int) -> float:
    reach = (2 * order) * group + 12.0 * noise
    x = np.linspace(-reach, reach, _points(4 * order * group, noise))
    p, other = _log_mixture(x, q, noise, group), _log_mixture(x, q, noise, group, -1.0)
    return _quadrature(p, other, x, noise, order)


def _points(width: float, noise: float) -> int:
    return int(min(400_000, max(_GRID_POINTS, 20 * (width / noise + 24))))


def _laplace(loss: float, order: float) -> float:
    """Return D_α of Laplace noise with sensitivity/scale = `loss` (Mironov 2017, proposition 6)."""
    first = math.log(order / (2 * order - 1)) + (order - 1) * loss
    second = math.log((order - 1) / (2 * order - 1)) - order * loss
    return float(np.logaddexp(first, second)) / (order - 1)


def _pure(loss: float, order: float) -> float:
    """Return D_α of the pair that dominates every pure-ε mechanism: randomised response."""
    first, second = order * loss, (1 - order) * loss
    return (float(np.logaddexp(first, second)) - float(np.logaddexp(0.0, loss))) / (order - 1)
