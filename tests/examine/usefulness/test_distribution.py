"""Distances of embeddings against brute force, closed forms, equal sources and planted shifts."""

from __future__ import annotations

import numpy as np
import pytest

from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.meaning import distribution as of
from engine.examine.usefulness.meaning.embeddings import buckets, mauve
from engine.examine.usefulness.meaning.frechet import frechet


def sample(rows: np.ndarray, units: np.ndarray | None = None, centres: np.ndarray | None = None) -> Sample:
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    names = np.arange(len(rows)).astype(object) if units is None else units
    words = tuple(np.zeros(1, np.int32) for _ in range(len(rows)))
    return Sample(words, names, rows.astype(np.float32), centres)


def cloud(n: int, seed: int, shift: float = 0.0, dimensions: int = 24) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, dimensions))
    rows[:, 0] += 3.0
    rows[:, 1] += shift
    return rows


def test_the_kernel_distance_equals_the_sum_over_pairs() -> None:
    a, b = sample(cloud(9, 1)), sample(cloud(7, 2, 1.0))
    x, y = a.embeddings.astype(float), b.embeddings.astype(float)
    k = lambda u, v: (1 + float(u @ v)) ** 3  # noqa: E731
    inside = [np.mean([k(s[i], s[j]) for i in range(len(s)) for j in range(len(s)) if i != j]) for s in (x, y)]
    across = np.mean([k(u, v) for u in x for v in y])
    assert of.kid(a, b).value == pytest.approx(sum(inside) - 2 * across, rel=1e-6)


def test_the_kernel_distance_of_equal_sources_is_zero_on_average_and_a_shift_shows() -> None:
    equal = [of.kid(sample(cloud(40, 2 * s)), sample(cloud(40, 2 * s + 1))).value for s in range(200)]
    assert abs(np.mean(equal)) < 4 * np.std(equal) / np.sqrt(200)
    assert min(equal) < 0 < max(equal), "unbiased"
    moved = [of.kid(sample(cloud(40, 2 * s)), sample(cloud(40, 2 * s + 1, 2.5))).value for s in range(20)]
    assert min(moved) > max(equal)


@pytest.mark.parametrize(("n", "a_unit"), [(20, 1), (60, 1), (60, 4)])
def test_chance_is_uniform_under_the_null(n: int, a_unit: int) -> None:
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, units = [], []
        for _ in range(2 * n // a_unit):  # texts of one person are alike
            person = rng.normal(size=(1, 12)) * (a_unit > 1)
            rows.append(person + rng.normal(size=(a_unit, 12)))
            units += [f"p{len(rows)}"] * a_unit
        table, names = np.concatenate(rows), np.array(units, object)
        one, two = sample(table[:n], names[:n]), sample(table[n:], names[n:])
        found.append(of.chance_of_kid(one, two, seed, permutations=99))
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 3 * np.sqrt(level * (1 - level) / 200)
    assert 0.35 < np.mean(found) < 0.65


def test_chance_is_small_for_a_planted_shift_and_never_zero() -> None:
    found = [of.chance_of_kid(sample(cloud(30, s)), sample(cloud(30, 500 + s, 2.0)), s, 99) for s in range(20)]
    assert set(found) == {0.01}


def test_all_cuts_at_once_equal_one_by_one() -> None:
    rows = sample(cloud(12, 3)).embeddings
    sides = np.zeros((5, 12))
    rng = np.random.default_rng(0)
    for side in sides:
        side[rng.permutation(12)[:5]] = 1.0
    one_by_one = [of.kid(sample(rows[s == 1]), sample(rows[s == 0])).value for s in sides]
    assert of._distances(of.kernel(rows, rows), sides) == pytest.approx(one_by_one, abs=1e-6)


def test_the_extrapolated_distance_of_equal_sources_is_near_zero_at_every_size() -> None:
    plain, extrapolated = {}, {}
    for n in (100, 400):
        pairs = [(sample(cloud(n, 2 * s)), sample(cloud(n, 2 * s + 1))) for s in range(20)]
        extrapolated[n] = np.mean([of.frechet_extrapolated(a, b, s).value for s, (a, b) in enumerate(pairs)])
        plain[n] = np.mean([frechet(a.embeddings[:, :10].astype(float), b.embeddings[:, :10]) for a, b in pairs])
    assert plain[100] > 2.5 * plain[400], "the plain distance falls with n"
    assert abs(extrapolated[100]) < 0.5 * plain[100]
    assert abs(extrapolated[400]) < 0.5 * plain[400]


def test_the_frechet_distance_of_two_normal_clouds() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(40_000, 3)), rng.normal(size=(40_000, 3)) * 2.0 + [1.0, 0.0, 0.0]
    assert frechet(one, two) == pytest.approx(1.0 + 3 * (1 - 2) ** 2, rel=0.03)


def brute(one: np.ndarray, two: np.ndarray) -> dict[str, float]:
    """Return the four shares by loops."""
    apart = lambda a, b: float(np.linalg.norm(a - b))  # noqa: E731
    reach = [sorted(apart(b, o) for j, o in enumerate(two) if j != i)[of.NEIGHBOURS - 1] for i, b in enumerate(two)]
    own = [sorted(apart(a, o) for j, o in enumerate(one) if j != i)[of.NEIGHBOURS - 1] for i, a in enumerate(one)]
    inside = [[apart(a, b) <= reach[j] for j, b in enumerate(two)] for a in one]
    return {
        "precision": np.mean([any(row) for row in inside]),
        "density": np.mean([sum(row) for row in inside]) / of.NEIGHBOURS,
        "coverage": np.mean([any(inside[i][j] for i in range(len(one))) for j in range(len(two))]),
        "recall": np.mean([any(apart(a, b) <= own[i] for i, a in enumerate(one)) for b in two]),
    }


@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0])
def test_neighbourhoods_equal_loops(shift: float) -> None:
    a, b = sample(cloud(40, 1, shift, 6)), sample(cloud(35, 2, 0.0, 6))
    expected = brute(a.embeddings.astype(float), b.embeddings.astype(float))
    assert {name: getattr(of, name)(a, b).value for name in expected} == pytest.approx(expected)
    one, two = expected["precision"], expected["recall"]
    assert of.balance(a, b).value == pytest.approx(2 * one * two / (one + two) if one + two else 0.0)


def test_one_repeated_sentence_is_faithful_and_not_varied() -> None:
    real = sample(cloud(100, 1))
    repeated = sample(np.repeat(cloud(100, 2)[:1] * 0 + real.embeddings[:1], 100, axis=0))
    assert of.precision(repeated, real).value == 1.0
    assert of.recall(repeated, real).value <= 0.02
    assert of.coverage(repeated, real).value < 0.2
    assert of.balance(repeated, real).value < 0.05
    assert of.kid(repeated, real).value > 10 * abs(of.kid(sample(cloud(100, 3)), real).value)


def test_cover_is_one_for_copies_and_falls_with_distance() -> None:
    real = sample(cloud(60, 1))
    assert of.cover(real, real).value == pytest.approx(1.0, abs=1e-5)
    near, far = of.cover(sample(cloud(60, 2)), real).value, of.cover(sample(-cloud(60, 2)), real).value
    assert far < 0.3 < near < 1.0


def test_transport_in_one_direction_is_that_of_sorted_rows() -> None:
    a, b = sample(cloud(50, 1)), sample(cloud(50, 2, 2.0))
    directions = np.random.default_rng(4).normal(size=(24, of.PROJECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    squares = []
    for direction in directions.T:
        squares.append(np.mean((np.sort(a.embeddings @ direction) - np.sort(b.embeddings @ direction)) ** 2))
    assert of.sliced_wasserstein(a, b, 4).value == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-5)
    assert of.sliced_wasserstein(a, a, 4).value == 0.0


def in_clusters(counts: list[int], seed: int) -> Sample:
    """Return texts in well separated clusters, so many each, under the clusters' own centres."""
    centres = np.eye(8)[: len(counts)]
    rng = np.random.default_rng(seed)
    rows = [centre + 0.02 * rng.normal(size=(n, 8)) for centre, n in zip(centres, counts, strict=True)]
    return sample(np.concatenate(rows), centres=centres.astype(np.float32))


def test_cluster_shares_by_hand() -> None:
    ours, real = in_clusters([30, 10, 0, 0], 1), in_clusters([10, 10, 10, 10], 2)
    p, q = np.array([30.5, 10.5, 0.5, 0.5]) / 42, np.full(4, 0.25)
    assert of.topic_shift(ours, real).value == pytest.approx(0.5 * np.abs(p - q).sum())
    assert of.missed_topics(ours, real).value == pytest.approx(np.sum(q * np.log2(q / p)))
    assert of.added_topics(ours, real).value == pytest.approx(np.sum(p * np.log2(p / q)))
    assert of.missed_topics(ours, real).value > of.added_topics(ours, real).value, "two kinds are left out"
    middle = (p + q) / 2
    by_hand = (np.sum(p * np.log2(p / middle)) + np.sum(q * np.log2(q / middle))) / 2
    assert of.topic_divergence(ours, real).value == pytest.approx(by_hand)


def test_clusters_are_found_again() -> None:
    rows = in_clusters([30, 30, 30, 30], 3).embeddings
    centres = of.clustered(rows, 0)
    assert centres is not None
    assert len(centres) == 12
    assert of.clustered(rows[: of.LEAST_CLUSTERS - 1], 0) is None


@pytest.mark.parametrize("measure", [of.kid, of.frechet_extrapolated, of.precision, of.recall, of.density, of.coverage,
                                     of.balance, of.topic_shift, of.missed_topics])  # fmt: skip
def test_three_records_and_none_give_no_number_or_a_finite_one(measure) -> None:
    three, none = sample(cloud(3, 1)), sample(cloud(3, 1)).take(np.empty(0, np.int64))
    assert not np.isinf(measure(three, three, 0).value)
    assert np.isnan(measure(none, none, 0).value)
    if measure is not of.kid:
        assert np.isnan(measure(three, three, 0).value)


@pytest.mark.parametrize("n", [100, 300])
def test_mauve_of_equal_sources_is_high_at_every_size(n: int) -> None:
    assert buckets(100) == 10
    assert mauve(sample(cloud(n, 1)), sample(cloud(n, 2)), 0).value > 0.9
    assert mauve(sample(cloud(n, 1)), sample(cloud(n, 2, 6.0)), 0).value < 0.5
