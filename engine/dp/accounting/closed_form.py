"""Closed forms of Gaussian composition: exact, fast enough for a slider, no heavy import.

Releases with Gaussian noise compose into one: μ² = Σ count / noise_multiplier² (Dong, Roth and Su 2022,
Gaussian Differential Privacy, corollary 3.3). The privacy loss of that one release is normal with mean μ²/2
and variance μ², so both δs have a formula:

- standard (hockey-stick): δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang 2018, theorem 8);
- strict, Pr[loss > ε] = Φ(μ/2 − ε/μ).

zCDP totals are turned into (ε, δ) by Canonne, Kamath and Steinke 2020, proposition 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from scipy.special import log_ndtr, ndtr

from engine.dp.events import Event, acting, group_factor
from engine.errors import UserError

MIN_DELTA = 1e-12
MAX_DELTA = 1e-3
_STEPS = 200
_KEPT = 512  # answers of a search that are kept: a page asks for the same budget again and again


def check_delta(delta: float) -> float:
    """Return δ where accounting holds for it.

    Raises:
        UserError: δ lies outside [1e-12, 1e-3].
    """
    if not MIN_DELTA <= delta <= MAX_DELTA:
        raise UserError(f"delta: must be between {MIN_DELTA:g} and {MAX_DELTA:g}, got {delta:g}")
    return delta


def default_delta(units: int) -> float:
    """Return 1 / (N ln N) for N units, kept within the range that accounting accepts.

    Args:
        units: number of privacy units in the training part, public, >= 0.
    """
    if units < 3:
        return MAX_DELTA
    return min(MAX_DELTA, max(MIN_DELTA, 1.0 / (units * math.log(units))))


def gaussian_mu(events: Sequence[Event], group: int = 1) -> float | None:
    """Return μ of the composition, or None where an event is no full Gaussian.

    Args:
        events: a schedule fixed beforehand; declared and selection events cost nothing here.
        group: how many units change at once, >= 1.
    """
    total = 0.0
    for event in acting(events):
        if event.type != "gaussian" or event.sampling_probability < 1.0 or event.delta > 0.0:
            return None
        total += event.count / float(event.noise_multiplier or 1.0) ** 2
    return group_factor(group) * math.sqrt(total)


def delta_standard(mu: float, epsilon: float) -> float:
    """Return the hockey-stick δ of a Gaussian release with parameter μ at ε."""
    if mu <= 0.0:
        return max(0.0, -math.expm1(epsilon))
    first = float(ndtr(mu / 2.0 - epsilon / mu))
    second = math.exp(min(0.0, epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))))
    return min(1.0, max(0.0, first - second))


def delta_strict(mu: float, epsilon: float) -> float:
    """Return Pr[privacy loss > ε] of a Gaussian release with parameter μ."""
    if mu <= 0.0:
        return 1.0 if epsilon < 0.0 else 0.0
    return float(ndtr(mu / 2.0 - epsilon / mu))


def smallest(holds: Callable[[float], bool], high: float = 1.0) -> float:
    """Return the smallest x >= 0 at which a monotone condition holds, from above, to double precision."""
    if holds(0.0):
        return 0.0
    while not holds(high):
        high *= 2.0
        if high > 1e12:
            return math.inf
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def epsilon(mu: float, delta: float, strict: bool = False) -> float:
    """Return the smallest ε >= 0 whose δ (standard, or strict) is at most `delta`."""
    if mu <= 0.0:
        return 0.0
    curve = delta_strict if strict else delta_standard
    return smallest(lambda value: curve(mu, value) <= delta)


@lru_cache(maxsize=_KEPT)
def mu_of(epsilon: float, delta: float) -> float:
    """Return the largest μ whose Gaussian release is (ε, δ)-differentially private."""
    if epsilon <= 0.0:
        raise UserError(f"epsilon: must be above 0, got {epsilon:g}")
    high = 1.0
    while delta_standard(high, epsilon) <= delta:
        high *= 2.0
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if delta_standard(middle, epsilon) <= delta else (low, middle)
    return low


def noise_multiplier(epsilon: float, delta: float, count: int = 1) -> float:
    """Return the least σ over sensitivity with which `count` Gaussian releases are (ε, δ) together."""
    return math.sqrt(count) / mu_of(epsilon, check_delta(delta))


def posterior(prior: float, epsilon: float) -> float:
    """Return the highest belief an attacker with this prior can reach: odds grow at most e^ε-fold.

    Args:
        prior: probability in [0, 1]. epsilon: privacy loss bound, >= 0.
    """
    if prior <= 0.0 or prior >= 1.0:
        return min(1.0, max(0.0, prior))
    return 1.0 / (1.0 + math.exp(-epsilon) * (1.0 - prior) / prior)


def epsilon_for(prior: float, after: float) -> float:
    """Return the ε at which an attacker with this prior becomes at most so sure: the inverse of `posterior`.

    Args:
        prior: probability in (0, 1). after: probability in [prior, 1).
    """
    if not (0.0 < prior < 1.0 and prior * (1.0 - 1e-12) <= after < 1.0):
        raise UserError(f"certainty: must be from the {prior:g} of before to below 1, got {after:g}")
    return max(0.0, math.log(after) - math.log1p(-after) - math.log(prior) + math.log1p(-prior))


def rdp_to_epsilon(order: float, value: float, delta: float) -> float:
    """Return ε of a Rényi bound at one order (Canonne, Kamath and Steinke 2020, proposition 12)."""
    if value == math.inf:
        return math.inf
    return max(0.0, value + math.log1p(-1.0 / order) - (math.log(delta) + math.log(order)) / (order - 1.0))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the least ε of a ρ-zCDP mechanism at δ over all orders."""
    if rho <= 0.0:
        return 0.0
    # The bound is quasi-convex in the order: golden-section search over log(order − 1).
    low, high = math.log(1e-4), math.log(1e7)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0

    def value(x: float) -> float:
        order = 1.0 + math.exp(x)
        return rho * order + math.log1p(-1.0 / order) - (math.log(delta) + math.log(order)) / (order - 1.0)

    for _ in range(_STEPS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return max(0.0, value((low + high) / 2.0))


@lru_cache(maxsize=_KEPT)
def zcdp_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ whose zCDP gives at most ε at δ."""
    if epsilon <= 0.0:
        raise UserError(f"epsilon: must be above 0, got {epsilon:g}")
    low, high = 0.0, 1.0
    while zcdp_epsilon(high, delta) <= epsilon:
        high *= 2.0
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (middle, high) if zcdp_epsilon(middle, delta) <= epsilon else (low, middle)
    return low


def classical_noise_multiplier(epsilon: float, delta: float) -> float:
    """Return √(2 ln(1.25/δ)) / ε, proven for ε <= 1 only (Dwork and Roth 2014, theorem A.1)."""
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
