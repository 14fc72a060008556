"""Votes decide who survives a round of DPGA-TextSyn: planted favourites, a pool with empty corners, noise."""

import numpy as np
import pytest

from engine.dp.noise.votes import nearest
from engine.examine.findings.run_notes import read
from engine.methods.evolution.dpga_elite import as_printed, elite, near_duplicate, smoothed
from engine.methods.evolution.kept_votes import kept_votes

SIZE, KEPT, DEPTH = 500, 100, 24


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def around(rng, centres, which, spread):
    return unit(centres[which] + spread * rng.normal(size=(len(which), DEPTH)))


def world(seed, voters=1500):
    """Return a public pool and its true votes: private texts live in a third of its subjects, a few texts in none."""
    rng = np.random.default_rng(seed)
    centres = unit(rng.normal(size=(30, DEPTH)))
    told = around(rng, centres, rng.integers(0, 30, SIZE - 40), 0.16)
    pool = np.concatenate([told, unit(rng.normal(size=(40, DEPTH)))])  # forty that resemble nothing
    private = around(rng, centres, rng.integers(0, 10, voters), 0.16)
    votes = np.bincount(nearest(private, pool), minlength=SIZE)
    return pool.astype(np.float32), votes.astype(float)


def of(pool):
    return [(str(i), None) for i in range(len(pool))]


def kept_of(rule, pool, votes, sigma, tau, draws=5):
    rng = np.random.default_rng(1)
    seen = [votes + sigma * rng.normal(size=len(votes)) for _ in range(draws if sigma else 1)]
    chosen = [rule(pool, noisy, of(pool), {None: KEPT}, tau)[0] for noisy in seen]
    return float(np.mean([votes[kept].sum() / votes.sum() for kept in chosen])), chosen


@pytest.mark.parametrize("seed", range(3))
def test_the_elite_keeps_twice_the_votes_of_chance_and_more_than_chance_with_noise(seed):
    pool, votes = world(seed)
    tau = near_duplicate(pool)
    chance = KEPT / SIZE
    assert kept_of(elite, pool, votes, 0.0, tau)[0] >= 2.0 * chance
    assert kept_of(elite, pool, votes, 4.3, tau)[0] >= 1.5 * chance  # as ten rounds at ε = 4 would have it


def test_as_printed_votes_hardly_count_even_without_noise():
    pool, votes = world(0)
    mean = float(np.clip(pool @ pool.T, 0, 1)[np.triu_indices(SIZE, 1)].mean())
    printed, (chosen,) = kept_of(as_printed, pool, votes, 0.0, mean)
    mended, _ = kept_of(elite, pool, votes, 0.0, near_duplicate(pool))
    assert printed < 0.6 * mended
    lonely = set(range(SIZE - 40, SIZE))
    assert len(lonely & set(chosen)) > 20, "texts that resemble nothing are taken, whatever their votes"


def test_a_planted_favourite_survives_at_any_noise_it_stands_above():
    pool, votes = world(3)
    votes[SIZE - 1] = 400.0  # an isolated text that a quarter of the records vote for
    for sigma in (0.0, 4.3, 20.0):
        _, chosen = kept_of(elite, pool, votes, sigma, near_duplicate(pool))
        assert all(SIZE - 1 in kept for kept in chosen)


def test_an_isolated_candidate_without_votes_is_not_kept_while_voted_ones_remain():
    pool, votes = world(4)
    votes[-40:] = 0.0
    kept = kept_of(elite, pool, votes, 0.0, near_duplicate(pool))[1][0]
    assert not set(range(SIZE - 40, SIZE)) & set(kept)
    # even where the cap would have to hold back nearly everything
    kept = kept_of(elite, pool, votes, 0.0, 0.1)[1][0]
    assert not set(range(SIZE - 40, SIZE)) & set(kept)


def test_a_copy_of_a_kept_text_is_held_back_while_others_have_votes():
    rng = np.random.default_rng(0)
    base = unit(rng.normal(size=(20, DEPTH)))
    pool = np.concatenate([base, base])  # each text twice
    votes = np.r_[np.arange(20, 0, -1), np.arange(20, 0, -1)].astype(float)
    kept, used, _ = elite(pool, votes, of(pool), {None: 10}, 0.95)
    assert used == 0.95
    assert len({i % 20 for i in kept}) == 10
    assert len({i % 20 for i in elite(pool, votes, of(pool), {None: 10}, None)[0]}) == 5


def test_votes_are_averaged_over_neighbours_of_the_same_label():
    pool = unit(np.array([[1.0, 0.0], [1.0, 0.01], [0.0, 1.0], [1.0, 0.005]]))
    found = smoothed(pool, np.array([10.0, 0.0, 4.0, 90.0]), [("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")])
    assert found[:2] == pytest.approx([5.0, 5.0], abs=0.05)
    assert found[2] == pytest.approx(4.0, abs=0.01)
    assert found[3] == 90.0


def test_the_near_duplicate_threshold_is_the_median_distance_to_a_neighbour():
    angles = np.array([0.0, 0.1, 1.0, 1.3, 3.0])
    pool = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    nearest_ = sorted([np.cos(0.1), np.cos(0.1), np.cos(0.3), np.cos(0.3), np.cos(1.7)])
    assert near_duplicate(pool) == pytest.approx(nearest_[2], abs=1e-5)
    assert near_duplicate(pool[:1]) == 1.0


def decides(found):
    """Return whether a run's note says that votes were kept beyond chance."""
    (note,) = read({"rounds": {"1": found.notes()}})
    return not note.problem


def top(seen):
    return np.argsort(-seen, kind="stable")[:KEPT]


@pytest.mark.parametrize("sigma", [2.0, 6.0])
def test_votes_kept_are_told_from_noisy_votes_without_the_winners_luck(sigma):
    """Even votes stay at chance, where the winners' own noisy votes would claim far more; planted ones show."""
    rng = np.random.default_rng(2)
    pool, said, naive = of(np.empty(SIZE)), [], []
    for _ in range(60):
        true = rng.poisson(3.0, SIZE).astype(float)
        noisy = rng.permutation(true) + sigma * rng.normal(size=SIZE)
        # a choice that has nothing to do with these votes: by the noise of another round
        other = sigma * rng.normal(size=SIZE) + 3.0
        found = kept_votes(noisy, sigma, pool, {None: KEPT}, lambda _, other=other: top(other), rng)
        said.append(decides(found))
        even = np.full(SIZE, 3.0) + sigma * rng.normal(size=SIZE)
        found = kept_votes(even, sigma, pool, {None: KEPT}, top, rng)
        naive.append((found.share, np.maximum(even, 0)[top(even)].sum() / np.maximum(even, 0).sum(), decides(found)))
    shares, claimed, decided = map(np.array, zip(*naive, strict=True))
    assert shares.mean() == pytest.approx(0.2, abs=0.02)
    assert claimed.mean() > 0.3
    assert decided.mean() < 0.15
    assert np.mean(said) < 0.15


@pytest.mark.parametrize("sigma", [0.0, 2.0, 6.0])
def test_what_is_said_of_votes_kept_is_what_was_kept(sigma):
    rng = np.random.default_rng(3)
    pool, votes = world(5)
    found, true = [], []
    for _ in range(30 if sigma else 1):
        noisy = votes + sigma * rng.normal(size=SIZE)
        found.append(kept_votes(noisy, sigma, of(pool), {None: KEPT}, top, rng))
        true.append(votes[top(noisy)].sum() / votes.sum())
    share = np.mean([f.share for f in found])
    assert np.mean(true) - 0.06 <= share <= np.mean(true) + 0.02  # on the low side, if at all
    assert all(decides(f) for f in found)
    assert found[0].chance == pytest.approx(0.2)


def test_too_few_votes_to_tell_say_nothing():
    rng = np.random.default_rng(4)
    noisy = 0.05 + 10.0 * rng.normal(size=SIZE) - 0.5
    found = kept_votes(noisy - noisy.mean(), 10.0, of(noisy), {None: KEPT}, top, rng)
    assert found.notes() == {"votes_chance": pytest.approx(0.2)}
    assert not decides(found)
