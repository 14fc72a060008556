"""The estimate of missed identifiers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.pii.decide.missed import (
    Part,
    clopper_pearson,
    high_if_clean,
    level_of,
    needed,
    parts_of,
    residual_risk,
    shares_of,
    still_missed,
    strata,
    totals,
)

COLUMNS = ["record_id", "start", "end", "label", "score", "recogniser", "identifier_type", "state", "decided"]


def spans(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_residual_risk_counts_added_spans_of_reviewed_records() -> None:
    table = spans(
        *[("a", i, i + 1, "PERSON", 0.9, "tagger", "direct", "accepted", True) for i in range(8)],
        ("a", 20, 21, "PERSON", 0.9, "tagger", "direct", "rejected", True),
        *[("a", 30 + i, 31 + i, "MISC", 1.0, "custodian", "quasi", "accepted", True) for i in range(2)],
        ("b", 0, 1, "MISC", 1.0, "custodian", "quasi", "accepted", True),
    )
    found = residual_risk(table, {"a"})
    assert found is not None
    assert (found.value, found.n, found.missed, found.records) == (0.2, 10, 2, 1)
    assert (found.low, found.high) == pytest.approx((0.0252, 0.5561), abs=1e-4)  # R: binom.test(2, 10)


def test_residual_risk_without_review_or_without_spans() -> None:
    assert residual_risk(spans(), set()) is None
    empty = residual_risk(spans(), {"x"})
    assert empty is not None
    assert (empty.value, empty.high, empty.n) == (0.0, 1.0, 0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (1, 100, 0.00025, 0.0545), (0, 0, 0.0, 1.0)],  # R: binom.test
)
def test_clopper_pearson(hits: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(hits, n) == pytest.approx((low, high), abs=1e-4)


def chance_of_at_most(records: int, read: int, hit: int, bad: int) -> float:
    """Return the chance of `hit` or fewer bad texts among `read`, counted with binomial coefficients."""
    ways = sum(math.comb(bad, i) * math.comb(records - bad, read - i) for i in range(hit + 1))
    return ways / math.comb(records, read)


@pytest.mark.parametrize(
    ("records", "read", "hit"), [(40, 20, 0), (40, 20, 3), (500, 30, 0), (500, 30, 2), (60, 59, 1), (2, 1, 1)]
)
def test_of_one_part_the_interval_is_exact(records, read, hit):
    low, high = totals([Part(records, read, hit)])
    assert chance_of_at_most(records, read, hit, high) > 0.025
    if high < records - (read - hit):
        assert chance_of_at_most(records, read, hit, high + 1) <= 0.025
    assert hit == 0 or 1 - chance_of_at_most(records, read, hit - 1, low) > 0.025
    if low > hit:
        assert 1 - chance_of_at_most(records, read, hit - 1, low - 1) <= 0.025


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([Part(300, 300, 0)], (0, 0)),  # read whole: known
        ([Part(150, 150, 2), Part(150, 150, 1)], (3, 3)),
        ([Part(100, 0, 0)], (0, 100)),  # nothing read: nothing known
        ([Part(50, 0, 0), Part(50, 0, 0)], (0, 100)),
        ([Part(10, 10, 1), Part(90, 0, 0)], (1, 91)),
    ],
)
def test_what_was_read_whole_is_known_and_what_nobody_read_is_not(parts, expected):
    assert totals(parts) == expected


def test_what_is_left_is_what_was_missed_without_what_was_repaired():
    parts = [Part(500, 50, 1), Part(500, 50, 1)]
    found = still_missed(parts, 2)
    low, high = totals(parts)
    assert (found.value, found.hit, found.read) == (20 - 2, 2, 100)
    assert (found.low, found.high) == (low - 2, high - 2)
    assert still_missed([Part(60, 60, 5)], 5).high == 0.0
    assert still_missed([Part(60, 60, 5)], 4).value == pytest.approx(1000 / 60)


SIZES = [(60, 40), (2_000, 300), (50_000, 400)]
SHARES = [0.0, 1e-4, 0.02, 0.3]


@pytest.mark.parametrize(("records", "count"), SIZES)
@pytest.mark.parametrize("share", SHARES, ids=lambda share: f"missed {share:g}")
@pytest.mark.parametrize("where", ["one part", "parts, spread", "parts, in the first"])
def test_the_interval_covers_in_simulated_samples(records, count, share, where):
    """Under no miss, few and many; the misses spread over the parts, or all where the risk is highest."""
    random = np.random.default_rng(records + count)
    sizes = [records] if where == "one part" else parts_of(records, count)
    bad = math.ceil(share * records)
    if where == "parts, in the first":
        misses = np.minimum(sizes, np.maximum(0, bad - np.cumsum([0, *sizes[:-1]])))
    else:
        misses = random.multivariate_hypergeometric(sizes, bad)
    reads = shares_of(sizes, count)
    held = above = 0
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    for _ in range(200):
        hits = tuple(int(random.hypergeometric(m, n - m, r)) for m, n, r in zip(misses, sizes, reads))
        low, high = known.setdefault(hits, totals([Part(*part) for part in zip(sizes, reads, hits)]))
        held += low <= bad <= high
        above += bad <= high
    assert held >= 200 * 0.95 - 3 * math.sqrt(200 * 0.95 * 0.05)  # three standard deviations of 200 draws
    assert above >= 200 * 0.975 - 3 * math.sqrt(200 * 0.975 * 0.025)


def test_parts_take_records_in_proportion():
    assert parts_of(1000, 400) == [250] * 4
    assert parts_of(1001, 35) == [343, 343, 315]  # as 12, 12 and 11 are drawn of them
    assert parts_of(5, 5) == [5]
    assert shares_of([250, 250, 250, 250], 402) == [101, 101, 100, 100]
    assert shares_of([3, 2], 99) == [3, 2]
    assert sum(shares_of([334, 334, 333], 35)) == 35


@pytest.mark.parametrize(("records", "target"), [(1_000_000, 10.0), (400, 20.0), (5_000, 5.0), (20, 50.0)])
def test_how_many_records_bring_the_bound_down(records, target):
    count = needed((records, 0), target)
    assert high_if_clean((records, 0), count) <= target
    if count > min(30, records):
        assert high_if_clean((records, 0), count - 1) > target


def test_of_a_large_corpus_about_368_clean_records_bring_the_bound_to_ten():
    assert needed((1_000_000, 0), 10.0) == 368  # 0.99 ** 368 < 0.025
    with pytest.raises(UserError, match="target"):
        needed((10, 0), 0.0)


@pytest.mark.parametrize("read", [0, 1, 190, 5_000, 9_800, 9_999, 10_000])
@pytest.mark.parametrize("count", [30, 75, 190])
def test_records_read_before_are_drawn_in_proportion_and_never_left_out(read, count):
    sizes, shares = strata((10_000 - read, read), count)
    assert (sum(sizes), sum(shares)) == (10_000, count)
    bounds = [0, *(sum(sizes[: i + 1]) for i in range(len(sizes)))]
    assert 10_000 - read in bounds, "no part holds records of both"
    before = sum(share for share, begin in zip(shares, bounds) if begin >= 10_000 - read)
    assert abs(before - count * read / 10_000) < 1
    assert (before > 0, before < count) == (read > 0, read < 10_000)
    plain = high_if_clean((10_000, 0), count)
    assert high_if_clean((10_000 - read, read), count) <= 1.04 * plain


@pytest.mark.parametrize(
    ("records", "read", "missed", "overlooked"),
    [(10_000, 9_800, 0.05, 1.0), (10_000, 9_800, 0.1, 1.0), (2_000, 1_600, 0.1, 0.1), (2_000, 1_600, 0.1, 0.3)],
)
def test_a_bound_holds_for_what_an_earlier_reading_overlooked(records, read, missed, overlooked):
    """Records that were ticked off, or read by somebody who overlooks some, hold what a second look at them shows."""
    random = np.random.default_rng(read)
    sizes, shares = strata((records - read, read), 190)
    below = passed = 0
    known: dict[tuple[int, ...], float] = {}
    for _ in range(200):
        holds = random.random(records) < missed
        holds[records - read :] &= random.random(read) < overlooked
        ends = np.cumsum(sizes)
        hits = tuple(
            int(random.choice(holds[end - size : end], share, replace=False).sum())
            for end, size, share in zip(ends, sizes, shares)
        )
        if hits not in known:
            known[hits] = still_missed([Part(*part) for part in zip(sizes, shares, hits)], sum(hits)).high
        below += known[hits] < 1000 * (int(holds.sum()) - sum(hits)) / records
        passed += known[hits] <= 20
    assert below <= 200 * 0.025 + 3 * math.sqrt(200 * 0.025 * 0.975)  # three standard deviations of 200 draws
    assert passed <= 200 * 0.025 + 3 * math.sqrt(200 * 0.025 * 0.975)


def test_each_further_look_halves_the_error_so_that_all_bounds_hold_together():
    assert [level_of(look) for look in (1, 2, 3)] == pytest.approx([0.95, 0.975, 0.9875])
    assert sum((1 - level_of(look)) / 2 for look in range(1, 40)) <= 0.05
