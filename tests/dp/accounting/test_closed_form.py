"""Closed forms against published and hand-computed values."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.dp.accounting import closed_form as closed
from engine.dp.events import Event, count_sensitivity, mean_sensitivity
from engine.errors import InternalError, UserError

N_SMALL = 8396
DELTA = closed.default_delta(N_SMALL)


def gaussian(noise_multiplier, count=1, **fields):
    return Event("gaussian", "votes", noise_multiplier=noise_multiplier, count=count, **fields)


# analytic Gaussian, N = 8,948, delta = 1.2282e-5
@pytest.mark.parametrize(
    ("epsilon", "count", "sigma"),
    [(4, 1, 1.071), (2, 1, 1.972), (1, 1, 3.684), (4, 10, 3.386), (2, 10, 6.235), (1, 10, 11.651)],
)
def test_noise_of_one_and_ten_releases(epsilon, count, sigma):
    assert closed.noise_multiplier(epsilon, 1.2282e-5, count) == pytest.approx(sigma, abs=6e-4)


def test_the_golden_single_release():
    assert closed.noise_multiplier(1.0, 1e-5) == pytest.approx(3.7306, abs=1e-4)


@pytest.mark.parametrize(("epsilon", "sigma"), [(4, 1.201), (2, 2.401), (1, 4.802)])
def test_the_classical_formula(epsilon, sigma):
    assert closed.classical_noise_multiplier(epsilon, 1.2282e-5) == pytest.approx(sigma, abs=6e-4)


# AUG-PE's corpora at their default delta, T = 10: exact sigma at epsilon = 1, 2, 4
@pytest.mark.parametrize(
    ("units", "sigmas"),
    [(1_939_290, (15.40, 8.04, 4.25)), (8_396, (11.60, 6.21, 3.37)), (75_316, (13.25, 7.00, 3.75))],
)
def test_exact_noise_of_aug_pe(units, sigmas):
    delta = closed.default_delta(units)
    exact = [closed.noise_multiplier(epsilon, delta, 10) for epsilon in (1, 2, 4)]
    assert exact == pytest.approx(sigmas, abs=0.01)


def test_published_noise_of_aug_pe_is_slightly_short_and_twenty_rounds_much():
    delta = closed.default_delta(1_939_290)
    at_ten = [closed.epsilon(math.sqrt(10) / s, delta) for s in (15.34, 8.03, 4.24)]
    assert at_ten == pytest.approx([1.0045, 2.0024, 4.0053], abs=1e-4)
    at_twenty = [closed.epsilon(math.sqrt(20) / s, delta) for s in (15.34, 8.03, 4.24)]
    assert at_twenty == pytest.approx([1.45, 2.91, 5.89], abs=0.01)


def test_the_openreview_setting():
    assert closed.epsilon(math.sqrt(10) / 11.60, DELTA) == pytest.approx(1.000, abs=5e-4)


@pytest.mark.parametrize(("records", "epsilon"), [(1, 1.0), (2, 2.16), (5, 6.2), (10, 14.6)])
def test_one_person_with_several_records(records, epsilon):
    mu = closed.gaussian_mu([gaussian(11.6, 10)], group=records)
    assert closed.epsilon(mu, DELTA) == pytest.approx(epsilon, abs=0.04)


def test_a_cap_of_five_needs_five_times_the_noise():
    sigma = closed.noise_multiplier(1.0, DELTA, 10) * count_sensitivity(5)
    assert sigma == pytest.approx(58.0, abs=0.1)


def test_strict_delta_of_aug_pe():
    mu = math.sqrt(10) / closed.noise_multiplier(1.0, DELTA, 10)
    assert closed.delta_standard(mu, 1.0) == pytest.approx(1.3182e-5, rel=1e-4)
    assert closed.delta_strict(mu, 1.0) == pytest.approx(2.06e-4, rel=3e-3)
    assert closed.epsilon(mu, closed.delta_strict(mu, 1.0), strict=True) == pytest.approx(1.0)


@pytest.mark.parametrize(("epsilon", "belief"), [(1, 0.027), (4, 0.355), (8, 0.968)])
def test_posterior_of_a_prior_of_one_percent(epsilon, belief):
    assert closed.posterior(0.01, epsilon) == pytest.approx(belief, abs=6e-4)


def test_posterior_of_certainty_stays():
    assert [closed.posterior(p, 3.0) for p in (0.0, 1.0)] == [0.0, 1.0]
    assert closed.posterior(0.3, math.inf) == 1.0


# delta = 1e-5, Canonne, Kamath and Steinke 2020, proposition 12
@pytest.mark.parametrize(("epsilon", "rho"), [(1, 0.0306), (2, 0.1083), (3, 0.2242), (5, 0.5510), (10, 1.7827)])
def test_zcdp_table(epsilon, rho):
    assert closed.zcdp_rho(epsilon, 1e-5) == pytest.approx(rho, abs=6e-5)
    assert closed.zcdp_epsilon(rho, 1e-5) == pytest.approx(epsilon, abs=2e-3)


def test_one_hundred_tokens_as_gaussians_would_understate_zcdp():
    # rho = mu^2 / 2: the Gaussian of the same rho is one zCDP mechanism, not the worst
    assert closed.epsilon(math.sqrt(2 * 0.0306), 1e-5) == pytest.approx(0.92, abs=0.01)
    assert closed.zcdp_epsilon(0.0306, 1e-5) == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize(
    "event",
    [
        gaussian(2.0, sampling_probability=0.5),
        Event("laplace", "histogram", epsilon=1.0),
        gaussian(2.0, delta=1e-6),
    ],
)
def test_what_is_no_full_gaussian_has_no_closed_form(event):
    assert closed.gaussian_mu([gaussian(3.0), event]) is None


def test_free_events_cost_nothing():
    free = [Event("declared", "shares"), Event("selection", "candidates", epsilon=3.0)]
    assert closed.gaussian_mu(free) == 0.0
    assert closed.epsilon(0.0, DELTA) == 0.0


@pytest.mark.parametrize("delta", [0.0, 1e-13, 2e-3, 1.0])
def test_delta_out_of_range_is_refused(delta):
    with pytest.raises(UserError, match="delta"):
        closed.noise_multiplier(1.0, delta)


def test_default_delta_stays_in_range():
    assert closed.default_delta(8396) == pytest.approx(1.3182e-5, rel=1e-4)
    assert closed.default_delta(2) == closed.default_delta(0) == 1e-3
    assert closed.default_delta(10**14) == 1e-12


# hand-checked: cap 3, one bin loses three votes; replaced, three leave one bin and three enter another
@pytest.mark.parametrize(
    ("adjacency", "norm", "expected"),
    [
        ("zero-out", "l2", 3.0),
        ("zero-out", "l1", 3.0),
        ("replace-one", "l2", 3 * math.sqrt(2)),
        ("replace-one", "l1", 6.0),
    ],
)
def test_count_sensitivity(adjacency, norm, expected):
    assert count_sensitivity(3, adjacency, norm) == pytest.approx(expected)
    assert mean_sensitivity(100) == 0.02


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "gaussian"},
        {"type": "laplace", "epsilon": 0.0},
        {"type": "wrong"},
        {"type": "pure", "epsilon": 1.0, "adjacency": "near"},
        {"type": "pure", "epsilon": 1.0, "count": 0},
    ],
)
def test_an_event_that_says_nothing_is_refused(fields):
    with pytest.raises(InternalError):
        Event(what="votes", **fields)


def test_an_event_survives_json():
    import json

    event = gaussian(1.5, 7, sampling_probability=0.8, sensitivity=5.0, unit="source", adjacency="replace-one")
    assert Event.from_dict(json.loads(json.dumps(event.as_dict()))) == event


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 12.0), st.floats(1e-11, 5e-4), st.integers(1, 60), st.floats(1.01, 3.0))
def test_noise_falls_with_the_budget_and_rises_with_the_count(epsilon, delta, count, more):
    sigma = closed.noise_multiplier(epsilon, delta, count)
    assert closed.noise_multiplier(epsilon * more, delta, count) < sigma
    assert closed.noise_multiplier(epsilon, min(1e-3, delta * more), count) < sigma
    assert closed.noise_multiplier(epsilon, delta, count + 1) > sigma
    mu = closed.gaussian_mu([gaussian(sigma, count)])
    assert closed.epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-6)
    assert closed.epsilon(mu, delta, strict=True) >= closed.epsilon(mu, delta)


def test_the_smallest_claims_are_not_rounded_up():
    assert closed.zcdp_epsilon(1e-12, 1e-3) < 1e-4
    assert closed.smallest(lambda x: True) == 0.0
