"""Privacy-loss distributions against closed forms, worked examples and published totals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.dp.accounting import closed_form, pld, pld_events
from engine.dp.events import Event
from engine.errors import InternalError


def pairs(p, q):
    """Return the losses between two distributions over the same outputs, p against q and q against p."""

    def ratio(p, q):
        both = (p > 0.0) & (q > 0.0)
        return pld.atoms(np.log(p[both]) - np.log(q[both]), p[both], float(p[(p > 0.0) & (q == 0.0)].sum()))

    first, second = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    return pld.PrivacyLoss((ratio(first, second), ratio(second, first)))


def gaussian(mu, pessimistic=True, **more):
    return pld_events.from_events(
        [Event("gaussian", "votes", noise_multiplier=1 / mu)], pessimistic=pessimistic, **more
    )


def sampled(noise_multiplier, q, count, **fields):
    return Event("gaussian", "votes", noise_multiplier=noise_multiplier, sampling_probability=q, count=count, **fields)


@pytest.mark.parametrize("mu", [0.1, 0.9, 4.0])
def test_gaussian_grid_encloses_the_closed_form(mu):
    up, down = gaussian(mu), gaussian(mu, pessimistic=False)
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        standard, strict = closed_form.delta_standard(mu, epsilon), closed_form.delta_strict(mu, epsilon)
        assert down.delta(epsilon) - 1e-13 <= standard <= up.delta(epsilon) + 1e-13
        assert down.strict_delta(epsilon) - 1e-13 <= strict <= up.strict_delta(epsilon) + 1e-13
    for delta in (1e-3, 1e-6):
        assert up.epsilon(delta) == pytest.approx(closed_form.epsilon(mu, delta), rel=2e-3, abs=1e-4)
        assert up.epsilon(delta, strict=True) == pytest.approx(
            closed_form.epsilon(mu, delta, strict=True), rel=2e-3, abs=1e-4
        )


def test_composition_of_gaussians_adds_squares():
    once = gaussian(0.3)
    ten = once.compose(10)
    assert ten.epsilon(1e-5) == pytest.approx(closed_form.epsilon(0.3 * math.sqrt(10), 1e-5), rel=2e-3)
    assert once.compose(once).compose(once).delta(0.5) == pytest.approx(once.compose(3).delta(0.5), rel=1e-9)


def test_m1_of_the_lbf_thesis():
    # X = {1..10}, Y = {2..10}; one uniform draw
    loss = pairs([0.1] * 10, [0.0] + [1 / 9] * 9)
    threshold = abs(math.log(0.9))
    assert loss.strict_delta(threshold) == pytest.approx(0.1)
    assert loss.epsilon(0.1, strict=True) == pytest.approx(threshold)
    assert loss.epsilon(0.0, strict=True) == math.inf


def test_m2_of_the_lbf_thesis():
    # with probability 1/10 the output is 1, else a uniform draw
    loss = pairs([0.19] + [0.09] * 9, [0.1] * 10)
    threshold = abs(math.log(0.9))
    assert loss.epsilon(0.0, strict=True) == pytest.approx(math.log(1.9))
    assert loss.strict_delta(threshold) == pytest.approx(0.19)
    assert loss.delta(threshold) == pytest.approx(0.079, abs=2e-4)


def test_losses_with_an_infinite_one():
    loss = pld.PrivacyLoss((pld.atoms(np.array([0.0, 0.5]), np.array([0.25, 0.5]), 0.25),))
    assert loss.strict_delta(0.4) == pytest.approx(0.75)
    assert loss.strict_delta(0.5) == pytest.approx(0.25)
    assert loss.delta(0.0) == pytest.approx(0.25 + 0.5 * (1 - math.exp(-0.5)))
    assert loss.compose(2).strict_delta(0.9) == pytest.approx(1 - 0.75**2 + (0.5) ** 2)


# dp_accounting's golden values: q = 0.01, T = 1000, noise 1, delta 1e-5
def test_golden_totals():
    total = pld_events.from_events([sampled(1.0, 0.01, 1000)], strict=False)
    assert total.epsilon(1e-5) == pytest.approx(1.828, abs=1e-3)
    opposed = sampled(0.5, 0.01, 1000, adjacency="replace-one", geometry="vectors")
    assert pld_events.from_events([opposed], strict=False).epsilon(1e-5) == pytest.approx(2.843, abs=1e-3)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_full_gaussians_are_not_doubled_by_the_library(adjacency):
    event = Event("gaussian", "votes", noise_multiplier=2.0, count=4, adjacency=adjacency)
    total = pld_events.from_events([event, Event("pure", "x", epsilon=1e-6)])
    assert total.epsilon(1e-5) == pytest.approx(closed_form.epsilon(1.0, 1e-5), abs=3e-4)


def test_replaced_sampled_votes_are_a_removal_and_an_addition():
    # at q -> 1 the two coordinates make one Gaussian of sensitivity sqrt(2)
    nearly = sampled(3.0, 1 - 1e-9, 5, adjacency="replace-one")
    assert pld_events.from_events([nearly]).epsilon(1e-5) == pytest.approx(
        closed_form.epsilon(math.sqrt(5) / 3.0, 1e-5), abs=3e-4
    )
    removal = pld_events.from_events([sampled(3.0 * math.sqrt(2), 0.5, 5)]).epsilon(1e-5)
    opposed = sampled(3.0 / math.sqrt(2), 0.5, 5, adjacency="replace-one", geometry="vectors")
    replaced = pld_events.from_events([sampled(3.0, 0.5, 5, adjacency="replace-one")]).epsilon(1e-5)
    assert removal < replaced < pld_events.from_events([opposed]).epsilon(1e-5)


@pytest.mark.parametrize("inner", [0.0, 0.3, 0.9])
def test_orthogonal_votes_are_the_worst_of_non_negative_ones(inner):
    # Monte Carlo of the true pair: unit contributions at this inner product, q = 0.4, noise 1.5
    q, noise, epsilon = 0.4, 1.5, 0.2
    first, second = np.array([1.0, 0.0]), np.array([inner, math.sqrt(1 - inner**2)])
    rng = np.random.default_rng(3)
    drawn = rng.normal(0, noise, (400_000, 2))
    drawn[rng.random(len(drawn)) < q] += first

    def density(unit):
        return (1 - q) + q * np.exp((drawn @ unit - 0.5) / noise**2)

    gap = 1 - np.exp(epsilon) * density(second) / density(first)
    estimate, error = np.clip(gap, 0, None).mean(), np.clip(gap, 0, None).std() / math.sqrt(len(gap))
    claimed = pld_events.from_events([sampled(noise / math.sqrt(2), q, 1, adjacency="replace-one")]).delta(epsilon)
    assert estimate <= claimed + 5 * error
    if inner == 0.0:
        assert claimed == pytest.approx(estimate, abs=5 * error)


def test_laplace_and_pure_have_their_known_curves():
    loss = pld_events.from_events([Event("laplace", "histogram", epsilon=1.0)])
    assert loss.delta(0.5) == pytest.approx(1 - math.exp(-0.25), abs=1e-4)
    assert loss.epsilon(1e-9) == pytest.approx(1.0, abs=2e-4)
    search = pld_events.from_events([Event("pure", "search", epsilon=0.4, count=2)])
    assert search.epsilon(1e-9) == pytest.approx(0.8, abs=3e-4)
    assert search.strict_delta(0.79) == 1.0  # nothing but its bound is known of a pure mechanism
    assert search.strict_delta(0.801) == 0.0


@pytest.mark.parametrize("group", [2, 3])
def test_groups_of_sampled_units_lie_between_one_and_all_together(group):
    event = sampled(6.0, 0.6, 4)
    grouped = pld_events.from_events([event], group=group)
    low = pld_events.from_events([event], group=group, pessimistic=False)
    whole = closed_form.epsilon(group * 2 / 6.0, 1e-5)
    assert pld_events.from_events([event]).epsilon(1e-5) < low.epsilon(1e-5) <= grouped.epsilon(1e-5) < whole
    certain = sampled(6.0, 1 - 1e-9, 4)
    assert pld_events.from_events([certain], group=group).epsilon(1e-5) == pytest.approx(whole, rel=2e-3)


def test_zcdp_has_no_distribution():
    with pytest.raises(InternalError, match="zcdp"):
        pld_events.from_events([Event("zcdp", "token", rho=0.1)])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8),
    st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8),
    st.floats(0.0, 3.0),
)
def test_pairs_obey_the_definitions(first, second, epsilon):
    p = np.array(first) / sum(first)
    q = np.array(second[: len(p)]) + 1e-9
    q = q / q.sum()
    loss = pairs(p, q)
    hockey = max(np.clip(a - math.exp(epsilon) * b, 0, None).sum() for a, b in ((p, q), (q, p)))
    assert loss.delta(epsilon) == pytest.approx(hockey, abs=1e-9)
    assert loss.strict_delta(epsilon) >= loss.delta(epsilon) - 1e-9
    assert loss.compose(2).delta(epsilon) >= loss.delta(epsilon) - 1e-9
    assert loss.delta(loss.epsilon(1e-4)) <= 1e-4 + 1e-12
