"""Power laws: exact points, points left out, and how often the interval holds the truth."""

import math

import numpy as np
import pytest

from engine.examine.stats import powerlaw

SIZES = [1, 10, 100, 1000]


def test_exact_points():
    found = powerlaw.fit(SIZES, [2e-4 * u**0.8 for u in SIZES])
    assert (found.factor, found.exponent, found.r_squared) == pytest.approx((2e-4, 0.8, 1.0))
    assert found.at(100) == pytest.approx(2e-4 * 100**0.8)


def test_points_without_a_finite_epsilon_are_counted_not_fitted():
    found = powerlaw.fit([*SIZES, 1, 1000], [1.0, 10.0, 100.0, 1000.0, 0.0, math.inf])
    assert (found.used, found.sizes, found.infinite, found.zero) == (4, 4, 1, 1)
    assert found.exponent == pytest.approx(1.0)


@pytest.mark.parametrize("epsilons", [[math.inf] * 4, [0.5, math.inf, math.inf, math.inf]])
def test_too_few_points_have_no_fit(epsilons):
    found = powerlaw.fit(SIZES, epsilons)
    assert math.isnan(found.exponent)
    assert found.low is None


def test_two_points_have_no_interval():
    found = powerlaw.fit([1, 10], [0.1, 0.5])
    assert math.isfinite(found.exponent)
    assert (found.low, found.high) == (None, None)


def test_interval_covers_with_a_spread_that_differs_between_sizes():
    rng = np.random.default_rng(7)
    sizes = np.repeat(SIZES, 10)
    spread = np.repeat([0.9, 0.5, 0.2, 0.1], 10)
    held = 0
    for _ in range(400):
        found = powerlaw.fit(sizes, np.exp(-8 + 0.83 * np.log(sizes) + spread * rng.normal(size=40)))
        held += found.low <= 0.83 <= found.high
    assert 0.92 <= held / 400 <= 0.985
