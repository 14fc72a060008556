"""Intervals against published values, and their coverage under simulation."""

from __future__ import annotations

import numpy as np
import pytest

from engine.examine.stats import intervals


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998a, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(hits: int, n: int, low: float, high: float) -> None:
    assert intervals.wilson(hits, n) == pytest.approx((low, high), abs=5e-5)


def test_difference_of_independent_shares_as_published() -> None:
    one = intervals.share(np.repeat([True, False], [56, 14]))  # Newcombe 1998b, table II, method 10, case a
    two = intervals.share(np.repeat([True, False], [48, 32]))
    found = intervals.difference_independent(one, two)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_paired_difference_is_narrower_where_the_pairs_agree() -> None:
    both = np.repeat([True, False], [50, 50])
    almost = both.copy()
    almost[:5] = False
    paired = intervals.difference_paired(both, almost)
    apart = intervals.difference_independent(intervals.share(both), intervals.share(almost))
    assert paired.value == pytest.approx(0.05)
    assert paired.high - paired.low < 0.6 * (apart.high - apart.low)


def _covered(draws: list[tuple[float, float, float]]) -> float:
    return float(np.mean([low <= truth <= high for low, high, truth in draws]))


def test_pooled_coverage_of_shares_and_differences() -> None:
    rng = np.random.default_rng(5)
    seen = []
    for _ in range(700):
        p, q, n = rng.uniform(0.02, 0.5), rng.uniform(0.02, 0.5), int(rng.integers(40, 300))
        one, two = rng.random(n) < p, rng.random(n) < q
        share = intervals.share(one)
        difference = intervals.difference_independent(share, intervals.share(two))
        both = rng.random(n) < p
        second = np.where(rng.random(n) < 0.7, both, rng.random(n) < q)
        paired = intervals.difference_paired(both, second)
        seen += [(share.low, share.high, p), (difference.low, difference.high, p - q),
                 (paired.low, paired.high, p - (0.7 * p + 0.3 * q))]  # fmt: skip
    assert 0.935 <= _covered(seen) <= 0.97


def test_pooled_coverage_of_grouped_shares_and_means() -> None:
    rng = np.random.default_rng(6)
    shares, means, naive = [], [], []
    for draw in range(250):
        people = rng.beta(1, 3, 80)
        groups = np.repeat(np.arange(80), rng.integers(1, 12, 80))
        hits = rng.random(len(groups)) < people[groups]
        found, blind = intervals.share(hits, groups), intervals.share(hits)
        shares.append((found.low, found.high, 0.25))
        naive.append((blind.low, blind.high, 0.25))
        mean = intervals.mean(people[groups] + rng.normal(0, 0.1, len(groups)), draw, groups)
        means.append((mean.low, mean.high, 0.25))
    assert 0.9 <= _covered(shares) <= 0.985
    assert 0.9 <= _covered(means) <= 0.985
    assert _covered(naive) < 0.9  # the test would notice if groups were ignored


def test_coverage_of_the_jackknife() -> None:
    rng = np.random.default_rng(7)
    seen = []
    for draw in range(300):
        values = rng.exponential(2.0, 120)
        found = intervals.jackknife(
            lambda rows, values=values: float(np.log(values[rows].mean())), np.arange(120),
            float(np.log(values.mean())), (-10.0, 10.0), draw,
        )  # fmt: skip
        seen.append((found.low, found.high, float(np.log(2.0))))
    assert 0.91 <= _covered(seen) <= 0.985


def test_nothing_to_measure_is_not_a_number() -> None:
    assert np.isnan(intervals.share(np.zeros(0, bool)).value)
    assert np.isnan(intervals.mean(np.zeros(0), 0).value)
    assert intervals.mean(np.ones(1), 0).low is None


def test_the_jackknife_is_kotts_formula_with_one_degree_of_freedom_less_than_groups() -> None:
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0, 5.0, 3.5])  # ten units, so each is a group
    left_out = np.array([np.delete(values, i).mean() for i in range(10)])
    spread = np.sqrt(0.9 * np.sum((left_out - left_out.mean()) ** 2))
    found = intervals.jackknife(lambda rows: float(values[rows].mean()), np.arange(10), values.mean(), (-50, 50), 1)
    assert found.high - found.value == pytest.approx(2.262157 * spread)  # the 97.5 % point of Student's t with 9
    assert found.value - found.low == pytest.approx(2.262157 * spread)


def test_two_units_have_an_interval_of_their_mean_and_one_has_none() -> None:
    two = intervals.mean(np.array([0.0, 1.0, 1.0]), 0, ["a", "b", "b"])
    assert (two.low, two.high) == (0.0, 1.0)
    assert intervals.mean(np.array([0.0, 1.0]), 0, ["a", "a"]).low is None


def test_a_share_that_nothing_left_out_changes_has_wilsons_width() -> None:
    flat = intervals.jackknife(lambda rows: 1.0, np.arange(30), 1.0, (0.0, 1.0), 0)
    assert (flat.low, flat.high) == (1.0, 1.0)
    wider = intervals.no_narrower_than_wilson(flat, 30)
    assert (wider.low, wider.high) == pytest.approx(intervals.wilson(30, 30))
    assert "Wilson" in wider.method
    values = np.repeat([0.0, 1.0], [15, 15])
    own = intervals.jackknife(lambda rows: float(values[rows].mean()), np.repeat(np.arange(6), 5), 0.5, (0.0, 1.0), 0)
    assert intervals.no_narrower_than_wilson(own, 30) == own, "a jackknife over few people is wider, and stays"
    nothing = intervals.jackknife(lambda rows: 1.0, [0, 0], 1.0, (0.0, 1.0), 0)
    assert intervals.no_narrower_than_wilson(nothing, 1).low is None


def test_groups_of_one_item_leave_wilsons_interval_as_it_is() -> None:
    hits = np.random.default_rng(8).random(50) < 0.2
    assert intervals.design_effect(hits, np.arange(50)) == 1.0
    alone, grouped = intervals.share(hits), intervals.share(hits, [f"p{number}" for number in range(50)])
    assert (alone.low, alone.high, alone.method) == (grouped.low, grouped.high, grouped.method)


def test_where_nothing_or_whole_people_are_hit_a_person_counts_once() -> None:
    groups = np.repeat(np.arange(10), [1, 1, 1, 1, 1, 1, 1, 1, 1, 41])  # 50 items; an item's group has 33.8 on average
    size = (9 * 1 + 41**2) / 50
    assert intervals.design_effect(np.zeros(50, bool), groups) == pytest.approx(size)
    assert intervals.design_effect(groups == 0, groups) == pytest.approx(size), "the large group happens to have no hit"
    alike = np.repeat(np.arange(100), 4)
    assert intervals.design_effect(alike < 10, alike) == pytest.approx(4.0, rel=0.05)
    apart = np.arange(400) % 4 == 0  # one of each four: items of a group are not alike
    assert intervals.design_effect(apart, alike) == 1.0


def _pareto(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.minimum(200, np.ceil(rng.pareto(1.2, 100) + 0.5).astype(int))
    return np.repeat(rng.random(100) < 0.05, sizes), np.repeat(np.arange(100), sizes)


def _alike_outputs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return (rng.random((50, 10)) < rng.beta(0.05, 0.95, 50)[:, None]).ravel(), np.repeat(np.arange(50), 10)


@pytest.mark.parametrize("draw", [_pareto, _alike_outputs])
def test_the_upper_end_holds_where_people_differ_in_how_much_is_of_them(draw) -> None:
    rng = np.random.default_rng(9)
    missed = sum(intervals.share(*draw(rng)).high < 0.05 for _ in range(300))
    assert missed <= 15  # 7.5 expected at most; 16 or more would have a chance below 0.005


def test_a_mean_of_values_that_are_mostly_zero_or_one_has_wilsons_width() -> None:
    none = intervals.mean(np.zeros(10), 0)
    assert (none.low, none.high) == pytest.approx(intervals.wilson(0, 10))
    assert "Wilson" in none.method
    every = intervals.mean(np.ones(40), 0, np.repeat(np.arange(4), 10))  # four people
    assert (every.low, every.high) == pytest.approx(intervals.wilson(4, 4))
    uneven = intervals.mean(np.zeros(12), 0, np.repeat(np.arange(3), [1, 1, 10]))
    assert uneven.high == pytest.approx(intervals.wilson(0, 144 / 102)[1])
    rng = np.random.default_rng(10)
    seen = [intervals.mean((rng.random(50) < 0.02) * rng.random(50), draw) for draw in range(60)]
    assert sum(found.high < 0.01 for found in seen) <= 4  # 1.5 expected at most


def test_a_mean_of_values_in_between_keeps_its_bootstrap() -> None:
    rng = np.random.default_rng(11)
    for values in (rng.uniform(0.4, 0.6, 50), rng.normal(size=50), np.append(np.zeros(40), 3.0)):
        assert "Wilson" not in intervals.mean(values, 0).method
