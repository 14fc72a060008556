"""The interval of a difference of mean highest values keeps its coverage where the reference moves many values."""

from __future__ import annotations

import numpy as np
import pytest

from engine.examine.stats import intervals
from engine.examine.stats.highest import highest_excess, parts_of, share_excess


def table(rng: np.random.Generator, items: np.ndarray, parts: int = 10, records: int = 30) -> np.ndarray:
    """Each item's highest value in each part: its own level, and stock phrases of the reference that many share."""
    stock = rng.exponential(1.0, (parts, records))  # long stock phrases are rare
    shares = rng.random((len(items), parts, records)) < 0.02 * np.minimum(1, stock)[None]
    return np.asarray((items[:, None, None] + np.where(shares, stock[None], 0)).max(axis=2))


def test_coverage_under_the_null_where_records_alone_say_too_much() -> None:
    rng = np.random.default_rng(0)
    inside, naive, widths, values = 0, 0, [], []
    for draw in range(150):
        items = rng.normal(5, 1, 100)
        first, second = table(rng, items), table(rng, items)
        found = highest_excess(first, second)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0 <= found.high
        widths.append(found.high - found.low)
        values.append(found.value)
        plain = intervals.mean(first.max(axis=1) - second.max(axis=1), draw)
        assert plain.low is not None
        assert plain.high is not None
        naive += plain.low <= 0 <= plain.high
    assert inside >= 0.92 * 150, inside
    assert naive < inside
    assert np.mean(widths) < 1.8 * 2 * 1.96 * np.std(values)  # honest, not idle


def test_by_hand_and_where_nothing_can_be_said() -> None:
    first, second = np.array([[3.0, 5.0], [2.0, 2.0]]), np.array([[1.0, 1.0], [4.0, 0.0]])
    found = highest_excess(first, second)
    assert found.value == pytest.approx(((5 - 1) + (2 - 4)) / 2)
    assert highest_excess(first[:, :1], second).low is None  # one part of the reference: no jackknife
    assert highest_excess(first[:1], second[:1]).low is None  # one record
    assert np.isnan(highest_excess(first[:0], second[:0]).value)


def test_a_units_records_lie_in_one_part() -> None:
    units = np.array([f"p{i // 3}" for i in range(90)], dtype=object)
    parts = parts_of(units, 4)
    assert set(parts) == set(range(10))
    assert all(len(set(parts[units == unit])) == 1 for unit in set(units))
    assert parts_of(units[:3], 0).tolist() == [0, 0, 0]


def hits(rng: np.random.Generator, outputs: int, records: int, planted: bool) -> np.ndarray:
    """Which outputs repeat something of each tenth of a reference: stock phrases, and copies where planted.

    A stock phrase stands in few records and in many outputs alike, so one record decides for all of them.
    """
    holder = rng.random((10, records, 4)) < 0.004
    phrase = rng.random((outputs, 4)) < np.array([0.9, 0.5, 0.3, 0.1])
    found = (phrase[:, None, :] & holder.any(axis=1)[None]).any(axis=2)
    if planted:
        copied = rng.random(outputs) < 0.4
        found[np.arange(outputs), rng.integers(0, 10, outputs)] |= copied
    return found


@pytest.mark.parametrize(("outputs", "records"), [(40, 5), (300, 30)])
def test_shares_keep_their_level_where_few_records_decide_for_many_outputs(outputs: int, records: int) -> None:
    """200 draws without any difference, where the outputs alone say far too much; and with copies planted."""
    rng = np.random.default_rng(outputs)
    wrong, naive, seen = 0, 0, 0
    for _ in range(200):
        first, second = hits(rng, outputs, records, False), hits(rng, outputs, records, False)
        found = share_excess(first, second)
        plain = intervals.difference_paired(first.any(axis=1), second.any(axis=1))
        wrong += found.low is not None and found.low > 0
        naive += plain.low is not None and plain.low > 0
        clear = share_excess(hits(rng, outputs, 0, True), hits(rng, outputs, 0, False))
        seen += clear.low is not None and clear.low > 0
    assert wrong <= 16, wrong  # single phrases in single records are the worst case
    assert naive >= 4 * wrong  # what the records alone would have called a leak
    assert seen >= 195, seen


def test_shares_without_any_hit_have_a_width() -> None:
    found = share_excess(np.zeros((20, 10), bool), np.zeros((20, 10), bool))
    assert found.value == 0.0
    assert found.high is not None
    assert found.high > 0.1  # 0 of 20 says little
    same = intervals.difference_paired(np.zeros(20, bool), np.zeros(20, bool))
    assert (found.low, found.high) == (same.low, same.high)
