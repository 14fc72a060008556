"""Nearest-neighbour votes: hand-checked, in blocks, the same in any company."""

import numpy as np
import pytest

from engine.dp.noise import votes
from engine.errors import InternalError


def unit_rows(count, size=24, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_nearest_by_hand():
    candidates = votes.quantised(np.eye(3, dtype=np.float32))
    records = votes.quantised(np.array([[0.9, 0.1, 0], [0, 0.2, 0.8], [0.6, 0.6, 0]], dtype=np.float32))
    assert votes.nearest(records, candidates).tolist() == [0, 2, 0]  # the tie goes to the first


def test_records_vote_within_their_own_label():
    candidates = votes.quantised(np.eye(3, dtype=np.float32))
    records = votes.quantised(np.array([[1, 0, 0], [1, 0.1, 0], [1, 0, 0]], dtype=np.float32))
    found = votes.nearest(records, candidates, ["a", "b", None], ["a", "b", "b"])
    assert found.tolist() == [0, 1, -1]
    assert votes.nearest(records, candidates[:0]).tolist() == [-1, -1, -1]
    with pytest.raises(InternalError, match="groups"):
        votes.nearest(records, candidates, ["a"], ["a", "b", "b"])


def test_blocks_agree_with_one_piece(monkeypatch):
    records, candidates = votes.quantised(unit_rows(300)), votes.quantised(unit_rows(50, seed=1))
    whole = votes.nearest(records, candidates)
    monkeypatch.setattr(votes, "_BLOCK_VALUES", 350)
    assert np.array_equal(votes.nearest(records, candidates), whole)
    assert (whole == (unit_rows(300) @ unit_rows(50, seed=1).T).argmax(axis=1)).mean() > 0.98


def test_similarities_are_exact_in_any_order_and_company():
    rows, others = unit_rows(40, 384), unit_rows(30, 384, seed=2)
    rows[1] = rows[0]  # ties and near-ties
    left, right = votes.quantised(rows), votes.quantised(others)
    exact = left.astype(np.int64) @ right.T.astype(np.int64)
    ((_, together),) = votes.similarity_blocks(left, right)
    assert np.array_equal(together * 2.0**22, exact)
    for i in range(0, 40, 7):
        ((_, alone),) = votes.similarity_blocks(left[i : i + 1], right)
        assert np.array_equal(alone[0], together[i])
    turned = np.random.default_rng(5).permutation(384)
    ((_, shuffled),) = votes.similarity_blocks(left[:, turned], right[:, turned])
    assert np.array_equal(shuffled, together)


def test_long_and_broken_rows_are_tamed():
    rows = votes.quantised(np.array([[300.0, 400.0], [np.nan, 1.0], [0.0, 0.0]], dtype=np.float32))
    assert rows.tolist() == [[round(0.6 * 2048), round(0.8 * 2048)], [0, 2048], [0, 0]]
    with pytest.raises(InternalError, match="two dimensions"):
        votes.quantised(np.zeros(3, dtype=np.float32))


def test_mean_similarity_by_hand():
    # units: {e1}, {e1, e2}, {-e1}: pairs 0-1: (1 + 0) / 2, 0-2: clipped to 0, 1-2: 0
    rows = votes.quantised(np.array([[1, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32))
    unit_of = np.array([0, 1, 1, 2])
    assert votes.mean_similarity(rows, unit_of, 3) == pytest.approx(0.5 / 3)
    assert votes.mean_similarity(rows, unit_of, 4) == pytest.approx(0.5 / 6)  # one unit has nothing
    assert votes.mean_similarity(rows[:1], unit_of[:1], 1) == 0.0


@pytest.mark.slow
def test_seventy_five_thousand_records_vote_within_two_gigabytes():
    import resource
    import subprocess
    import sys

    code = (
        "import numpy as np, resource\nfrom engine.dp.noise import votes\n"
        "rng = np.random.default_rng(0)\n"
        "a = rng.standard_normal((75000, 384), dtype=np.float32); a /= np.linalg.norm(a, axis=1, keepdims=True)\n"
        "c = a[:10000].copy()\n"
        "n = votes.nearest(votes.quantised(a), votes.quantised(c))\n"
        "assert (n[:10000] == np.arange(10000)).all()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    assert resource.RUSAGE_SELF == 0
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=280)
    assert int(done.stdout) * 1024 < 2 * 1024**3


def dense_by_hand(records, candidates, unit_of, own=None, theirs=None):
    """Return the sum of units' standardised, cut cosines without any rounding."""
    total = np.zeros(len(candidates))
    cosines = records.astype(float) @ candidates.T.astype(float) / 2.0**22
    for unit in set(unit_of):
        score = np.zeros(len(candidates))
        for group in {None} if theirs is None else sorted(set(theirs)):
            columns = np.array([theirs is None or name == group for name in theirs or candidates])
            rows = np.array([u == unit and (own is None or own[i] == group) for i, u in enumerate(unit_of)])
            if rows.any():
                summed = cosines[np.ix_(rows, columns)].sum(axis=0)
                score[columns] = (summed - summed.mean()) / summed.std()
        total += score / max(1.0, np.linalg.norm(score))
    return total


@pytest.mark.parametrize("grouped", [False, True])
def test_dense_votes_are_the_cut_standardised_cosines_of_each_unit(grouped, monkeypatch):
    records, candidates = votes.quantised(unit_rows(40)), votes.quantised(unit_rows(30, seed=1))
    unit_of = np.random.default_rng(3).integers(0, 12, 40)
    own = [[None, "a", "b", "z"][i % 4] for i in range(40)] if grouped else None
    theirs = ["ab"[i % 2] for i in range(30)] if grouped else None
    found = votes.dense(records, candidates, unit_of, own, theirs)
    assert found.dtype == np.int64
    assert found / votes.GRID == pytest.approx(dense_by_hand(records, candidates, unit_of, own, theirs), abs=1e-4)
    monkeypatch.setattr(votes, "_BLOCK_VALUES", 70)
    assert np.array_equal(votes.dense(records, candidates, unit_of, own, theirs), found)


@pytest.mark.parametrize("unit", range(12))
def test_a_unit_moves_dense_votes_by_at_most_one_exactly(unit):
    records, candidates = unit_rows(60, seed=4), votes.quantised(unit_rows(25, seed=5))
    records[unit_rows(60, seed=4)[:, 0] > 0.3] = records[0]  # units of one text, several times
    unit_of = np.random.default_rng(unit).integers(0, 12, 60)
    rows, kept = votes.quantised(records), unit_of != unit
    moved = votes.dense(rows, candidates, unit_of) - votes.dense(rows[kept], candidates, unit_of[kept])
    square = int((moved.astype(object) ** 2).sum())
    assert square <= votes.GRID**2  # in whole numbers: no rounding may carry it past
    assert square > 0.99 * votes.GRID**2  # and the bound is nearly reached


def test_dense_votes_of_nothing_are_nothing():
    candidates = votes.quantised(unit_rows(5))
    same = votes.quantised(np.repeat(unit_rows(1), 5, axis=0))
    nobody = votes.quantised(unit_rows(3))[:0]
    assert not votes.dense(nobody, candidates, np.array([], dtype=np.int64)).any()
    assert not votes.dense(candidates, same, np.arange(5)).any()  # equal candidates cannot be told apart
    assert not votes.dense(candidates, candidates, np.arange(5), ["b"] * 5, ["a"] * 5).any()
    with pytest.raises(InternalError, match="groups"):
        votes.dense(candidates, candidates, np.arange(5), ["a"], ["a"] * 5)
