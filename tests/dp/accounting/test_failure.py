"""The chance that a bound on the loss fails, held against attackers who see less than the noisy statistic."""

import math

import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from engine.dp.accounting.closed_form import default_delta, delta_standard, delta_strict, mu_of
from engine.dp.accounting.failure import failure, gaussian_failure


@pytest.mark.parametrize(("epsilon", "units"), [(0.1, 50), (1, 1000), (4, 1000), (4, 8396), (8, 8396), (10, 1000)])
def test_one_bit_of_a_gaussian_reaches_the_bound_and_passes_the_strict_delta(epsilon, units):
    """He sees only whether the statistic passed t, set where that event is e^ε times as likely with the unit."""
    mu = mu_of(epsilon, default_delta(units))
    t = brentq(lambda x: log_ndtr(mu - x) - log_ndtr(-x) - epsilon, -30, 60)
    chance = float(ndtr(mu - t))
    assert chance > 1.5 * delta_strict(mu, epsilon)
    assert gaussian_failure(mu, epsilon) == pytest.approx(chance, rel=1e-7)
    grid = [epsilon * step / 30 for step in range(61)]
    found = failure(epsilon, [(e, delta_standard(mu, e)) for e in grid])
    assert chance * (1 - 1e-9) <= found <= 1.1 * chance


def test_one_point_bounds_the_chance_above_it_alone():
    assert failure(5.0 + math.log(2.0), [(5.0, 1e-5)]) == pytest.approx(2e-5)
    assert failure(5.0, [(5.0, 1e-5)]) == 1.0
    assert failure(5.0, [(5.0, 0.0)]) == 0.0
    assert failure(4.0, [(5.0, 0.0)]) == 1.0


def test_without_noise_to_see_there_is_nothing_to_pass():
    assert gaussian_failure(0.0, 0.0) == 0.0
    assert gaussian_failure(1.0, 0.0) == 1.0
    assert gaussian_failure(1.0, 1e-6) <= 1.0
