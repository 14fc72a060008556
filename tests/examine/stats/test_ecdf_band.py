"""Whole-curve bands of distribution functions: their chance by brute force and closed form, and ties."""

import numpy as np
import pytest

from engine.errors import InternalError
from engine.examine.stats.ecdf_band import band, stays_within


def test_the_chance_of_staying_within_limits_is_exact():
    # one number within [a, b]; two numbers, both order statistics, by hand
    assert stays_within(1, [1], np.array([0.2]), np.array([0.9])) == pytest.approx(0.7)
    # least of two in [0, .5], largest in [.3, 1]: 1 − Pr[both above .5] − Pr[both below .3]
    assert stays_within(2, [1, 2], np.array([0.0, 0.3]), np.array([0.5, 1.0])) == pytest.approx(1 - 0.25 - 0.09)
    # only the median of five: a Beta(3, 3)
    from scipy.stats import beta

    held = stays_within(5, [3], np.array([0.2]), np.array([0.7]))
    assert held == pytest.approx(beta.cdf(0.7, 3, 3) - beta.cdf(0.2, 3, 3))
    assert stays_within(3, [1, 2], np.array([0.6, 0.7]), np.array([0.5, 0.9])) == 0.0


@pytest.mark.parametrize("n", [1, 4, 25, 90, 700])
def test_the_band_misses_as_often_as_it_says(n):
    found = band(n, 0.1)
    drawn = np.sort(np.random.default_rng(n).random((4000, n)), axis=1)
    # F(t) = t at the k-th number is at least low[k] and, just before it, at most high[k − 1]
    held = ((drawn >= found.low[1:]) & (drawn <= found.high[:-1])).all(axis=1).mean()
    assert held == pytest.approx(0.9, abs=0.018)  # 3.8 standard errors
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) >= 0).all()
    assert (found.low[0], found.high[n]) == (0.0, 1.0)


def test_it_is_narrow_at_the_ends_and_no_wider_than_an_even_band_in_the_middle():
    found = band(1500, 0.025)
    even = np.sqrt(np.log(2 / 0.025) / (2 * 1500))  # Dvoretzky, Kiefer, Wolfowitz and Massart
    assert found.high[0] < even / 6
    assert found.high[750] - found.low[750] < 1.35 * 2 * even


def test_many_scores_take_limits_at_some_ranks_and_hold_between():
    found = band(3000, 0.05)
    drawn = np.sort(np.random.default_rng(3).random((1500, 3000)), axis=1)
    held = ((drawn >= found.low[1:]) & (drawn <= found.high[:-1])).all(axis=1).mean()
    assert 0.93 <= held <= 0.985


def test_what_is_no_chance_is_refused():
    with pytest.raises(InternalError):
        band(0, 0.05)
    with pytest.raises(InternalError):
        band(5, 1.0)
