"""Points of a choice among sets of texts: equal to counting by hand, bounded a unit, and drawn as the noise says."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from engine.dp.noise import choice, votes
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
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


def law(points, epsilon, adjacency):
    """Return the exact probability of each set to be chosen, with exponential noise on its points.

    Source: McKenna and Sheldon 2020 (Permute-and-Flip), by inclusion and exclusion over the others.
    """
    scale = 2.0 * choice.moved(len(points), adjacency) / epsilon
    reach = np.exp((np.asarray(points, float) - max(points)) / scale)
    found = np.zeros(len(points))
    for one in range(len(points)):
        others = [other for other in range(len(points)) if other != one]
        for size in range(len(points)):
            for some in combinations(others, size):
                found[one] += reach[one] * (-1) ** size * np.prod(reach[list(some)]) / (size + 1)
    return found


def corpora(rng):
    """Return records, their units, sets of texts, and the same records with one unit's data replaced."""
    cap, people = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    records, unit_of = unit_rows(rng, people * cap), np.repeat(np.arange(people), cap)
    sets = [unit_rows(rng, int(rng.integers(1, 4))) for _ in range(int(rng.integers(2, 6)))]
    if rng.random() < 0.3:
        sets.append(sets[0].copy())
    other = records.copy()
    other[unit_of == 0] = -records[unit_of == 0] if rng.random() < 0.5 else unit_rows(rng, cap)
    return records, unit_of, sets, other


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_law_of_the_choice_over_neighbouring_corpora_stays_within_e_to_the_epsilon_and_reaches_it(adjacency):
    rng, worst = np.random.default_rng(8), 0.0
    for _ in range(1_500):
        records, unit_of, sets, other = corpora(rng)
        here = choice.points(records, unit_of, sets)
        if adjacency == "zero-out":
            there = choice.points(records[unit_of != 0], unit_of[unit_of != 0], sets)
        else:
            there = choice.points(other, unit_of, sets)
        epsilon = float(rng.choice([0.3, 1.0, 4.0]))
        odds = np.log(law(here, epsilon, adjacency)) - np.log(law(there, epsilon, adjacency))
        worst = max(worst, float(np.abs(odds).max()) / epsilon)
    assert 0.99 < worst <= 1.0 + 1e-9  # no more than is claimed, and no noise that the claim does not need


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_what_is_drawn_follows_that_law_and_the_better_run_wins_more_often_with_more_budget(adjacency):
    rng, draws = np.random.default_rng(4), 1_000
    near = rng.normal(size=(4, 8)).astype(np.float32)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    sets = [-near, near, -near[::-1]]  # a planted better run, and two level ones
    table = pd.DataFrame({"record_id": [f"r{i}" for i in range(9)], "text": [str(i % 4) for i in range(9)],
                          "source_id": None, "label": None})  # fmt: skip
    won = []
    for epsilon in (0.05, 0.5, 2.0):
        drawn = []
        for _ in range(draws):
            data = PrivateData(table, embed=lambda texts: near[[int(text) for text in texts]], order_key=b"k" * 32)
            held = Mechanisms(data, MemoryOutputs(), adjacency=adjacency)
            drawn.append(held.noisy_choice("choice", sets, fingerprint="f", epsilon=epsilon, what="choice"))
        counted = np.bincount(drawn, minlength=3)
        points = choice.points(votes.quantised(near[[i % 4 for i in range(9)]]), np.arange(9), [
            votes.quantised(one) for one in sets
        ])  # fmt: skip
        wanted = law(points, epsilon, adjacency) * draws
        assert (np.abs(counted - wanted) <= 5.0 * np.sqrt(wanted)).all(), (counted, wanted)
        won.append(counted[1])
    assert draws / 3 < won[1] < won[2]
    assert won[0] < won[1]


def test_the_library_gives_the_same_loss_for_sums_that_move_in_one_direction():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    for adjacency, one_way in (("zero-out", True), ("replace-one", False)):
        scale = 2.0 * choice.moved(5, adjacency) / 0.7
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=one_way)
        drawn = space >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale)
        assert drawn.map(int(choice.most(5))) == pytest.approx(0.7)
