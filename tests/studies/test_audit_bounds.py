"""Bounds on ε against closed forms, an exact linear programme, and simulated mechanisms of known ε."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm

from engine.dp.accounting import closed_form
from engine.errors import UserError
from engine.studies import audit_bounds as bounds


def programme(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Return the largest Pr[W >= right] that every tail event's (ε, δ) inequality allows."""
    i = np.arange(guesses + 1)
    left, most = [], []
    for a in range(guesses + 1):
        x = np.where(i >= a, i, 0) / canaries
        z = np.where(i >= a - 1, guesses - i, 0) / canaries
        left += [x - math.exp(epsilon) * z, x - math.exp(-epsilon) * z]
        most += [delta, 1.0 - math.exp(-epsilon) * (1.0 - delta)]
    found = linprog(
        -(i >= right).astype(float), A_ub=left, b_ub=most, A_eq=[np.ones(guesses + 1)], b_eq=[1.0], bounds=(0, 1)
    )
    return -float(found.fun)


@pytest.mark.parametrize("guesses", [10, 50, 100, 500])
def test_the_ceiling_without_delta_has_a_closed_form(guesses: int) -> None:
    chance = 0.05 ** (1.0 / guesses)  # all guesses right at confidence 95%
    ceiling = math.log(chance / (1.0 - chance))
    assert bounds.one_run_epsilon(2 * guesses, guesses, guesses, 0.0) == pytest.approx(ceiling, abs=1e-6)
    assert bounds.curve_epsilon(2 * guesses, guesses, guesses, 0.0) == pytest.approx(ceiling, abs=1e-6)


def test_a_hundred_right_guesses_prove_at_most_three_and_a_half() -> None:
    assert bounds.one_run_epsilon(100, 100, 100, 0.0) == pytest.approx(3.493, abs=1e-3)
    assert bounds.one_run_epsilon(100, 100, 100, 1e-5) == pytest.approx(3.490, abs=1e-3)
    assert 3.4905 < bounds.curve_epsilon(100, 100, 100, 1e-5) < 3.4935  # δ costs the curve less


def test_p_values_are_those_of_coins_where_delta_is_zero() -> None:
    for epsilon in (0.0, 0.5, 2.0):
        expected = binom.sf(59, 80, 1.0 / (1.0 + math.exp(-epsilon)))
        assert bounds.one_run_p_value(200, 80, 60, epsilon, 0.0) == pytest.approx(expected)
    assert bounds.one_run_p_value(200, 80, 60, 1.0, 1e-3) > bounds.one_run_p_value(200, 80, 60, 1.0, 0.0)
    assert bounds.one_run_p_value(200, 80, 0, 1.0, 1e-3) == 1.0


@pytest.mark.parametrize(
    ("canaries", "guesses", "right", "epsilon", "delta"),
    [(20, 20, 15, 0.5, 0.0), (30, 12, 11, 0.7, 1e-3), (40, 20, 16, 0.3, 0.01), (60, 30, 29, 1.0, 1e-4)],
)
def test_the_recursion_equals_the_linear_programme(
    canaries: int, guesses: int, right: int, epsilon: float, delta: float
) -> None:
    p = bounds.curve_p_value(canaries, guesses, right, bounds.pure_inverse(epsilon, delta))
    assert p == pytest.approx(programme(canaries, guesses, right, epsilon, delta), rel=1e-5)


def test_inverses_undo_their_trade_off_curves() -> None:
    for y in (0.01, 0.2, 0.5, 0.9):
        rise = min(1.0, 0.02 + math.e * y, 1.0 - math.exp(-1.0) * (0.98 - y))
        if rise < 1.0:
            assert bounds.pure_inverse(1.0, 0.02)(rise) == pytest.approx(y)
        assert bounds.gaussian_inverse(0.7)(norm.cdf(norm.ppf(y) + 0.7)) == pytest.approx(y)
    # Every point of the Gaussian's ε-δ curve together gives back its trade-off curve.
    epsilons = np.linspace(0.0, 6.0, 400)
    deltas = np.array([closed_form.delta_standard(1.0, e) for e in epsilons])
    parts = [bounds.pure_inverse(float(e), float(d)) for e, d in zip(epsilons, deltas, strict=True)]
    for x in (0.05, 0.4, 0.8, 0.99):
        assert max(part(x) for part in parts) == pytest.approx(bounds.gaussian_inverse(1.0)(x), abs=2e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_randomised_response_is_seldom_overrated_and_nearly_found(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    chance = 1.0 / (1.0 + math.exp(-epsilon))
    right = rng.binomial(1000, chance, 2000)
    found = {v: bounds.one_run_epsilon(1000, 1000, int(v), 0.0) for v in set(right.tolist())}
    values = np.array([found[int(v)] for v in right])
    assert (values > epsilon).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
    assert np.median(values) > epsilon - 0.3
    curve = {v: bounds.curve_epsilon(1000, 1000, v, 0.0) for v in found}
    assert all(curve[v] <= found[v] + 1e-6 for v in found)  # the coins' own bound is exact for pure ε
    assert np.mean([curve[int(v)] > epsilon for v in right]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_a_gaussian_mechanism_is_seldom_overrated(mu: float) -> None:
    """One Gaussian release a coin; guesses are the outermost values, in equal numbers on both sides."""
    rng = np.random.default_rng(11)
    runs, canaries, side, delta = 400, 300, 30, 1e-3
    true = closed_form.epsilon(mu, delta)
    right = []
    for _ in range(runs):
        coins = rng.random(canaries) < 0.5
        order = np.argsort(rng.normal(size=canaries) + mu * coins)
        right.append(int(coins[order[-side:]].sum() + (~coins[order[:side]]).sum()))
    allowed = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    for bound, limit in (
        (lambda v: bounds.one_run_epsilon(canaries, 2 * side, v, delta), true),
        (lambda v: bounds.curve_epsilon(canaries, 2 * side, v, delta), true),
        (lambda v: bounds.curve_mu(canaries, 2 * side, v), mu),
    ):
        known = {v: bound(v) for v in set(right)}
        values = np.array([known[v] for v in right])
        assert (values > limit).mean() <= allowed
        assert np.median(values) > 0.15 * limit  # and it is not all zeros


def test_two_samples_by_hand() -> None:
    low, high = bounds.clopper_pearson(0, 30, 0.05)
    assert (low, high) == (0.0, pytest.approx(1.0 - 0.05 ** (1 / 30)))
    low, high = bounds.clopper_pearson(30, 30, 0.05)
    assert (low, high) == (pytest.approx(0.05 ** (1 / 30)), 1.0)
    # All in, none out, 50 each: TPR >= 0.025^(1/50), FPR <= 1 - that.
    edge = 0.025 ** (1 / 50)
    found = bounds.two_sample_epsilon(50, 50, 0, 50, 0.0)
    assert found == pytest.approx(math.log(edge / (1 - edge)))
    assert bounds.two_sample_epsilon(50, 50, 0, 50, 1e-2) < found
    assert bounds.two_sample_epsilon(25, 50, 25, 50, 0.0) == 0.0
    assert bounds.two_sample_mu(50, 50, 0, 50) == pytest.approx(2 * norm.ppf(edge))
    assert bounds.two_sample_epsilon(0, 0, 0, 10, 0.0) == bounds.two_sample_mu(0, 0, 0, 10) == 0.0


def test_the_complement_counts_as_well() -> None:
    """Out canaries that are recognised for certain prove as much as in canaries."""
    one = bounds.two_sample_epsilon(30, 100, 0, 100, 0.0)
    other = bounds.two_sample_epsilon(100, 100, 70, 100, 0.0)
    assert one == pytest.approx(other)
    assert one > 1.0


def test_group_claims_grow_as_they_should() -> None:
    assert bounds.group_claim(1.0, 1e-5, 1) == (1.0, pytest.approx(1e-5))
    epsilon, delta = bounds.group_claim(1.0, 1e-5, 3)
    assert (epsilon, delta) == (3.0, pytest.approx(1e-5 * (1 + math.e + math.e**2)))


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(UserError, match="right <= guesses <= canaries"):
        bounds.one_run_p_value(10, 11, 3, 1.0, 0.0)
    with pytest.raises(UserError, match="right <= guesses"):
        bounds.curve_p_value(10, 5, 6, bounds.pure_inverse(1.0, 0.0))
