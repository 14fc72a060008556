"""Attackers with partial knowledge: three scenarios by hand, and a Zipf prior that is right or wrong."""

import math

import numpy as np
import pytest

from engine.errors import UserError
from engine.examine.curves import lbf
from engine.studies.pairs import subjective as lbf_subjective

# words:      common  U's own  U's more  rare
X = np.array([900, 30, 60, 10])
Y = np.array([900, 0, 20, 10])
# the text made from X has lost U's own word, but exaggerates the rare one
SX = np.array([920, 0, 40, 40])
SY = np.array([950, 0, 40, 10])


def test_most_telling_words_first_and_the_likelier_of_equals():
    assert lbf_subjective.top_words(X, Y, 2).tolist() == [1, 2]
    assert lbf_subjective.top_words(np.array([5, 1, 94]), np.array([0, 0, 100]), 2).tolist() == [0, 1]
    assert lbf_subjective.top_words(X, Y, 99).size == 4


def test_three_scenarios():
    found = {(row.scenario, row.top): row for row in lbf_subjective.scenarios(X, Y, SX, SY, top=(1, 2))}
    two = {name: found[name, 2].delta for name in {key[0] for key in found}}
    # ε grid: ln 1.01, ln 1.2, ln 2, ln 10
    assert two["base"] == pytest.approx([0.09, 0.09, 0.09, 0.03])
    assert two["synthetic from base"] == pytest.approx([0.0, 0.0, 0.0, 0.0])
    assert two["synthetic from synthetic"] == pytest.approx([0.95, 0.04, 0.04, 0.0])
    assert found["base", 1].mass == pytest.approx(0.03)
    with pytest.raises(UserError, match="top"):
        lbf_subjective.scenarios(X, Y, SX, SY, top=(0,))


def test_watching_every_word_is_theorem_5():
    loss = lbf.loss_of_counts(X, Y)
    delta, mass = lbf_subjective.watched(X, Y, np.arange(4))
    assert delta == pytest.approx([loss.strict_delta(e) for e in lbf_subjective.EPSILONS])
    assert mass == pytest.approx(1.0)


def test_zipf_frequencies():
    found = lbf_subjective.zipf(np.array([1, 2, 3]), 1.0, 0.0)
    assert found == pytest.approx(np.array([6, 3, 2]) / 11)
    assert lbf_subjective.ranks_of(np.array([3, 9, 3, 0])).tolist() == [2, 1, 3, 4]
    with pytest.raises(UserError, match="zipf"):
        lbf_subjective.zipf(np.array([0, 1]))


def test_a_prior_that_is_right_is_the_objective_curve():
    y = Y + 1
    found = lbf_subjective.believed(X + 1, y, y / y.sum())
    assert found.delta == pytest.approx(found.objective)
    assert found.error == pytest.approx(0.0, abs=1e-12)
    # even the right belief misleads where Y gives one of U's words: 1 + 21 of 934 draws
    assert found.false_delta[2] == pytest.approx(22 / 934)


def test_a_prior_that_is_wrong_misses_and_misleads():
    # believes the rare words common and the other way round, so U's own words look ordinary
    found = lbf_subjective.believed(X, Y, lbf_subjective.zipf(np.array([4, 1, 2, 3]), 1.5, 0.0))
    assert found.error > 0.05
    assert found.delta[2] < found.objective[2]
    # knows nothing of U: believes every word equally likely on both sides
    blind = lbf_subjective.believed(X, Y, np.full(4, 0.25), known=np.zeros(4, int))
    assert blind.delta.tolist() == blind.false_delta.tolist() == [0.0] * 4
    with pytest.raises(UserError, match="background"):
        lbf_subjective.believed(X, Y, np.array([1.0, 0.0, 0.0, 0.0]))


def test_the_belief_is_the_average_over_data_sets_of_the_prior():
    # the definition, by brute force: draw many Y from the prior, add U, average Pr[M = o]
    rng = np.random.default_rng(0)
    background = lbf_subjective.zipf(np.arange(1, 5))
    own = np.array([0, 30, 40, 0])
    drawn = rng.multinomial(930, background, size=200_000)
    with_u = ((drawn + own) / 1000).mean(axis=0)
    without = (drawn / 930).mean(axis=0)
    expected = np.log((930 * background + own) / 1000 / background)
    assert np.log(with_u / without) == pytest.approx(expected, abs=1e-3)
    assert math.isfinite(expected.max())
