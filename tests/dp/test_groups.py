"""What a claim is worth for k units at once: closed forms, chains of neighbours, and the sentence that leaves."""

import math
from dataclasses import replace

import pytest

from engine.dp.accounting import closed_form
from engine.dp.events import Event
from engine.dp.groups import NAMED, SIZES, group_bound, with_named, words
from engine.dp.guarantee import Guarantee
from engine.errors import InternalError


def claim(*events, epsilon=1.0, delta=1e-5, adjacency="zero-out", **extra):
    found = tuple(event.as_dict() for event in events)
    return Guarantee("dp", "A sentence.", epsilon=epsilon, delta=delta, adjacency=adjacency, events=found, **extra)


GAUSSIAN = Event("gaussian", "votes", noise_multiplier=8.0, count=4)  # μ = 1/4


def randomised_response(epsilon, size):
    """Return the exact loss of k units that each answer one bit by randomised response: k times one's."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return size * math.log(keep / (1 - keep))


@pytest.mark.parametrize("size", [2, 3, 10])
def test_pure_claims_grow_with_the_group_as_randomised_response_does(size):
    bound = group_bound(claim(Event("pure", "choice", epsilon=0.3), epsilon=0.3, delta=0.0), size)
    assert bound.epsilon == pytest.approx(randomised_response(0.3, size))
    assert bound.delta == 0.0


@pytest.mark.parametrize("size", [2, 5, 10])
def test_gaussian_noise_is_that_of_a_mean_moved_k_times_as_far(size):
    own = closed_form.epsilon(0.25, 1e-5)
    bound = group_bound(claim(GAUSSIAN, epsilon=own), size)
    assert bound.epsilon == pytest.approx(closed_form.epsilon(0.25 * size, 1e-5))
    assert closed_form.delta_standard(0.25 * size, bound.epsilon) == pytest.approx(1e-5, rel=1e-6)
    assert bound.delta == 1e-5


def test_concentrated_noise_grows_with_the_square():
    bound = group_bound(claim(Event("zcdp", "tokens", rho=0.01), epsilon=closed_form.zcdp_epsilon(0.01, 1e-5)), 3)
    assert bound.epsilon == pytest.approx(closed_form.zcdp_epsilon(0.09, 1e-5), rel=1e-3)


@pytest.mark.parametrize(
    "event",
    [
        replace(GAUSSIAN, sampling_probability=0.1),  # tighter bounds take seconds
        replace(GAUSSIAN, delta=1e-7),  # a bought list of labels: nothing is known of what several share
        Event("laplace", "histogram", epsilon=0.2),
        Event("declared", "labels"),
    ],
    ids=lambda event: event.type,
)
def test_all_else_is_a_chain_of_neighbours(event):
    bound = group_bound(claim(event, epsilon=0.5), 3)
    assert (bound.epsilon, bound.delta) == (1.5, pytest.approx(1e-5 * (1 + math.exp(0.5) + math.exp(1.0))))


def test_a_chain_holds_where_it_is_exact():
    """Gaussian noise: the chain's (kε, δ_k) is no smaller than what the mean moved k times as far costs at kε."""
    for size in (2, 5, 10):
        chained = group_bound(claim(epsilon=(own := closed_form.epsilon(0.25, 1e-5))), size)
        assert closed_form.delta_standard(0.25 * size, size * own) <= chained.delta


def test_what_a_model_spent_before_counts_for_the_group_too():
    """The claim holds more than the events say: they may not be asked alone."""
    both = claim(GAUSSIAN, epsilon=3.0, delta=2e-5, accounting={"own_epsilon": 1.0, "own_delta": 1e-5})
    assert group_bound(both, 2).epsilon == 6.0


def test_a_group_of_one_is_the_claim_and_an_endless_one_is_empty():
    assert group_bound(claim(GAUSSIAN), 1).epsilon == 1.0
    far = group_bound(claim(epsilon=8.0), 10_000)
    assert far.empty
    assert words(far) == "no bound is given"
    with pytest.raises(InternalError):
        group_bound(Guarantee("none", "None."), 2)


def test_the_bound_grows_with_the_group():
    for one in (claim(GAUSSIAN), claim(epsilon=0.2), claim(Event("zcdp", "tokens", rho=0.01))):
        epsilons = [group_bound(one, size).epsilon for size in (1, 2, 3, 5, 10)]
        assert epsilons == sorted(epsilons)


def test_the_sentence_names_fixed_sizes_once_and_says_against_what():
    once = with_named(claim(GAUSSIAN, assumptions=("N is public.",)))
    assert once.assumptions[0] == "N is public."
    said = once.assumptions[-1]
    assert said.startswith(NAMED)
    assert all(f"k = {size}: {words(group_bound(once, size))}" in said for size in SIZES)
    assert "2k stands in place of k" in said
    again = with_named(replace(once, epsilon=2.0, accounting={"own_epsilon": 1.0, "own_delta": 1e-5}))
    assert sum(line.startswith(NAMED) for line in again.assumptions) == 1
    assert "k = 2: ε = 4," in again.assumptions[-1]
    replaced = with_named(claim(GAUSSIAN, adjacency="replace-one")).assumptions[-1]
    assert "2k" not in replaced
    assert "the same records without the name among them" in replaced


def test_nothing_is_said_where_there_is_no_bound_yet_or_nothing_is_read():
    for one in (Guarantee("none", "None."), claim(GAUSSIAN, pending=True), claim(epsilon=0.0, delta=0.0)):
        assert with_named(one) is one
