"""Noise: right spread, no trace in the low bits, out of reach of every seed; sparse vector right and wrong."""

import random

import numpy as np
import pytest
from scipy import stats

from engine.dp.noise import mechanisms
from engine.errors import InternalError
from tests.audit.bounds import epsilon_lower_bound


def test_gaussian_and_laplace_have_their_spread():
    drawn = mechanisms.gaussian(np.full(4000, 7), 2.5)
    assert stats.kstest((drawn - 7) / 2.5, "norm").pvalue > 1e-6
    drawn = mechanisms.laplace(np.full(4000, -3), 1.5)
    assert stats.kstest((drawn + 3) / 1.5, "laplace").pvalue > 1e-6


def test_every_entry_has_its_own_noise_and_its_place():
    values = np.arange(12).reshape(3, 4) * 1000
    noisy = mechanisms.gaussian(values, 1.0)
    assert noisy.shape == (3, 4)
    assert np.abs(noisy - values).max() < 10
    assert len(set((noisy - values).ravel())) == 12
    assert mechanisms.laplace(np.zeros((0,)), 1.0).shape == (0,)


def low_bits(outputs):
    """Count outputs that are no multiple of 2^-53: with x = 1 a float sum x + z cannot be one."""
    return int(np.sum(outputs * 2.0**53 != np.rint(outputs * 2.0**53)))


def test_numpy_noise_tells_zero_from_one_by_its_low_bits():
    rng = np.random.default_rng()
    at_zero, at_one = (low_bits(x + rng.normal(0.0, 1.0, 4000)) for x in (0.0, 1.0))
    assert at_one == 0
    assert at_zero / 4000 == pytest.approx(0.26, abs=0.08)


def test_our_noise_leaves_the_low_bits_alone():
    for release in (mechanisms.gaussian, mechanisms.laplace):
        outputs = [release(np.full(4000, x), 1.0) for x in (0, 1)]
        assert [low_bits(o) for o in outputs] == [0, 0]
        # On the grid itself each residue is as likely at 0 as at 1.
        residues = [np.bincount((o * mechanisms.GRID).astype(np.int64) % 8, minlength=8) for o in outputs]
        assert stats.chi2_contingency(np.array(residues)).pvalue > 1e-6


def test_no_seed_reaches_the_noise():
    torch = pytest.importorskip("torch")
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)
        torch.manual_seed(0)
        noise = [mechanisms.gaussian(np.zeros(5), 1.0), mechanisms.laplace(np.zeros(5), 1.0)]
        chosen = mechanisms.noisy_argmax(np.zeros((20, 50)), 1.0).astype(float)
        sampled = np.flatnonzero(mechanisms.poisson_sample(200, 0.5)).astype(float)
        drawn.append([*noise, chosen, sampled])
    assert all(not np.array_equal(a, b) for a, b in zip(*drawn))


def test_no_function_takes_a_seed():
    import inspect

    for name, function in inspect.getmembers(mechanisms, inspect.isfunction):
        assert not {"seed", "rng", "generator"} & set(inspect.signature(function).parameters), name


def test_poisson_sampling_takes_each_unit_with_its_probability():
    taken = mechanisms.poisson_sample(20_000, 0.3).sum()
    assert stats.binomtest(int(taken), 20_000, 0.3).pvalue > 1e-6
    assert mechanisms.poisson_sample(5, 1.0).all()
    assert mechanisms.poisson_sample(0, 0.5).shape == (0,)


def test_the_exponential_mechanism_has_its_probabilities():
    # permute-and-flip and Gumbel differ; ratios are bounded by e^eps either way
    utilities = np.tile([0.0, 1.0], (4000, 1))
    share = mechanisms.noisy_argmax(utilities, 2.0).mean()
    assert 0.6 < share < 0.85
    assert mechanisms.noisy_argmax([[0.0, 1.0, 0.5]] * 5, 200.0).tolist() == [1] * 5


def test_gaussian_choice_among_close_candidates_is_close_to_chance():
    # five utilities between 0.7 and 0.9 at sigma = 4.8: the best wins 22% of the draws
    utilities = np.tile([0.7, 0.75, 0.8, 0.85, 0.9], (6000, 1))
    best = int((mechanisms.gaussian_argmax(utilities, 4.8) == 4).sum())
    assert stats.binomtest(best, 6000, 0.217).pvalue > 1e-6


@pytest.mark.parametrize("values", [[np.nan], [np.inf], [1e12]])
def test_what_cannot_be_protected_is_refused(values):
    with pytest.raises(InternalError):
        mechanisms.gaussian(values, 1.0)


@pytest.mark.parametrize("sigma", [0.0, 1e-6, -1.0])
def test_noise_too_small_for_the_grid_is_refused(sigma):
    with pytest.raises(InternalError, match="noise scale"):
        mechanisms.laplace([1.0], sigma)


def test_the_search_stops_at_the_first_small_count():
    counts = [500] * 100 + [0] * 100
    assert mechanisms.first_at_most(counts, 250.0, 5.0) == 100
    assert mechanisms.first_at_most([10_000] * 70, 0.0, 5.0) is None
    assert mechanisms.first_at_most([], 0.0, 5.0) is None
    seen = []

    def asked():
        for count in counts:
            seen.append(count)
            yield count

    mechanisms.first_at_most(asked(), 250.0, 5.0)
    assert len(seen) < 200  # later queries are never answered


# Audits of sparse vectors. Counts of two neighbours differ by at most one a query; the statistic is declared here.
FALLING = [[1] * 6 + [-1] * 6, [0] * 12]


def ours(counts, epsilon, runs):
    """Return, a run, whether the search stopped at the seventh query."""
    return np.array([mechanisms.first_at_most(counts, 0.0, epsilon) == 6 for _ in range(runs)], dtype=float)


def test_our_search_stays_under_its_claim_and_a_tenth_of_its_noise_is_caught():
    claim = 1.0
    right = [ours(counts, claim, 1000) for counts in FALLING]
    assert epsilon_lower_bound(*right, delta=0.0) <= claim
    wrong = [ours(counts, 10 * claim, 600) for counts in FALLING]
    assert epsilon_lower_bound(*wrong, delta=0.0) > claim


def lyu3(prefix, epsilon, runs):
    """Return runs of algorithm 3: nine queries, then one at zero whose noisy value is given out.

    Hit: everything before is below, and the value is at most ½: it bounds the hidden threshold. Whether nine
    independent noises are below a threshold is drawn at once, with its exact probability.
    """
    rng = np.random.default_rng()
    level = rng.laplace(0, 2 / epsilon, runs)
    below = stats.laplace.cdf(level - prefix, scale=2 / epsilon) ** 9
    value = rng.laplace(0, 2 / epsilon, runs)
    return ((rng.random(runs) < below) & (value >= level) & (value <= 0.5)).astype(float)


def lyu456(number, counts, epsilon, runs):
    """Return runs of algorithms 4, 5, 6: a statistic of which answers were `above`, declared here."""
    rng = np.random.default_rng()
    counts = np.asarray(counts, dtype=float)
    first = epsilon / 4 if number == 4 else epsilon / 2
    noise = 0.0 if number == 5 else rng.laplace(0, 1 / (epsilon - first), (runs, len(counts)))
    above = counts + noise >= rng.laplace(0, 1 / first, (runs, 1))
    if number == 4:
        above &= np.cumsum(above, axis=1) <= len(counts) // 2  # its limit on answers
    if number == 5:
        return (~above[:, 0] & above[:, 1]).astype(float)
    half = above.shape[1] // 2
    return (above[:, half:].sum(axis=1) - above[:, :half].sum(axis=1)).astype(float)


SLOPE = ([-1] * 20 + [1] * 20, [0] * 40)


# Wrong variants of Lyu, Su and Li 2017, figure 1, each claimed to cost 1.
@pytest.mark.parametrize(
    ("name", "worlds"),
    [
        ("3: numbers come with the noise that was compared", lambda: [lyu3(x, 1.0, 1_000_000) for x in (-1, 0)]),
        ("4: noise does not grow with the number of answers", lambda: [lyu456(4, x, 1.0, 40_000) for x in SLOPE]),
        ("5: no noise on queries", lambda: [lyu456(5, x, 1.0, 20_000) for x in ([0, 1], [1, 0])]),
        ("6: no limit on answers", lambda: [lyu456(6, x, 1.0, 40_000) for x in SLOPE]),
    ],
    ids=lambda x: x[0] if isinstance(x, str) else "",
)
def test_wrong_sparse_vectors_are_caught(name, worlds):
    assert epsilon_lower_bound(*worlds(), delta=0.0) > 1.0, name
