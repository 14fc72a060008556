"""Areas of sparse or tied scores: an interval where nothing varies, coverage where a side has few records."""

from __future__ import annotations

import numpy as np
import pytest

from engine.examine.stats import intervals, roc


def test_scores_that_are_all_equal_say_little_of_few_and_much_of_many() -> None:
    few = roc.auc(np.zeros(12), np.zeros(12))
    half = intervals.wilson(0, 12)[1] / 2  # no hit on either side: square-and-add leaves one end of Wilson's
    assert (few.value, few.low, few.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half))
    assert "Newcombe" in few.method
    many = roc.auc(np.full(4000, 3.0), np.full(4000, 3.0))
    assert 0.0 < many.high - many.low < 0.001


def test_two_values_have_half_the_interval_of_the_difference_of_shares_whichever_way_they_lie() -> None:
    members, others = (np.arange(30) < 3).astype(float), np.zeros(40)
    apart = intervals.difference_independent(intervals.share(members > 0), intervals.share(others > 0))
    for sign, low, high in ((1, apart.low, apart.high), (-1, -apart.high, -apart.low)):
        found = roc.auc(sign * members, sign * others)
        assert found.low <= 0.5 + low / 2 + 1e-12
        assert found.high >= 0.5 + high / 2 - 1e-12
    turned = roc.auc(-members, -others)
    straight = roc.auc(members, others)
    assert (turned.low, turned.high) == pytest.approx((1 - straight.high, 1 - straight.low))


def test_scores_that_differ_keep_delongs_interval() -> None:
    rng = np.random.default_rng(0)
    for shift in (0.0, 3.0):
        assert roc.auc(rng.normal(shift, 1, 60), rng.normal(size=40)).method == "DeLong"
    assert roc.auc([2.0, 1.0], [1.5, 0.0]).method == "DeLong"


@pytest.mark.parametrize(("members", "others", "hit"), [(1000, 100, 0.01), (60, 1000, 0.01), (8000, 900, 0.002)])
def test_sparse_scores_hold_chance(members: int, others: int, hit: float) -> None:
    """By DeLong's variance alone one in seven to one in two of these intervals misses chance on one side."""
    rng = np.random.default_rng(1)
    found = [roc.auc((rng.random(members) < hit) * 1.0, (rng.random(others) < hit) * 1.0) for _ in range(120)]
    assert sum(one.low > 0.5 or one.high < 0.5 for one in found) <= 11  # 6 expected at most; a chance of 0.03 for more


def test_few_members_hit_where_nobody_else_is_leave_doubt() -> None:
    rng = np.random.default_rng(2)
    found = [roc.auc((rng.random(30) < 0.05) * 1.0, np.zeros(30)) for _ in range(100)]
    assert all(one.high > 0.525 for one in found)  # where no member happens to be hit, too


def test_units_of_equal_scores_count_once(monkeypatch) -> None:
    monkeypatch.setattr(roc, "DRAWS", 100)
    units = np.repeat([f"u{number}" for number in range(20)], 6).astype(object)
    other = np.repeat([f"x{number}" for number in range(20)], 6).astype(object)
    blank = roc.auc(np.zeros(120), np.zeros(120), member_groups=units, other_groups=other)
    alone = roc.auc(np.zeros(20), np.zeros(20))
    assert (blank.low, blank.high) == pytest.approx((alone.low, alone.high))
    rng = np.random.default_rng(3)
    seen = []
    for seed in range(40):
        members, others = np.repeat(rng.random(200) < 0.02, 3) * 1.0, np.repeat(rng.random(30) < 0.02, 3) * 1.0
        ours = np.repeat(np.arange(200), 3).astype(object)
        theirs = np.repeat([f"x{number}" for number in range(30)], 3).astype(object)
        seen.append(roc.auc(members, others, member_groups=ours, other_groups=theirs, seed=seed))
    assert sum(one.low > 0.5 for one in seen) <= 3
