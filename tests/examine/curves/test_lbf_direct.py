"""Direct sampling over sizes and trials: sums, power laws, and what is known of a corpus of random words."""

import dataclasses
import math

import numpy as np
import pytest

from engine.errors import UserError
from engine.examine.curves import lbf, lbf_direct, ngram_counts
from engine.examine.curves.ngram_counts import Numbers
from engine.examine.curves.ngram_sampling import DirectSampling


@pytest.fixture(scope="module")
def sampling():
    rng = np.random.default_rng(5)
    chance = 1 / (np.arange(1, 3001) + 2.7)
    texts = [" ".join(f"w{i}" for i in rng.choice(3000, 60, p=chance / chance.sum())) for _ in range(600)]
    numbers = Numbers()
    table = ngram_counts.tokens(texts, numbers)
    return DirectSampling(ngram_counts.count(table, np.arange(600), 1, len(numbers)))


def test_more_sources_left_out_lose_more(sampling):
    found = lbf_direct.summarise(sampling, list(lbf_direct.trials(sampling, (1, 10, 100), 5)), "record")
    assert [s.size for s in found.sizes] == [1, 10, 100]
    floors = [s.floor for s in found.sizes]
    assert floors == sorted(floors)
    # the standard δ grows at every ε; the strict one below the constant does not: fewer outputs are left untouched
    assert (np.diff([s.delta_standard for s in found.sizes], axis=0) >= 0).all()
    assert found.sizes[2].delta[0] < found.sizes[0].delta[0]
    # all sources are equally long: the shared constant is ln(600 / (600 - |U|)) exactly
    assert [s.constant for s in found.sizes] == pytest.approx([math.log(600 / (600 - u)) for u in (1, 10, 100)])
    for size in found.sizes:
        assert size.epsilons[1] >= size.constant - 1e-12  # strict δ = 0.01 cannot pass below it
    assert 0.5 < found.fits[1].exponent < 1.2
    row = found.as_dict()
    assert row["ngrams"] == 36_000
    assert len(row["power_law"]) == 2
    assert row["sizes"][2]["curve"][0]["delta"] <= 1.0


def test_trials_can_be_stopped_and_sizes_are_checked_first(sampling):
    seen = []
    for trial in lbf_direct.trials(sampling, (1, 10), 3, cancelled=lambda: len(seen) >= 2):
        seen.append(trial)
    assert len(seen) == 2
    with pytest.raises(UserError, match="left out"):
        next(lbf_direct.trials(sampling, (1, 600), 3))


@pytest.mark.parametrize(
    ("values", "expected"),
    [((0.1, 0.2, 0.4, 0.9), 0.3), ((0.4, 0.1, 0.2), 0.2), ((0.1, 0.2, math.inf, math.inf), math.inf),
     ((0.1, 0.3, 0.5, math.inf), 0.4), ((math.inf,) * 2, math.inf)],
)  # fmt: skip
def test_medians_are_the_middle_of_even_numbers_and_keep_infinite_ends(sampling, values, expected):
    found = [
        dataclasses.replace(next(iter(lbf_direct.trials(sampling, (1,), 1))), epsilons=(value, 1.0), trial=i)
        for i, value in enumerate(values)
    ]
    size = lbf_direct.summarise(sampling, found, "record").sizes[0]
    assert size.epsilons[0] == pytest.approx(expected)
    assert size.infinite[0] == sum(map(math.isinf, values))


def test_scatter_has_every_changed_output_and_the_constant(sampling):
    outputs = sampling.exclude(np.array([3, 4]))
    found = lbf_direct.scatter(outputs)
    assert found.probability.size + sum(found.infinite) == outputs.x.size
    assert found.constant == pytest.approx(-math.log(600 / 598))
    rare = found.probability < np.quantile(found.probability, 0.3)
    assert found.loss[rare].mean() > found.loss[~rare].mean()


def test_epsilon_at_a_delta_is_where_the_curve_says(sampling):
    outputs = sampling.exclude(np.arange(20))
    trial = lbf_direct.trial_of(outputs, 20, 0)
    whole = lbf.curve(lbf_direct.loss_of(outputs))
    for delta, epsilon in zip(lbf_direct.DELTAS, trial.epsilons):
        assert epsilon == pytest.approx(whole.epsilon[np.flatnonzero(whole.delta <= delta)[0]])
