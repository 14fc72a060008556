"""Coarse clusters of candidates: no gaps, no cluster of two labels, the same points the same clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.methods.evolution.clusters import cluster, nearest_centres, spread


def unit_rows(n, seed=0, d=8):
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(
    groups=st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=40),
    clusters=st.integers(1, 60),
    seed=st.integers(0, 5),
)
@settings(max_examples=80, deadline=None)
def test_clusters_are_numbered_without_gaps_and_stay_within_a_group(groups, clusters, seed):
    rows = unit_rows(len(groups), seed)
    parts = cluster(rows, groups, clusters)
    assert sorted(set(parts.tolist())) == list(range(parts.max() + 1))
    assert len({(part, group) for part, group in zip(parts, groups)}) == parts.max() + 1
    assert (parts == cluster(rows, groups, clusters)).all()
    # a group gets its share of the clusters, rounded, and at least one
    assert parts.max() + 1 <= sum(max(1, round(clusters * groups.count(g) / len(groups))) for g in set(groups))


def test_without_groups_there_is_one():
    rows = unit_rows(30)
    assert (cluster(rows, None, 6) == cluster(rows, ["same"] * 30, 6)).all()
    assert set(cluster(rows, None, 1)) == {0}


def test_points_that_lie_together_are_one_cluster():
    rng = np.random.default_rng(3)
    centres = np.eye(5, dtype=np.float32)
    own = np.repeat(np.arange(5), 12)
    rows = (centres[own] + rng.normal(scale=0.05, size=(60, 5))).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    order = rng.permutation(60)
    found = nearest_centres(rows[order], 5)
    assert len(set(found)) == 5
    assert len(set(zip(found.tolist(), own[order].tolist()))) == 5


def test_each_point_is_with_its_nearest_centre():
    rows = unit_rows(80, 4)
    found = nearest_centres(rows, 7)
    means = np.stack([rows[found == c].mean(axis=0) for c in sorted(set(found))])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    nearest = np.array(sorted(set(found)))[(rows @ means.T).argmax(axis=1)]
    assert (nearest == found).mean() > 0.95  # at rest, or a turn away from it


def test_equal_points_and_more_clusters_than_points_do_no_harm():
    same = np.repeat(unit_rows(1), 6, axis=0)
    assert set(cluster(same, None, 4)) == {0}
    assert len(set(cluster(unit_rows(3), None, 50))) == 3


@pytest.mark.parametrize(
    ("votes", "parts", "expected"),
    [
        ([6.0, 2.0], [0, 0, 0, 1], [2.0, 2.0, 2.0, 2.0]),
        ([6.0, -2.0], [1, 0, 1, 1], [-2 / 3, 6.0, -2 / 3, -2 / 3]),
        ([5.0], [0], [5.0]),
    ],
)
def test_votes_are_split_evenly_over_a_cluster(votes, parts, expected):
    found = spread(np.array(votes), np.array(parts))
    assert found == pytest.approx(expected)
    assert found.sum() == pytest.approx(sum(votes))
