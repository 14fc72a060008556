"""When dense votes choose better than single ones: simulated rows of one kind, or of several, among unlike ones.

Two sides of a planted effect: records of one kind under much noise, where dense votes win; under little noise, or of
several kinds, where they do not.
"""

import numpy as np
import pytest

from engine.dp.accounting.closed_form import default_delta, noise_multiplier
from engine.dp.noise import votes

SIZE, KINDS, LEVEL = 96, 8, 1.1


def rows_of(rng, kinds):
    """Return a row near its kind's centre for each kind number."""
    centres = np.random.default_rng(0).normal(size=(KINDS, SIZE))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[kinds] + LEVEL * rng.normal(size=(len(kinds), SIZE)) / np.sqrt(SIZE)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def chosen(how, records, kinds, candidates, keep, sigma, rng):
    """Return the kinds of the candidates that a choice by noisy votes keeps."""
    rows, points = votes.quantised(records), votes.quantised(candidates)
    if how == "nearest":
        scores = np.bincount(votes.nearest(rows, points), minlength=len(points)) + sigma * rng.normal(size=len(points))
    else:
        scores = votes.dense(rows, points, np.arange(len(rows))) / votes.GRID + sigma * rng.normal(size=len(points))
        scores = votes.in_reach(scores, candidates)
    return kinds[np.argsort(-scores)[:keep]]


def simulated(how, records_of, units, candidates, epsilon, repeats=6):
    """Return which share of the kept candidates is of each kind, on average."""
    found = np.zeros(KINDS)
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        kinds = rng.integers(0, KINDS, candidates)
        records = rows_of(rng, rng.choice(records_of, units))
        sigma = noise_multiplier(epsilon, default_delta(units), 10)
        kept = chosen(how, records, kinds, rows_of(rng, kinds), candidates // KINDS, sigma, rng)
        found += np.bincount(kept, minlength=KINDS) / (len(kept) * repeats)
    return found


@pytest.mark.parametrize(("units", "candidates"), [(300, 800), (1_000, 1_600)])
def test_under_much_noise_dense_votes_find_the_records_kind(units, candidates):
    dense, nearest = (simulated(how, [3], units, candidates, 1.0)[3] for how in ("dense", "nearest"))
    assert dense > 0.85
    assert nearest < 0.5
    assert nearest > 1 / KINDS


def test_without_a_signal_dense_votes_are_chance_too():
    share = simulated("dense", [3], 4, 800, 0.2)[3]
    assert share == pytest.approx(1 / KINDS, abs=0.1)


def test_of_several_kinds_dense_votes_lose_one_that_single_votes_keep():
    mixed = [3, 3, 3, 5]
    dense, nearest = (simulated(how, mixed, 4_000, 160, 8.0) for how in ("dense", "nearest"))
    assert nearest[5] > 0.15
    assert dense[5] < 0.5 * nearest[5]
