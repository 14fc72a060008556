"""Lower bounds on ε from planted canaries: what an audit proves about a mechanism, and the most it could prove.

- One run: each canary goes in by its own fair coin; the auditor guesses some coins and abstains from the rest
  (Steinke, Nasr and Jagielski 2023, "Privacy auditing with one (1) training run", theorem 5.2).
- One run with a whole trade-off curve (Mahloujifar, Melis and Chaudhuri 2024, "Auditing f-differential privacy in one
  run").
- Two samples: shares of canaries above a threshold, in against out (Jagielski, Ullman and Oprea 2020, section 4; Nasr
  et al. 2021, "Adversary instantiation"; exact limits of Clopper and Pearson 1934). It takes canaries for independent.

Everywhere δ is the standard one: Pr[E] <= e^ε Pr'[E] + δ. How many guesses are made must be fixed before the coins are
known, or be chosen on other coins: the best of many numbers of guesses is no bound.

A lower bound is never a certificate: it can refute a claim and cannot confirm one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import bdtrc, betaincinv, ndtr, ndtri

from engine.dp.accounting import closed_form
from engine.errors import UserError

MISS = 0.05
STEPS = 40
HIGHEST = 60.0  # ε beyond which nothing is looked for

Inverse = Callable[[float], float]


def _checked(canaries: int, guesses: int, right: int) -> None:
    if not 0 <= right <= guesses <= canaries:
        raise UserError(
            f"guesses: must satisfy 0 <= right <= guesses <= canaries, got {right}, {guesses} and {canaries}"
        )


def _largest(refuted: Callable[[float], bool]) -> float:
    """Return the largest ε in [0, HIGHEST] that is refuted, from below; 0 where ε = 0 is not."""
    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high < HIGHEST and refuted(high):
        low, high = high, 2.0 * high
    if high >= HIGHEST and refuted(HIGHEST):
        return HIGHEST
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def one_run_p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Return the chance, at most, of this many right guesses if the mechanism is (ε, δ)-differentially private.

    Args:
        canaries: fair coins in all, also those nobody guessed.
        guesses: coins guessed, fixed beforehand. right: guesses that were right.

    Source: Steinke et al. 2023, theorem 5.2: Pr[W >= v] <= β + 2 m δ max_i Pr[v > W' >= v - i] / i, where W' counts
    `guesses` coins, each right with probability e^ε / (1 + e^ε), and β = Pr[W' >= v].
    """
    _checked(canaries, guesses, right)
    chance = 1.0 / (1.0 + math.exp(-epsilon))
    tail = float(bdtrc(right - 1, guesses, chance)) if right else 1.0
    if delta <= 0.0 or right == 0:
        return min(1.0, tail)
    steps = np.arange(1, right + 1)
    below = bdtrc(right - steps - 1, guesses, chance) - tail
    slope = float(np.max(below / steps))
    return min(1.0, tail + 2.0 * canaries * delta * slope)


def one_run_epsilon(canaries: int, guesses: int, right: int, delta: float, miss: float = MISS) -> float:
    """Return the largest ε that the guesses refute at confidence 1 - `miss`; 0 where they refute none."""
    return _largest(lambda value: one_run_p_value(canaries, guesses, right, value, delta) <= miss)


def pure_inverse(epsilon: float, delta: float) -> Inverse:
    """Return what an event's probability must be at least in the other world: the inverse of y -> 1 - f(y).

    f is the trade-off curve of (ε, δ): f(y) = max(0, 1 - δ - e^ε y, e^-ε (1 - δ - y)) (Wasserman and Zhou 2010; Dong,
    Roth and Su 2022, section 2).
    """
    grow, shrink = math.exp(epsilon), math.exp(-epsilon)
    return lambda x: min(1.0, max(0.0, (x - delta) * shrink, 1.0 - delta - grow * (1.0 - x)))


def gaussian_inverse(mu: float) -> Inverse:
    """Return the same for the Gaussian trade-off curve G_μ (Dong, Roth and Su 2022, section 2)."""
    return lambda x: float(ndtr(ndtri(min(1.0, max(0.0, x))) - mu))


def curve_allows(canaries: int, guesses: int, right: int, inverse: Inverse, chance: float) -> bool:
    """Return whether a mechanism with this trade-off curve may make `right` or more right guesses with this chance.

    Let p_i be the chance of exactly i right guesses, x_a = Σ_{i>=a} i p_i / m the chance that at least a are right and
    a coin drawn at random is among them, z_a = Σ_{i>=a} (G - i) p_i / m the same for the wrong ones. Turning the drawn
    coin over makes a right guess wrong, so x_a <= 1 - f(z_{a-1}) for each a. The least mass that agrees with Pr[W >= v]
    = `chance` sits on v and is built downwards from it; it may not exceed G / m, the chance that the drawn coin is
    guessed at all.

    Source: Mahloujifar et al. 2024, their recursion for guesses with abstention, for coins (k = 2).
    """
    _checked(canaries, guesses, right)
    x, z = chance * right / canaries, chance * (guesses - right) / canaries
    for i in range(right - 1, -1, -1):
        needed = max(z, inverse(x))
        x, z = x + i / (guesses - i) * (needed - z), needed
        if x + z > guesses / canaries:
            return False
    return x + z <= guesses / canaries


def curve_p_value(canaries: int, guesses: int, right: int, inverse: Inverse) -> float:
    """Return the chance, at most, of this many right guesses for a mechanism with this trade-off curve."""
    if curve_allows(canaries, guesses, right, inverse, 1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if curve_allows(canaries, guesses, right, inverse, middle) else (low, middle)
    return high


def curve_epsilon(canaries: int, guesses: int, right: int, delta: float, miss: float = MISS) -> float:
    """Return the largest ε whose (ε, δ) curve the guesses refute at confidence 1 - `miss`."""
    return _largest(lambda value: not curve_allows(canaries, guesses, right, pure_inverse(value, delta), miss))


def curve_mu(canaries: int, guesses: int, right: int, miss: float = MISS) -> float:
    """Return the largest μ whose Gaussian curve the guesses refute: a bound only if the mechanism is Gaussian."""
    return _largest(lambda value: not curve_allows(canaries, guesses, right, gaussian_inverse(value), miss))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the ε of a Gaussian mechanism with parameter μ at the standard δ."""
    return closed_form.epsilon(mu, delta) if mu > 0.0 and delta > 0.0 else (math.inf if mu > 0.0 else 0.0)


def clopper_pearson(successes: int, trials: int, miss: float) -> tuple[float, float]:
    """Return the two one-sided limits of a proportion, each missed with probability at most `miss`."""
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, miss))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1.0 - miss))
    return low, high


def two_sample_limits(
    hits_in: int, total_in: int, hits_out: int, total_out: int, miss: float = MISS
) -> tuple[float, float]:
    """Return a lower limit of the TPR and an upper one of the FPR that hold together at confidence 1 - `miss`."""
    return clopper_pearson(hits_in, total_in, miss / 2.0)[0], clopper_pearson(hits_out, total_out, miss / 2.0)[1]


def two_sample_epsilon(
    hits_in: int, total_in: int, hits_out: int, total_out: int, delta: float, miss: float = MISS
) -> float:
    """Return the ε that the two shares of hits force at least, from the event and from its complement.

    Source: Jagielski, Ullman and Oprea 2020, section 4; Nasr et al. 2021.
    """
    tpr, fpr = two_sample_limits(hits_in, total_in, hits_out, total_out, miss)
    event = math.log((tpr - delta) / fpr) if tpr > delta else 0.0
    other = math.log((1.0 - fpr - delta) / (1.0 - tpr)) if 1.0 - fpr > delta and tpr < 1.0 else 0.0
    return max(0.0, event, other)


def two_sample_mu(hits_in: int, total_in: int, hits_out: int, total_out: int, miss: float = MISS) -> float:
    """Return the μ that the shares force if the mechanism is Gaussian: Φ⁻¹(TPR) - Φ⁻¹(FPR).

    Source: Nasr et al. 2023, "Tight auditing of differentially private machine learning".
    """
    tpr, fpr = two_sample_limits(hits_in, total_in, hits_out, total_out, miss)
    return max(0.0, float(ndtri(tpr) - ndtri(fpr))) if tpr > 0.0 and fpr < 1.0 else 0.0


def group_claim(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """Return what an (ε, δ) claim a record says about `size` records at once.

    Source: Vadhan 2017, "The complexity of differential privacy", lemma 2.2, its sum Σ_{i<size} e^{iε} δ.
    """
    spread = sum(math.exp(min(700.0, i * epsilon)) for i in range(size))
    return size * epsilon, min(1.0, delta * spread)
