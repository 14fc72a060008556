"""Membership scores from tiny tables worked out by hand, and shadow models' coins."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest

from engine.examine.members.trained import classifiers_scores as classifier
from engine.examine.members.trained import models_scores as attack
from engine.examine.members.trained.shadows import balanced_coins, nearest_text


def table(*log_probabilities, mean=-2.0, spread=0.5):
    size = len(log_probabilities)
    return np.array([log_probabilities, [mean] * size, [spread] * size])


def test_scores_by_hand():
    tokens = [table(-1.0, -2.0, -3.0, -4.0, -5.0), table(-1.0)]
    assert attack.perplexity(tokens) == pytest.approx([-3.0, -1.0])
    assert attack.reference(np.array([-3.0]), np.array([-4.0])) == pytest.approx([1.0])  # likelier than to the public
    assert attack.least_likely(tokens) == pytest.approx([-5.0, -1.0])  # a fifth of five tokens is one
    assert attack.least_likely(tokens, 0.4) == pytest.approx([-4.5, -1.0])
    assert attack.least_likely_standardised(tokens) == pytest.approx([-6.0, 2.0])  # (-5 + 2) / 0.5, (-1 + 2) / 0.5
    size = len(zlib.compress(b"abc"))
    assert attack.compressed(tokens[:1], ["abc"]) == pytest.approx([-15.0 / size])
    # behind the prefix the first loses a half, the second nothing: the first looks more like a member
    assert attack.behind_prefix(np.array([-3.0, -2.0]), np.array([-2.0, -2.0])) == pytest.approx([1.5, 1.0])


def test_likelihood_ratio_by_hand():
    shadows = np.array([[-3.0, -4.0], [-5.0, -6.0], [-1.0, -9.0], [-1.0, -9.0]])
    out = np.array([[True, True], [True, True], [False, False], [False, False]])
    found = attack.likelihood_ratio(np.array([-2.0, -5.0]), shadows, out)
    # means without: -4 and -5; squares 1 + 1 + 1 + 1 over 4 - 2 degrees: variance 2
    assert found == pytest.approx([2.0 / math.sqrt(2.0), 0.0])


def test_robust_ratio_by_hand():
    own = np.log([0.4, 0.1, 0.2, 0.3])
    shadows = np.log(np.full((2, 4), 0.2))
    out = np.array([[True] * 4, [False] * 4])
    population = np.array([False, True, True, True])  # ratios 2, 0.5, 1, 1.5
    assert attack.robust_ratio(own, shadows, out, population) == pytest.approx([1.0, 0.0, 0.5, 1.0])
    same = attack.robust_ratio(np.log([0.2] * 4), shadows, out, population)
    assert same == pytest.approx([0.5] * 4)  # ties say nothing


def test_each_text_is_in_half_of_the_models_and_copies_go_together():
    texts = [f"text {i}" for i in range(31)] + ["text 3"]
    coins = balanced_coins(8, texts, 0)
    assert (coins.sum(axis=0) == 4).all()
    assert (coins[:, 3] == coins[:, 31]).all()
    assert coins.any(axis=1).all()
    assert abs(coins.sum(axis=1) - 16).max() <= 1  # about half of all texts a model
    assert (coins != balanced_coins(8, texts, 1)).any()


def test_nearest_text_is_the_one_that_shares_rare_tokens():
    synthetic = [np.array([1, 1, 5, 6]), np.array([1, 1, 7, 8]), np.array([1, 2, 1, 2])]
    private = [np.array([1, 7, 8, 9]), np.array([1, 2, 3]), np.array([4, 4])]
    where, cosine = nearest_text(private, synthetic, 10)
    assert where[:2].tolist() == [1, 2]
    assert cosine[0] > 0.3
    assert cosine[2] == 0.0
    assert nearest_text(synthetic, synthetic, 10)[1] == pytest.approx([1.0] * 3)


def test_classifier_scores_by_hand():
    chances = np.array([[0.5, 0.5], [0.9, 0.1], [0.9, 0.1]])
    label = np.array([0, 0, 1])
    assert classifier.entropy(chances)[0] == pytest.approx(-math.log(2))
    assert classifier.entropy(chances)[1] == classifier.entropy(chances)[2]  # the label plays no part
    assert classifier.confidence(chances, label) == pytest.approx([0.0, math.log(9), -math.log(9)])
    wanted = 0.1 * math.log(0.9) + 0.1 * math.log(1 - 0.1)  # Song and Mittal 2021, equation 8
    assert classifier.modified_entropy(chances, label)[1] == pytest.approx(wanted)
    assert classifier.modified_entropy(chances, label)[2] < -1.5  # sure and wrong


def test_classifier_is_surer_of_what_it_saw():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(200)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(80)]
    labels = [str(x) for x in rng.integers(0, 2, 80)]
    classes, predict = classifier.trained(texts[:40], labels[:40], 0)
    label = np.array([classes.index(one) for one in labels])
    found = classifier.confidence(predict(texts), label)
    assert np.median(found[:40]) > np.median(found[40:]) + 1
