"""Rényi bounds against dp_accounting and against integrals."""

import dp_accounting
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant
from scipy.special import logsumexp

from engine.dp.accounting import closed_form, exact, rdp
from engine.dp.events import Event


def library(event, orders, count=1):
    accountant = RdpAccountant(orders)
    accountant.compose(event, count)
    return accountant._rdp


ORDERS = [2, 3, 8, 32, 100]
CASES = [
    (Event("gaussian", "x", noise_multiplier=2.5, count=3), dp_accounting.GaussianDpEvent(2.5), 3),
    (
        Event("gaussian", "x", noise_multiplier=1.3, sampling_probability=0.05, count=10),
        dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(1.3)),
        10,
    ),
    (
        Event("gaussian", "x", noise_multiplier=5.0, sampling_probability=0.8),
        dp_accounting.PoissonSampledDpEvent(0.8, dp_accounting.GaussianDpEvent(5.0)),
        1,
    ),
    (Event("laplace", "x", epsilon=0.7, count=2), dp_accounting.LaplaceDpEvent(1 / 0.7), 2),
    (Event("zcdp", "x", rho=0.02, count=4), dp_accounting.ZCDpEvent(0.02), 4),
]


@pytest.mark.parametrize(("event", "theirs", "count"), CASES, ids=lambda x: getattr(x, "type", ""))
def test_closed_forms_equal_the_library(event, theirs, count):
    ours = [rdp.rdp(event, order) for order in ORDERS]
    assert ours == pytest.approx(list(library(theirs, ORDERS, count)), rel=1e-6)


def test_the_golden_total():
    event = Event("gaussian", "x", noise_multiplier=1.0, sampling_probability=0.01, count=1000)
    assert rdp.epsilon_rdp([event], 1e-5) == pytest.approx(2.101, abs=1e-3)
    assert rdp.epsilon_rdp([event], 1e-5, quick=True) >= rdp.epsilon_rdp([event], 1e-5)


def test_integer_sums_equal_the_integral():
    for order in (2, 7, 40):
        summed = rdp._sampled(0.1, 1.2, order, 1)
        assert rdp._integrated(0.1, 1.2, order, 1) == pytest.approx(summed, rel=1e-9)


def test_pure_is_the_divergence_of_randomised_response():
    p = np.array([np.exp(0.6), 1.0]) / (1 + np.exp(0.6))
    for order in (2, 5, 50):
        direct = np.log(np.sum(p**order * p[::-1] ** (1 - order))) / (order - 1)
        assert rdp.rdp(Event("pure", "x", epsilon=0.6), order) == pytest.approx(direct)
        assert rdp.rdp(Event("pure", "x", epsilon=0.6), order) <= 0.6


def test_groups_scale_as_their_mechanism_does():
    assert rdp.rdp(Event("gaussian", "x", noise_multiplier=3.0), 4, group=3) == pytest.approx(9 * 4 / 18)
    assert rdp.rdp(Event("zcdp", "x", rho=0.1), 4, group=3) == pytest.approx(9 * 0.1 * 4)
    once = rdp.rdp(Event("laplace", "x", epsilon=0.9), 4)
    assert rdp.rdp(Event("laplace", "x", epsilon=0.3), 4, group=3) == pytest.approx(once)


@pytest.mark.parametrize("geometry", ["counts", "vectors"])
def test_full_participation_is_the_limit_of_sampling_under_replace_one(geometry):
    nearly = Event(
        "gaussian", "x", noise_multiplier=4.0, sampling_probability=1 - 1e-9, adjacency="replace-one", geometry=geometry
    )
    assert rdp.rdp(nearly, 5) == pytest.approx(5 / 32, rel=1e-5)


def test_replacement_of_sampled_votes_costs_more_than_removal_and_less_than_opposed_vectors():
    def at(**fields):
        return rdp.rdp(Event("gaussian", "x", sampling_probability=0.3, **fields), 6)

    removed = at(noise_multiplier=4.0)
    votes = at(noise_multiplier=4.0 / 2**0.5, adjacency="replace-one")
    vectors = at(noise_multiplier=2.0, adjacency="replace-one", geometry="vectors")
    assert removed < votes <= 2 * removed + 1e-12
    assert votes < vectors


def test_strict_and_standard_conversions_invert():
    events = [Event("gaussian", "x", noise_multiplier=5.0, sampling_probability=0.5, count=10)]
    epsilon = rdp.epsilon_rdp(events, 1e-5)
    assert rdp.delta_rdp(events, epsilon) == pytest.approx(1e-5, rel=0.05)
    strict = rdp.strict_epsilon_rdp(events, 1e-5)
    assert strict > epsilon
    assert rdp.delta_rdp(events, strict, strict=True) == pytest.approx(1e-5, rel=1e-6)


def test_failure_probability_of_events_comes_off_delta():
    event = Event("pure", "x", epsilon=0.5, delta=1e-6, count=3)
    assert rdp.added_delta([event]) == pytest.approx(3e-6)
    assert rdp.epsilon_rdp([event], 2e-6) == np.inf
    assert rdp.epsilon_rdp([event], 1e-5) < np.inf


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    "event",
    [
        Event("gaussian", "votes", noise_multiplier=0.7, sampling_probability=0.1, count=20),
        Event("gaussian", "votes", noise_multiplier=4.0, sampling_probability=0.01, count=1000),
        Event("laplace", "counts", epsilon=0.3, count=5),
        Event("pure", "search", epsilon=0.05),
        Event("gaussian", "gradients", noise_multiplier=1.2, sampling_probability=0.1, count=20,
              adjacency="replace-one", geometry="vectors"),
    ],
)  # fmt: skip
def test_the_quick_search_finds_the_best_of_its_orders(event, delta):
    def value(order):
        return closed_form.rdp_to_epsilon(order, rdp.rdp(event, order), delta)

    assert rdp.epsilon_rdp([event], delta, quick=True) == pytest.approx(min(map(value, rdp._QUICK)), rel=1e-12)


def test_two_terms_are_summed_as_many_are():
    x = np.linspace(-30.0, 40.0, 501)
    for sign in (1.0, -1.0):
        j = np.arange(2.0)
        weights = j * np.log(0.1) + (1 - j) * np.log1p(-0.1)
        general = logsumexp(weights - (x[:, None] - sign * j) ** 2 / (2.0 * 0.8**2), axis=1)
        assert rdp._log_mixture(x, 0.1, 0.8, 1, sign) == pytest.approx(general, rel=1e-13, abs=1e-13)


def test_noise_for_sampled_gradients_under_replacement_is_found_in_few_integrals(monkeypatch):
    """A bracket over all orders took more than three thousand, and minutes."""
    asked = []
    integral = rdp._opposed
    monkeypatch.setattr(rdp, "_opposed", lambda *a: asked.append(a) or integral(*a))
    training = Event("gaussian", "gradients", noise_multiplier=1.0, sampling_probability=0.1, count=20,
                     adjacency="replace-one", geometry="vectors")  # fmt: skip
    found = exact.calibrate([], [training], 3.0, 1e-5)
    assert 2.99 < found.epsilon <= 3.0
    assert found.epsilon_low <= found.epsilon
    assert len(asked) < 900
