"""Likeness inside a sample against loops, a library, equal sources and planted shifts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from engine.examine.prepare import prepare
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.meaning.likeness import BINS as DRAWN
from engine.examine.usefulness.meaning.likeness import COLUMNS, likeness
from engine.examine.usefulness.meaning.self_similarity import BINS, alike, likeness_shift, shares_of_pairs
from tests.contract.examining import world


def sample(n: int, seed: int, common: float = 1.0) -> Sample:
    rows = np.random.default_rng(seed).normal(size=(n, 16))
    rows[:, 0] += common
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Sample(tuple(np.zeros(1, np.int32) for _ in range(n)), np.arange(n).astype(object), rows.astype(np.float32))


def cosines(side: Sample) -> list[float]:
    return [float(a @ b) for a, b in combinations(side.embeddings, 2)]


def test_they_equal_loops_and_a_library() -> None:
    one, two = sample(30, 1), sample(40, 2, 4.0)
    assert alike(one, two).value == pytest.approx(np.mean(cosines(one)), abs=1e-6)
    expected = wasserstein_distance(cosines(one), cosines(two))
    assert likeness_shift(one, two).value == pytest.approx(expected, abs=2 / BINS)


def test_equal_sources_are_close_and_huddling_or_scattering_shows() -> None:
    real = sample(150, 1)
    equal = likeness_shift(sample(150, 2), real).value
    assert likeness_shift(real, real).value == 0.0
    assert likeness_shift(sample(150, 3, 3.0), real).value > 5 * equal
    assert likeness_shift(sample(150, 3, 0.0), real).value > 2 * equal
    repeated = real.take(np.zeros(150, np.int64))
    assert alike(repeated, real).value == pytest.approx(1.0, abs=1e-5)
    assert likeness_shift(repeated, real).value > 0.5


def test_a_mean_can_hide_what_the_distribution_shows() -> None:
    """Two kinds of text, each repeated, beside texts that are all a little alike."""
    kinds = np.repeat(np.eye(16)[:2], 50, axis=0).astype(np.float32)
    clumps = Sample(tuple(np.zeros(1, np.int32) for _ in kinds), np.arange(100).astype(object), kinds)
    even = sample(100, 1, 4.0)
    assert abs(alike(clumps, even).value - alike(even, even).value) < 0.1
    assert likeness_shift(clumps, even).value > 0.3


def test_nothing_and_one_text() -> None:
    none, one = sample(1, 1).take(np.empty(0, np.int64)), sample(1, 1)
    for side in (none, one):
        assert np.isnan(alike(side, side).value)
        assert np.isnan(likeness_shift(side, sample(5, 1)).value)


def test_shares_of_pairs_are_those_of_a_histogram() -> None:
    rows = sample(40, 3).embeddings
    expected = np.histogram(cosines(sample(40, 3)), 20, (-1.0, 1.0))[0] / (40 * 39 / 2)
    assert shares_of_pairs(rows, 20) == pytest.approx(expected)


def test_the_table_has_a_curve_a_side_of_equally_many_texts() -> None:
    table = likeness(prepare(world()))
    assert list(table.columns) == COLUMNS
    assert table.groupby("kind").size().to_dict() == dict.fromkeys(("synthetic", "private", "other private"), DRAWN)
    assert table.groupby("kind")["share"].sum().to_numpy() == pytest.approx(np.ones(3))
    assert table["texts"].nunique() == 1
    assert table["cosine"].between(-1, 1).all()
    assert likeness(prepare(world(people=2, copies=1, made=1, holdout=1))).empty
