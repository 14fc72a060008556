"""ε–δ curves against the thesis' worked examples, a Gaussian pair's closed form and brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from engine.dp.accounting import closed_form
from engine.errors import InternalError, UserError
from engine.examine.curves import lbf

NINE = [str(i) for i in range(2, 11)]
M1 = ({"1": 1, **dict.fromkeys(NINE, 1)}, dict.fromkeys(NINE, 1))
M2 = ({"1": 19, **dict.fromkeys(NINE, 9)}, {"1": 10, **dict.fromkeys(NINE, 10)})
LN09 = abs(math.log(0.9))


def points(tables):
    return lbf.curve(lbf.loss_of_outputs(*tables)).rows()


def test_m1():
    # X = {1..10}, Y = {2..10}, one uniform draw: |ln 0.9| fails with chance 0.1, and only ∞ never fails
    first, last = points(M1)
    assert first["epsilon"] == pytest.approx(LN09, abs=1e-15)
    assert first["delta"] == pytest.approx(0.1, abs=1e-15)
    assert first["delta_standard"] == pytest.approx(0.1, abs=1e-15)
    assert last == {"epsilon": None, "delta": 0.0, "delta_standard": 0.0}


def test_m2():
    # with probability 1/10 the output is 1, else a uniform draw
    first, last = points(M2)
    assert (first["epsilon"], last["epsilon"]) == pytest.approx((LN09, math.log(1.9)), abs=1e-15)
    assert first["delta"] == pytest.approx(0.19, abs=1e-15)
    assert first["delta_standard"] == pytest.approx(0.19 - 0.1 / 0.9, abs=1e-15)
    assert round(first["delta_standard"], 3) == 0.079
    assert last["delta"] == 0.0


def test_the_same_distribution_in_other_units_shows_no_loss():
    assert points(({"a": 2, "b": 6}, {"a": 1, "b": 3})) == [{"epsilon": 0.0, "delta": 0.0, "delta_standard": 0.0}]


def test_nothing_in_common():
    assert points(({"a": 1}, {"b": 1})) == [{"epsilon": None, "delta": 0.0, "delta_standard": 0.0}]
    assert lbf.floor(lbf.loss_of_outputs({"a": 1}, {"b": 1})) == 1.0


@pytest.mark.parametrize("tables", [({}, {"a": 1}), ({"a": -1, "b": 3}, {"a": 1}), ({"a": "x"}, {"a": 1})])
def test_tables_that_are_no_distribution_are_refused(tables):
    with pytest.raises(UserError):
        lbf.loss_of_outputs(*tables)


def test_theorem_5_needs_a_positive_epsilon():
    with pytest.raises(UserError, match="ε > 0"):
        lbf.curve(lbf.loss_of_outputs(*M1), [0.0, 1.0])
    with pytest.raises(InternalError):
        lbf.loss_of_counts([1.0], [1.0], shared=(2.0, 3.0))


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_gaussian_pair(mu):
    # N(0, 1) against N(μ, 1), cut into narrow cells
    edges = np.linspace(-9.0, 9.0 + mu, 40_001)
    p, q = np.diff(ndtr(edges)), np.diff(ndtr(edges - mu))
    loss = lbf.loss_of_counts(p, q)
    grid = [0.01, 0.3, 1.0, 2.5]
    found = lbf.curve(loss, grid)
    for e, strict, standard in zip(grid, found.delta, found.delta_standard):
        assert strict == pytest.approx(closed_form.delta_strict(mu, e), abs=3e-4)
        assert standard == pytest.approx(closed_form.delta_standard(mu, e), abs=1e-6)


def test_gaussian_pair_composes_like_squares():
    edges = np.linspace(-8.0, 8.3, 4_001)
    loss = lbf.loss_of_counts(np.diff(ndtr(edges)), np.diff(ndtr(edges - 0.3)))
    nine = lbf.compose(loss, 9)
    assert 0.0 < nine.rounding < 1e-3
    found = nine.curve([0.1, 0.5, 1.5], "draws")
    assert found.observed == "9 draws"
    for e, standard in zip(found.epsilon, found.delta_standard):
        exact = closed_form.delta_standard(0.9, e)
        assert exact - 2e-5 <= standard <= closed_form.delta_standard(0.9, e - nine.rounding) + 1e-6


def test_two_draws_of_m2_by_enumeration():
    x, y = np.array([0.19] + [0.09] * 9), np.full(10, 0.1)
    two = lbf.compose(lbf.loss_of_counts(x, y), 2)
    assert two.rounding == 0.0
    pairs = list(itertools.product(range(10), repeat=2))
    for e in (0.05, 0.3, 1.0):
        both = []
        for p, q in ((x, y), (y, x)):
            both.append(sum(p[i] * p[j] for i, j in pairs if math.log(p[i] * p[j] / (q[i] * q[j])) > e))
        assert two.loss.strict_delta(e) == pytest.approx(max(both))
    with pytest.raises(UserError):
        lbf.compose(two.loss, 0)


def test_posterior_of_one_draw():
    loss = lbf.loss_of_outputs(*M2)
    assert closed_form.posterior(0.5, loss.epsilon(0.0, strict=True)) == pytest.approx(0.19 / 0.29)


counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12).filter(
    lambda rows: sum(r[0] for r in rows) > 0 and sum(r[1] for r in rows) > 0
)


@settings(max_examples=150, deadline=None)
@given(counts)
def test_curve_equals_the_definition(rows):
    x, y = np.array(rows, dtype=float).T
    found = lbf.curve(lbf.loss_of_counts(x, y))
    p, q = x / x.sum(), y / y.sum()
    assert (np.diff(found.epsilon) > 0).all()
    assert (np.diff(found.delta) <= 1e-12).all()
    assert (found.delta_standard <= found.delta + 1e-15).all()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(p) - np.log(q)
    for e, strict, standard in zip(found.epsilon, found.delta, found.delta_standard):
        if math.isinf(e):
            assert strict == standard == 0.0
            continue
        by_definition = max(p[ratio > e + 1e-9].sum(), q[-ratio > e + 1e-9].sum())
        hockey = max(np.maximum(p - math.exp(e) * q, 0).sum(), np.maximum(q - math.exp(e) * p, 0).sum())
        assert strict == pytest.approx(by_definition, abs=1e-12)
        assert standard == pytest.approx(hockey, abs=1e-12)
