"""Differences over repeats: against scipy, by hand, under the null and with a planted effect, and with too few."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from engine.examine.stats.over_repeats import (
    detectable,
    difference,
    paired_permutation,
    pairs_needed,
    smallest_p,
    spread,
    unlike,
)
from engine.examine.stats.simultaneous import benjamini_hochberg

ONE, TWO = [0.41, 0.44, 0.39, 0.47, 0.42], [0.31, 0.36, 0.40, 0.30, 0.35]


def test_welch_and_its_interval_are_those_of_scipy():
    found = difference(ONE, TWO)
    known = stats.ttest_ind(ONE, TWO, equal_var=False)
    ends = known.confidence_interval(0.95)
    assert found.p == pytest.approx(known.pvalue)
    assert (found.low, found.high) == (pytest.approx(ends.low), pytest.approx(ends.high))
    mean = spread(ONE)
    ends = stats.t.interval(0.95, 4, np.mean(ONE), stats.sem(ONE))
    assert (mean.low, mean.high) == (pytest.approx(ends[0]), pytest.approx(ends[1]))


def test_the_permutation_is_the_count_of_all_signs():
    apart = np.array([0.3, -0.1, 0.25, 0.4, 0.05, 0.2])
    sums = [abs(float(np.dot(signs, apart))) for signs in product((1, -1), repeat=len(apart))]
    assert paired_permutation(apart) == pytest.approx(np.mean([s >= abs(apart.sum()) - 1e-12 for s in sums]))
    for n in (1, 3, 6, 10):
        assert paired_permutation(np.arange(1.0, n + 1)) == smallest_p(n) == 2.0 ** (1 - n)
    assert paired_permutation([0.0, 0.0, 0.0]) == 1.0
    assert math.isnan(paired_permutation([]))


def test_how_many_pairs_can_show_anything_at_all():
    assert smallest_p(3) == 0.25
    assert next(n for n in range(1, 12) if smallest_p(n) < 0.05) == pairs_needed() == 6
    assert next(n for n in range(1, 16) if smallest_p(n) < 0.05 / 7) == pairs_needed(7)


@pytest.mark.parametrize("repeats", [3, 5, 10])
def test_what_can_be_seen_is_seen_four_times_in_five(repeats):
    rng = np.random.default_rng(repeats)
    shift = detectable(repeats)
    seen = sum(
        difference(rng.normal(shift, 1, repeats), rng.normal(0, 1, repeats)).p < 0.05 for _ in range(400)
    )  # fmt: skip
    assert 0.72 < seen / 400 < 0.88


@pytest.mark.parametrize("repeats", [3, 5, 10])
def test_chance_is_called_a_difference_no_more_than_it_should(repeats):
    rng = np.random.default_rng(repeats)
    found = [difference(rng.normal(0, 1, repeats), rng.normal(0, 1, repeats)) for _ in range(200)]
    assert sum(one.p < 0.05 for one in found) <= 20  # 10 expected of 200
    assert sum(one.p_paired <= 0.05 for one in found) <= 20
    assert sum(one.low <= 0.0 <= one.high for one in found) >= 180


DRAWN = {
    "one varies three times as much": lambda rng, n: (rng.normal(0, 1, n), rng.normal(0, 3, n)),
    "one never varies": lambda rng, n: (np.zeros(n), rng.normal(0, 1, n)),
    "ties": lambda rng, n: (np.rint(rng.normal(0, 1, n)), np.rint(rng.normal(0, 1, n))),
    "yes or no": lambda rng, n: (rng.integers(0, 2, n), rng.integers(0, 2, n)),
    "distances": lambda rng, n: (np.abs(rng.normal(0, 1, n)), np.abs(rng.normal(0, 1, n))),
    "some missing": lambda rng, n: (np.append(rng.normal(0, 1, n - 1), math.nan), rng.normal(0, 1, n)),
}


@pytest.mark.parametrize("repeats", [4, 10])
@pytest.mark.parametrize("how", DRAWN)
def test_chance_passes_as_seldom_whatever_repeats_are_like(how, repeats):
    rng = np.random.default_rng(repeats)
    found = [difference(*(side.tolist() for side in DRAWN[how](rng, repeats))) for _ in range(400)]
    assert sum(one.p < 0.05 for one in found) <= 34  # 20 expected of 400, and 3 standard deviations
    assert sum(one.p_paired <= 0.05 for one in found) <= 34


@pytest.mark.parametrize("unequal", [1.0, 3.0])
def test_more_repeats_see_the_same_difference_more_often(unequal):
    rng = np.random.default_rng(7)
    seen = [
        sum(difference(rng.normal(2, 1, n).tolist(), rng.normal(0, unequal, n).tolist()).p < 0.05 for _ in range(300))
        for n in (3, 6, 12)
    ]
    assert seen[0] + 30 < seen[1]
    assert seen[1] < seen[2]


@pytest.mark.parametrize(("repeats", "tests", "ratio"), [(3, 1, 6.5), (3, 7, 10.0), (5, 20, 5.0)])
def test_how_often_it_errs_where_settings_vary_unlike_is_what_draws_show(repeats, tests, ratio):
    rng, draws, level = np.random.default_rng(2), 400_000, 0.05 / tests
    one, two = rng.normal(0, 1, (draws, repeats)), rng.normal(0, ratio, (draws, repeats))
    wrong = int((stats.ttest_ind(one, two, axis=1, equal_var=False).pvalue < level).sum())
    wanted = unlike(repeats, tests) * level * draws
    assert abs(wrong - wanted) <= 5.0 * math.sqrt(wanted) + 0.03 * wanted  # the ratios that are tried are a few
    assert unlike(repeats, tests) > unlike(2 * repeats, tests) >= 1.0
    assert unlike(16) < 1.02
    assert math.isnan(unlike(2))


def test_too_few_repeats_and_repeats_that_never_vary_have_no_interval():
    two = difference([1.0, 2.0, math.nan], [3.0, 4.0, 5.0])
    assert not two.enough
    assert math.isnan(two.p)
    assert two.value == pytest.approx(-2.5)
    assert (two.first, two.second, two.pairs) == (2, 3, 2)
    same = difference([0.0] * 4, [0.0] * 4)
    assert (same.p, same.p_paired) == (1.0, 1.0)
    assert math.isnan(same.low)
    fixed = difference([0.1] * 4, [0.2] * 4)
    assert math.isnan(fixed.p)  # no spread to judge the difference by
    assert math.isnan(spread([0.5, 0.5, 0.5]).low)
    assert math.isnan(difference([math.nan] * 3, [1.0, 2.0, 3.0]).value)


def test_rounding_is_no_difference():
    third = 1.0 / 3.0
    assert difference([third, 1.0, 0.3], [third + 1e-16, 1.0, 0.1 + 0.2]).p_paired == 1.0


def test_an_interval_ends_where_values_do():
    found = spread([0.0, 0.01, 0.02], (0.0, 1.0))
    assert found.low == 0.0
    assert found.high > 0.02


def test_the_share_of_false_claims_is_corrected_as_scipy_does():
    values = [0.2, 0.001, 0.03, 0.04, 0.9, 0.008]
    assert benjamini_hochberg(values) == pytest.approx(stats.false_discovery_control(values))
    corrected = benjamini_hochberg([0.01, math.nan, 0.02])
    assert corrected[0] == corrected[2] == pytest.approx(0.02)
    assert math.isnan(corrected[1])
