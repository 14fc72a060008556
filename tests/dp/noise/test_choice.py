"""Points of a choice among sets of texts: equal to counting by hand, bounded a unit, and drawn as the noise says."""

import numpy as np
import pytest

from engine.dp.noise import choice, mechanisms, votes
from engine.errors import InternalError


def unit_rows(rng, n, d=8):
    rows = rng.normal(size=(n, d)).astype(np.float32)
    return votes.quantised(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def by_hand(records, unit_of, sets):
    """Return half points, one unit and one pair of sets after another."""
    total = np.zeros(len(sets), int)
    for unit in sorted(set(unit_of.tolist())):
        own = records[unit_of == unit].astype(np.float64)
        near = [float((own @ one.astype(np.float64).T).max(axis=1).sum()) for one in sets]
        for a, mine in enumerate(near):
            total[a] += sum(2 if mine > other else int(mine == other) for b, other in enumerate(near) if b != a)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_points_are_those_counted_by_hand_and_one_unit_moves_each_by_at_most_its_own(seed):
    rng = np.random.default_rng(seed)
    records, sets = unit_rows(rng, 40), [unit_rows(rng, int(size)) for size in rng.integers(1, 9, rng.integers(2, 6))]
    sets.append(sets[0].copy())  # a set that stands there twice
    unit_of = rng.integers(0, 12, 40)
    found = choice.points(records, unit_of, sets)
    assert found.tolist() == by_hand(records, unit_of, sets).tolist()
    assert found.sum() == len(set(unit_of.tolist())) * len(sets) * (len(sets) - 1)
    for unit in set(unit_of.tolist()):
        left = choice.points(records[unit_of != unit], unit_of[unit_of != unit], sets)
        assert (found - left).min() >= 0
        assert (found - left).max() <= choice.most(len(sets))


def test_a_set_that_stands_there_twice_takes_nothing_from_itself():
    rng = np.random.default_rng(1)
    good, bad = unit_rows(rng, 30), unit_rows(np.random.default_rng(2), 3)
    records, who = good[:20], np.arange(20)
    alone = choice.points(records, who, [good, bad])
    twice = choice.points(records, who, [good, good, bad])
    assert alone.argmax() == 0
    assert twice[0] == twice[1] > twice[2]


def test_nobody_there_gives_no_points_and_one_set_is_no_choice():
    rng = np.random.default_rng(3)
    sets = [unit_rows(rng, 3), unit_rows(rng, 3)]
    assert choice.points(np.zeros((0, 8), np.float32), np.zeros(0, np.int64), sets).tolist() == [0, 0]
    for wrong in ([sets[0]], [sets[0], np.zeros((0, 8), np.float32)]):
        with pytest.raises(InternalError):
            choice.points(unit_rows(rng, 2), np.arange(2), wrong)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_one_unit_changes_the_odds_of_each_choice_by_at_most_e_to_the_epsilon(epsilon):
    # The exponential mechanism's odds on points that one unit moves as far as it can; the draws follow a law at least
    # as good (OpenDP draws with exponential noise), so frequencies stay within the bound but for the counting error.
    points, draws = np.array([20, 22, 18]), 20_000
    neighbour = points + np.array([0, 2, 4])  # K = 3: one unit gives 0 to 4 halves
    counted = [
        np.bincount(mechanisms.noisy_argmax(np.tile(one, (draws, 1)), epsilon, choice.most(3)), minlength=3) / draws
        for one in (points, neighbour)
    ]
    slack = 5 * np.sqrt(0.25 / draws)
    assert (counted[0] <= np.exp(epsilon) * (counted[1] + slack)).all()
    assert (counted[1] <= np.exp(epsilon) * (counted[0] + slack)).all()
    assert counted[1].argmax() == 1  # and the choice still follows the points
