"""Dense votes and the set they choose: simulated rows of one kind, or of several, among unlike ones."""

import numpy as np
import pytest

from engine.dp.accounting.closed_form import default_delta, noise_multiplier
from engine.dp.noise import votes
from engine.methods.evolution.matching import matched

SIZE, KINDS, LEVEL = 96, 8, 1.1


def rows_of(rng, kinds):
    """Return a row near its kind's centre for each kind number."""
    centres = np.random.default_rng(0).normal(size=(KINDS, SIZE))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[kinds] + LEVEL * rng.normal(size=(len(kinds), SIZE)) / np.sqrt(SIZE)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def cast(records, candidates):
    return votes.dense(votes.quantised(records), votes.quantised(candidates), np.arange(len(records))) / votes.GRID


def distance(one, two):
    """Return the unbiased squared kernel distance of two sets of rows."""

    def inside(rows):
        table = (1.0 + rows @ rows.T) ** 3
        return (table.sum() - np.trace(table)) / (len(rows) * (len(rows) - 1))

    one, two = one.astype(float), two.astype(float)
    return inside(one) + inside(two) - 2.0 * float(((1.0 + one @ two.T) ** 3).mean())


def chosen(how, records, candidates, keep, sigma, rng):
    """Return the places of the candidates that a choice by noisy votes keeps."""
    if how == "matched":
        return matched(
            cast(records, candidates) + sigma * rng.normal(size=len(candidates)), candidates, len(records), keep
        )
    if how == "most dense":
        scores = cast(records, candidates)
    else:
        near = votes.nearest(votes.quantised(records), votes.quantised(candidates))
        scores = np.bincount(near, minlength=len(candidates)).astype(float)
    return np.argsort(-(scores + sigma * rng.normal(size=len(candidates))))[:keep].tolist()


def simulated(how, mixture, units, candidates, epsilon, repeats=4):
    """Return the kept candidates' distance to further records, and which share of them is of each kind, on average."""
    far, shares = [], np.zeros(KINDS)
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        kinds = rng.integers(0, KINDS, candidates)
        records, points = rows_of(rng, rng.choice(mixture, units)), rows_of(rng, kinds)
        sigma = noise_multiplier(epsilon, default_delta(units), 3)
        kept = chosen(how, records, points, candidates // KINDS, sigma, rng)
        far.append(distance(points[kept], rows_of(rng, rng.choice(mixture, 400))))
        shares += np.bincount(kinds[kept], minlength=KINDS) / (len(kept) * repeats)
    return float(np.mean(far)), shares


@pytest.mark.parametrize(
    ("mixture", "units", "candidates", "epsilon"),
    [([3], 300, 800, 1.0), ([3, 3, 3, 5], 1_000, 800, 1.0), ([1, 3, 5, 7], 1_000, 400, 4.0)],
    ids=["one kind", "two kinds", "four kinds"],
)
def test_matched_sets_are_nearer_than_single_votes_and_than_the_most_votes(mixture, units, candidates, epsilon):
    found = {how: simulated(how, mixture, units, candidates, epsilon) for how in ("matched", "nearest", "most dense")}
    assert found["matched"][0] < 0.8 * found["nearest"][0]
    assert found["matched"][0] < found["most dense"][0] or len(set(mixture)) == 1
    for kind in set(mixture):
        assert found["matched"][1][kind] == pytest.approx(mixture.count(kind) / len(mixture), abs=0.2)


def test_of_several_kinds_those_with_the_most_dense_votes_are_of_the_commonest():
    shares = {how: simulated(how, [3, 3, 3, 5], 4_000, 400, 8.0)[1] for how in ("matched", "most dense")}
    assert shares["most dense"][5] < 0.1
    assert shares["matched"][5] > 0.15


def test_without_a_signal_a_matched_set_is_chance():
    share = simulated("matched", [3], 3, 400, 0.05)[1][3]
    assert share == pytest.approx(1 / KINDS, abs=0.1)


def test_a_candidate_that_cast_the_votes_is_found_again():
    points = rows_of(np.random.default_rng(2), np.arange(40) % KINDS)
    for voter in range(40):
        assert matched(cast(points[[voter] * 5], points), points, 5, 1) == [voter]


def test_few_or_equal_candidates_are_all_kept():
    points = rows_of(np.random.default_rng(1), np.arange(3))
    assert sorted(matched(np.zeros(3), points, 10, 5)) == [0, 1, 2]
    assert sorted(matched(np.ones(3), np.repeat(points[:1], 3, axis=0), 10, 2)) == [0, 1]
    assert matched(np.ones(3), points, 10, 0) == []
