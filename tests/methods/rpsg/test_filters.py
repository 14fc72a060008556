"""RPSG's filters on tiny hand-checked scores."""

from __future__ import annotations

import numpy as np
import pytest

from engine.methods.rpsg.filters import attack_table, auc, retained

COSINE = [0.9, 0.1, 0.5, 0.3, 0.7]
NLL = [5.0, 1.0, 3.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("similarity_keep", "nll_keep", "similar", "likely"),
    [
        (1.0, 1.0, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        (0.6, 1.0, [1, 2, 3], [1, 2, 3]),  # the two nearest go first
        (0.6, 0.67, [1, 2, 3], [2, 3]),  # then the likeliest
        (0.6, 0.66, [1, 2, 3], [2]),  # shares are rounded down, to at least one
        (0.01, 0.01, [1], [1]),
    ],
)
def test_nearest_go_first_then_the_likeliest(similarity_keep, nll_keep, similar, likely):
    kept = retained(COSINE, NLL, similarity_keep, nll_keep)
    assert kept.similar.tolist() == similar
    assert kept.likely.tolist() == likely


def test_ties_keep_the_earlier_output():
    assert retained([0.5] * 4, [1.0] * 4, 0.5, 0.5).likely.tolist() == [0]


@pytest.mark.parametrize(
    ("members", "others", "value"),
    [([2.0, 3.0], [0.0, 1.0], 1.0), ([0.0], [1.0], 0.0), ([1.0], [1.0], 0.5), ([1.0, 3.0], [2.0], 0.5)],
)
def test_auc(members, others, value):
    assert auc(np.array(members), np.array(others)) == value


def test_a_copy_among_the_outputs_is_seen_until_the_filter_takes_it():
    axes = np.eye(6, dtype=np.float32)
    members, others = axes[:2], axes[2:4]
    outputs = np.stack([axes[0], axes[1], axes[4]])  # both seeds copied, one unrelated text
    rows = attack_table(outputs, members, others, [1.0, 0.99, 0.0], [1.0, 1.0, 1.0], grid=(0.34, 1.0))
    found = {(r["similarity_keep"], r["nll_keep"]): (r["retained"], r["auc"]) for r in rows}
    assert found[1.0, 1.0] == (3, 1.0)
    assert found[0.34, 1.0] == (1, 0.5)
