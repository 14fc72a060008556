"""Advice before spending: noise-batch ratio, votes against their noise, least sizes; from public facts alone."""

from dataclasses import replace

import pytest

from engine.dp.accounting.closed_form import default_delta, noise_multiplier
from engine.dp.guarantee import Guarantee
from engine.methods import get_method
from engine.methods.advice import sizes
from engine.methods.advice.advice import advice
from engine.methods.base import Facts, parse_parameters


def told(method, units, count=100, **parameters):
    known = get_method(method)
    values, facts = parse_parameters(known.spec, parameters), Facts(units, units)
    return advice(method, values, facts, known.guarantee(values, facts), count)


@pytest.mark.parametrize(
    ("units", "epsilon", "batch", "ratio"),
    [
        # exact Rényi accounting at 300 steps, δ = 1/(N ln N)
        (10_000, 1.0, 1_024, 7.1e-3), (10_000, 4.0, 1_024, 2.2e-3), (3_000, 1.0, 1_024, 2.2e-2),
        (3_000, 4.0, 1_024, 6.4e-3), (1_000, 2.0, 500, 3.2e-2), (300, 8.0, 150, 3.1e-2),
    ],
)  # fmt: skip
def test_the_closed_form_of_the_ratio_is_near_the_exact_one(units, epsilon, batch, ratio):
    assert sizes.training_ratio(units, epsilon, 300, batch) == pytest.approx(ratio, rel=0.15)


def test_least_sizes_grow_as_epsilon_falls():
    for size in (
        sizes.least_units,
        sizes.training_units,
        sizes.single_vote_units,
        sizes.voting_units,
        sizes.metadata_units,
    ):
        found = [size(epsilon) for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0)]
        assert found == sorted(found, reverse=True)
        assert found[0] > 3 * found[-1]
    assert 7_000 <= sizes.training_units(1.0) <= 11_000
    assert 2_000 <= sizes.training_units(4.0) <= 3_000
    assert (sizes.single_vote_units(4.0), sizes.voting_units(4.0), sizes.metadata_units(4.0)) == (1_000, 3_000, 20_000)
    assert sizes.training_ratio(sizes.training_units(2.0), 2.0) <= sizes.AS_PUBLISHED


def trained(units, multiplier, adjacency="zero-out", epsilon=4.0, **parameters):
    """Return the advice on a training with this noise over sensitivity, as an accountant would have found it."""
    values = parse_parameters(
        get_method("dp-finetune").spec, {"adjacency": adjacency, "epsilon": epsilon, **parameters}
    )
    sigma = multiplier * values.clip * (1.0 if adjacency == "zero-out" else 2.0)
    claim = Guarantee("dp", "", epsilon=epsilon, delta=1e-5, noise={"training": {"sigma": sigma}})
    (found,) = advice("dp-finetune", values, Facts(units, units), claim, 100)
    return found


def test_training_is_held_against_what_was_published():
    poor = trained(500, 6.0, epsilon=1.0)
    assert "r = σ / (q N) = 4.7e-02 " in poor
    assert "none that we know of learned anything above 2e-02" in poor
    assert f"about {sizes.training_units(1.0, 200):,} records" in poor
    assert "within what has worked" in trained(60_000, 1.0, units_a_step=1_024, steps=300)
    halfway = trained(4_000, 0.8, units_a_step=64)
    assert "Expect less" in halfway
    assert "Draw 1,024 records a step" in halfway


@pytest.mark.parametrize(("adjacency", "ratio"), [("zero-out", "1.2e-02"), ("replace-one", "2.4e-02")])
def test_the_ratio_is_that_of_the_noise_over_the_clip(adjacency, ratio):
    assert f"= {ratio} " in trained(2_000, 3.0, adjacency, clip=0.3, units_a_step=250)


@pytest.mark.slow
def test_the_ratio_of_a_real_claim_is_near_the_closed_form():
    (found,) = told("dp-finetune", 3_000, epsilon=4.0, units_a_step=1_024, steps=300)
    ratio = float(found.split("(q N) = ")[1].split(" of")[0])
    assert ratio == pytest.approx(sizes.training_ratio(3_000, 4.0), rel=0.15)


def test_votes_are_held_against_their_noise():
    (poor, _) = told("aug-pe", 700, count=500, epsilon=1.0)
    sigma = noise_multiplier(1.0, default_delta(700), 10)
    assert f"signal-to-noise ratio of {0.2 / sigma:.2g}" in poor
    assert "hardly more than chance" in poor
    assert f"about {int(float(f'{0.5 * sigma * 3500:.2g}')):,} records" in poor
    assert "a weak signal" in told("aug-pe", 700, count=100, epsilon=2.0)[0]
    (few, _) = told("aug-pe", 700, count=2, epsilon=8.0)
    assert "enough to tell them apart" in few
    (clusters,) = told("aug-pe", 700, count=100, epsilon=8.0, votes_for="clusters", clusters=10)
    assert "10 clusters" in clusters
    for method in ("dpga", "rpsg-public"):
        assert "signal-to-noise ratio" in told(method, 700)[0]


def test_dense_votes_are_advised_where_single_ones_drown():
    said, other = told("aug-pe", 300, count=300, epsilon=1.0)
    assert "hardly more than chance" in said
    assert "votes: dense" in other
    (dense,) = told("aug-pe", 300, count=300, epsilon=1.0, votes="dense")
    sigma = noise_multiplier(1.0, default_delta(300), 10)
    assert f"by a factor of {300 / (sigma * 385**0.5):.2g}" in dense
    assert "enough to tell them apart" in dense
    assert "a weak signal" in told("aug-pe", 60, count=300, epsilon=1.0, votes="dense")[0]
    assert len(told("rpsg-public", 300)) == len(told("aug-pe", 300, votes_for="clusters")) == 1


def test_topics_are_held_against_the_noise_of_a_count():
    (few,) = told("dp-topics", 100, epsilon=1.0)
    assert "it takes about" in few
    (many,) = told("dp-topics", 3_000, epsilon=1.0)
    assert "enough to tell common topics from absent ones" in many
    known = get_method("dp-topics")
    values = parse_parameters(known.spec, {"tuning": "noisy", "epsilon": 1.0})
    noise = {"histogram": {"sigma": 9.0}, "training": {"sigma": 6.0 * values.clip}}
    claim = Guarantee("dp", "", epsilon=1.0, delta=1e-4, noise=noise)
    _, training = advice("dp-topics", values, Facts(500, 500), claim, 100)
    assert "tuning: none" in training


def test_nothing_is_said_where_nothing_is_spent_or_known():
    assert told("public", 50) == ()
    known, facts = get_method("aug-pe"), Facts(50, 50)
    values = parse_parameters(known.spec, {})
    pending = replace(known.guarantee(values, facts), pending=True)
    assert advice("aug-pe", values, facts, pending, 5) == ()


def test_the_filter_around_a_method_changes_no_advice():
    known, facts = get_method("filter:aug-pe"), Facts(900, 900)
    values = parse_parameters(known.spec, {"epsilon": 2.0})
    assert advice("filter:aug-pe", values, facts, known.guarantee(values, facts), 100) == told(
        "aug-pe", 900, epsilon=2.0
    )


def test_votes_for_a_pool_are_held_against_the_noise_that_averaging_leaves():
    promise = {"name": "p", "digest": "0", "texts": 3000}
    enough, weak, none = (
        told("dp-select", units, epsilon=epsilon, promise=promise)[0]
        for units, epsilon in ((3000, 4.0), (600, 1.0), (60, 1.0))
    )
    assert "vote among 3,000 texts: 1 votes for each" in enough
    assert enough.endswith("That is enough to tell them apart.")
    assert "a weak signal. A smaller pool" in weak
    assert "hardly more than chance" in none
    assert told("dp-select", 3000) == ()  # no pool is chosen yet
