"""Permutation of trainings: even p values where nothing leaks, small ones where something does."""

import numpy as np
import pytest

from engine.studies.pairs.chance import by_training, excess_by_chance, hockey_stick

CHANCE = 1 / (np.arange(1, 201) + 2.7)
CHANCE /= CHANCE.sum()


def shares(rng, number, chance=CHANCE, words=800):
    """Return trainings that differ among themselves, as models do."""
    drawn = [chance * rng.lognormal(0, 0.3, chance.size) for _ in range(number)]
    return np.array([rng.multinomial(words, one / one.sum()) / words for one in drawn])


def test_p_values_are_even_where_nothing_leaks():
    rng = np.random.default_rng(0)
    found = [excess_by_chance(shares(rng, 6), shares(rng, 3), 0.18, seed) for seed in range(100)]
    assert {one.namings for one in found} == {84}
    assert sum(one.p <= 0.05 for one in found) <= 11  # 5 are expected; more than 11 has a chance below 1 in 200
    assert 0.4 < np.mean([one.p for one in found]) < 0.62
    assert abs(np.mean([one.excess for one in found])) < 0.01


def test_an_echo_is_seen():
    rng = np.random.default_rng(1)
    echo = CHANCE.copy()
    echo[100:] *= 4
    found = [excess_by_chance(shares(rng, 6, echo / echo.sum()), shares(rng, 3), 0.18, seed) for seed in range(10)]
    assert sum(one.verdict == "leakage" for one in found) >= 9


def test_two_trainings_are_too_few():
    rng = np.random.default_rng(2)
    found = excess_by_chance(shares(rng, 4), shares(rng, 2), 0.18)
    assert (found.namings, found.verdict) == (15, "too few")
    assert excess_by_chance(shares(rng, 1), shares(rng, 1), 0.18) is None


def test_many_trainings_are_named_at_random():
    rng = np.random.default_rng(3)
    found = excess_by_chance(shares(rng, 12), shares(rng, 6), 0.18)
    assert 400 < found.namings <= 499
    assert 1 / 499 <= found.p <= 1


def test_generations_of_a_training_are_averaged():
    counts = np.array([[1, 1], [3, 1], [0, 4]])
    assert by_training(counts, ["a", "a", "b"]) == pytest.approx(np.array([[0.625, 0.375], [0, 1]]))


def test_the_divergence_by_hand():
    assert hockey_stick(np.array([0.5, 0.5]), np.array([0.9, 0.1]), 0.0) == pytest.approx(0.4)
    assert hockey_stick(np.array([0.5, 0.5]), np.array([0.9, 0.1]), np.log(5)) == pytest.approx(0.0)
