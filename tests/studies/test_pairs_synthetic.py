"""Synthetic text of X against X without U: noise alone, a planted echo, and the decomposition of a change."""

import math

import numpy as np
import pytest

from engine.errors import InternalError, UserError
from engine.examine.curves import ngram_counts
from engine.examine.curves.ngram_counts import Numbers
from engine.studies.pairs import synthetic as lbf_synthetic

GRID = [0.01, 0.1, 0.5]
CHANCE = 1 / (np.arange(1, 401) + 2.7)
CHANCE /= CHANCE.sum()


def generations(rng, number, chance=CHANCE, words=4000):
    return rng.multinomial(words, chance, size=number)


def test_without_leakage_x_against_y_looks_like_x_against_x():
    rng = np.random.default_rng(1)
    found = lbf_synthetic.compare(generations(rng, 6), generations(rng, 6), GRID)
    assert found.single.curve.delta_standard[1] > 0.05  # the thesis' setting: noise that looks like leakage
    assert (found.pooled.delta_standard < found.single.curve.delta_standard).all()
    assert np.abs(found.excess).max() < 0.01
    assert (found.null.standard_low <= found.null.curve.delta_standard + 1e-12).all()


def test_a_planted_echo_stands_out_of_the_null_curve():
    rng = np.random.default_rng(2)
    echo = CHANCE.copy()
    echo[300:] *= 3  # what only U wrote comes back more often
    found = lbf_synthetic.compare(generations(rng, 6, echo / echo.sum()), generations(rng, 6), GRID)
    assert found.excess.min() > 0.03


def test_trainings_stay_together():
    rng = np.random.default_rng(3)
    # three trainings with a bias of their own, two generations each; X and Y are drawn alike
    bias = [CHANCE * rng.lognormal(0, 0.4, 400) for _ in range(6)]
    x, y = (np.concatenate([generations(rng, 2, b / b.sum(), 40_000) for b in part]) for part in (bias[:3], bias[3:]))
    names = [i // 2 for i in range(6)]
    apart = lbf_synthetic.compare(x, y, GRID)
    together = lbf_synthetic.compare(x, y, GRID, trainings_x=names, trainings_y=names)
    assert np.abs(together.excess[0]) < np.abs(apart.excess[0])
    with pytest.raises(UserError, match="trainings"):
        lbf_synthetic.compare(x, y, GRID, trainings_x=[0])


def test_one_generation_has_no_null_curve():
    rng = np.random.default_rng(4)
    found = lbf_synthetic.compare(generations(rng, 1), generations(rng, 1), GRID)
    assert (found.null, found.excess) == (None, None)
    assert found.single.curve.delta.tolist() == found.pooled.delta.tolist()
    with pytest.raises(UserError, match="generations"):
        lbf_synthetic.compare(np.zeros((1, 4), int), generations(rng, 1)[:, :4], GRID)


def test_change_of_the_lbf():
    # the thesis' example: counts 5 and 2 of equally long texts become 6 and 1
    found = lbf_synthetic.shift(np.array([5, 95, 0]), np.array([2, 98, 0]), np.array([6, 94, 0]), np.array([1, 98, 1]))
    assert found.direct[0] == pytest.approx(math.log(5 / 2))
    assert found.synthetic[0] == pytest.approx(math.log(6))
    assert found.first_order[0] == pytest.approx(1 / 5 + 1 / 2)
    assert found.change == pytest.approx(np.log1p(found.shift_x) - np.log1p(found.shift_y))
    assert found.left_out == 1


def test_small_relative_changes_follow_the_first_order():
    rng = np.random.default_rng(5)
    x, y = rng.integers(10_000, 20_000, (2, 50))
    noisy = [np.rint(side * rng.uniform(0.99, 1.01, 50)).astype(int) for side in (x, y)]
    found = lbf_synthetic.shift(x, y, *noisy)
    assert found.change == pytest.approx(found.first_order, abs=3e-4)


def counted(texts, sources, numbers, size):
    return ngram_counts.count(ngram_counts.tokens(texts, numbers), np.asarray(sources), 3, size)


def test_share_of_own_trigrams_that_come_back():
    numbers = Numbers()
    texts = ["my odd own words", "my odd own dog", "a plain common text", "a plain common text here"]
    for text in (*texts, "sat"):
        ngram_counts.tokens([text], numbers)
    counts = counted(texts, [0, 1, 2, 3], numbers, len(numbers))
    # U = {0, 1}: "my odd own" is in both of U and nowhere else; so unique to U with "odd own words", "odd own dog"
    made_x = counted(["my odd own sat"], [0], numbers, len(numbers))
    made_y = counted(["a plain common text"], [0], numbers, len(numbers))
    found = lbf_synthetic.reproduced(counts, np.array([0, 1]), made_x, made_y)
    assert found.unique == 3
    assert (found.from_x.value, found.from_y.value) == (pytest.approx(1 / 3), 0.0)
    assert found.difference.value == pytest.approx(1 / 3)
    one = lbf_synthetic.reproduced(counts, np.array([0]), made_x, made_y)
    assert (one.unique, one.from_x.value) == (1, 0.0)  # "my odd own" is not source 0's alone
    keys, table = lbf_synthetic.tabulate([made_x, made_y])
    assert table.sum(axis=1).tolist() == [2, 2]
    assert (np.diff(keys.astype(float)) > 0).all()
    with pytest.raises(InternalError):
        lbf_synthetic.reproduced(counts, np.array([0]), made_x, counted(["a plain common"], [0], numbers, 2**40))
