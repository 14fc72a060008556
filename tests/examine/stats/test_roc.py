"""ROC numbers against brute force, and their intervals against the truth they must cover."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import t

from engine.errors import InternalError
from engine.examine.stats import roc
from engine.examine.stats.intervals import freedom_of
from engine.examine.stats.simultaneous import wider


def brute_auc(members, others):
    return np.mean([(a > b) + 0.5 * (a == b) for a, b in itertools.product(members, others)])


def brute_variance(members, others):
    """DeLong et al. 1988, equations 4 to 6, term by term."""
    kernel = np.array([[float(a > b) + 0.5 * (a == b) for b in others] for a in members])
    return np.var(kernel.mean(axis=1), ddof=1) / len(members) + np.var(kernel.mean(axis=0), ddof=1) / len(others)


@pytest.mark.parametrize(
    ("members", "others", "area"),
    [
        ([1.0, 2.0], [0.0], 1.0),  # always above
        ([0.0], [1.0, 2.0], 0.0),  # always below
        ([1.0], [1.0, 1.0], 0.5),  # only ties
        ([3.0, 1.0], [2.0], 0.5),  # one above, one below
        ([2.0, 1.0], [1.0, 0.0], 0.875),  # 3 wins and a tie of 4
    ],
)
def test_area_of_tiny_cases(members, others, area):
    assert roc.auc(members, others).value == pytest.approx(area)


def test_delong_equals_brute_force_with_ties():
    rng = np.random.default_rng(0)
    members, others = rng.integers(0, 8, 37).astype(float), rng.integers(0, 6, 23).astype(float)
    area, variance = roc.delong(members, others)
    assert area == pytest.approx(brute_auc(members, others))
    assert variance == pytest.approx(brute_variance(members, others))
    interval = roc.auc(members, others)
    assert interval.method == "DeLong"
    assert 22 < interval.freedom < 58  # from that of the smaller side to that of both
    assert interval.high - interval.low == pytest.approx(2 * t.ppf(0.975, interval.freedom) * math.sqrt(variance))


def test_degrees_of_freedom_are_satterthwaites():
    assert freedom_of((0.01, 0.01), (9, 9)) == pytest.approx(16.0)  # as much from either side: those of both
    assert freedom_of((0.01, 0.0), (9, 30)) == pytest.approx(8.0)  # all from one side: its own
    assert freedom_of((0.02, 0.01), (5, 11)) == pytest.approx(0.03**2 / (0.02**2 / 4 + 0.01**2 / 10))
    assert freedom_of((0.25, 0.01), (1, 11)) == pytest.approx(0.26**2 / (0.01**2 / 10))
    assert freedom_of((0.0, 0.0), (9, 9)) == math.inf


def test_few_people_are_seldom_called_a_leak_among_many_attacks():
    """Eight against eight, fifteen attacks: on the normal quantile 1% lie above chance, where 0.17% are meant to."""
    rng = np.random.default_rng(12)
    found = [roc.auc(rng.normal(size=8), rng.normal(size=8)) for _ in range(4000)]
    above = [one.value - wider(15, one.freedom) * (one.value - one.low) > 0.5 for one in found]
    assert sum(above) <= 28


def test_no_overlap_leaves_doubt():
    interval = roc.auc([3.0, 4.0, 5.0], [0.0, 1.0])
    assert interval.value == interval.high == 1.0
    assert 0.2 < interval.low < 0.6


def test_an_empty_side_is_not_estimable_and_a_bad_score_is_refused():
    assert math.isnan(roc.auc([], [1.0]).value)
    assert math.isnan(roc.permutation_p([], [1.0]))
    assert roc.roc_table([], [1.0]).empty
    with pytest.raises(InternalError, match="finite"):
        roc.auc([math.nan], [1.0])


def test_intervals_cover_chance_under_the_null():
    """100 seeds by six kinds of attack scores: at least 87 each, 93 to 97% pooled."""
    kinds = {
        "normal": lambda rng, n: rng.normal(size=n),
        "heavy tails": lambda rng, n: rng.standard_t(2, size=n),
        "ties": lambda rng, n: rng.integers(0, 4, n).astype(float),
        "mostly equal": lambda rng, n: (rng.random(n) < 0.15).astype(float),
        "skewed": lambda rng, n: rng.exponential(size=n),
        "few": lambda rng, n: rng.normal(size=n // 4),
    }
    hits, widths = {}, []
    for name, draw in kinds.items():
        found = []
        for seed in range(100):
            rng = np.random.default_rng([seed, len(name)])
            interval = roc.auc(draw(rng, 240), draw(rng, 160), seed=seed)
            found.append(interval.low <= 0.5 <= interval.high)
            widths.append(interval.high - interval.low)
        hits[name] = sum(found)
    assert min(hits.values()) >= 87, hits
    assert 0.93 <= sum(hits.values()) / 600 <= 0.97, hits
    assert 0.05 < np.mean(widths) < 0.16, np.mean(widths)  # mean width 0.12 at 240 against 160


def test_units_widen_the_interval_and_keep_coverage():
    """Scores that go with the person: an interval of single scores misses chance often, one of units does not."""
    grouped, single = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        sides = [(np.repeat(rng.normal(size=k), 8) + 0.3 * rng.normal(size=8 * k)) for k in (40, 30)]
        units = [np.repeat([f"{side}{i}" for i in range(k)], 8).astype(object) for side, k in (("m", 40), ("o", 30))]
        wide = roc.auc(*sides, member_groups=units[0], other_groups=units[1], seed=seed)
        narrow = roc.auc(*sides)
        assert wide.value == narrow.value
        grouped.append(wide.low <= 0.5 <= wide.high)
        single.append(narrow.low <= 0.5 <= narrow.high)
    assert sum(grouped) >= 87
    assert sum(single) < 75


def test_units_of_one_score_use_delong():
    scores = np.arange(6.0)
    units = np.array([f"u{i}" for i in range(6)], dtype=object)
    assert roc.auc(scores, scores, member_groups=units, other_groups=np.char.add("x", units.astype(str)).astype(object)
                   ).method == "DeLong"  # fmt: skip


def test_a_unit_on_both_sides_is_drawn_once_for_both():
    rng = np.random.default_rng(0)
    level = np.repeat(rng.normal(scale=5, size=30), 4)
    units = np.repeat([f"u{i}" for i in range(30)], 4).astype(object)
    members, others = level + rng.normal(size=120) * 0.1, level + rng.normal(size=120) * 0.1
    joint = roc.auc(members, others, member_groups=units, other_groups=units)
    apart = roc.auc(members, others, member_groups=units,
                    other_groups=np.array([f"x{u}" for u in units], dtype=object))  # fmt: skip
    assert joint.high - joint.low < 0.5 * (apart.high - apart.low)


@pytest.mark.parametrize(("others", "fpr", "known"), [(999, 0.01, False), (1000, 0.01, True), (5000, 0.001, False)])
def test_rates_need_ten_false_positives(others, fpr, known):
    interval = roc.tpr_at(np.arange(50.0), np.arange(float(others)), fpr)
    assert math.isfinite(interval.value) is known
    assert (interval.method == "not estimable") is not known


def test_rate_at_one_per_cent_is_the_share_above_the_tenth_of_a_thousand():
    others = np.arange(1000.0)
    members = np.concatenate([np.full(30, 989.5), np.full(10, 2000.0), np.full(60, -1.0)])
    interval = roc.tpr_at(members, others, 0.01)  # ten others may pass: 990 to 999, so 989.5 passes them not
    assert interval.value == pytest.approx(0.40)
    assert interval.low < 0.40 < interval.high
    assert roc.tpr_at(members - 1.0, others, 0.01).value == pytest.approx(0.10)


def test_rate_covers_chance_under_the_null():
    hits = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        interval = roc.tpr_at(rng.normal(size=1200), rng.normal(size=1000), 0.01, seed=seed)
        hits.append(interval.low <= 0.01 <= interval.high)
    assert sum(hits) >= 53


def test_the_band_holds_at_all_points_at_once():
    """Scores shifted by one: the true curve is known, and the whole of it lies in the band in 95% of draws."""
    from scipy.stats import norm

    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = roc.roc_table(rng.normal(1.0, 1.0, 400), rng.normal(0.0, 1.0, 500))
        true = norm.sf(norm.isf(table["fpr"]) - 1.0)
        inside.append(((table["tpr_low"] <= true + 1e-12) & (true <= table["tpr_high"] + 1e-12)).all())
        assert len(table) <= 200
        assert table["fpr"].is_monotonic_increasing
        assert table["tpr"].is_monotonic_increasing
        assert ((table["tpr_low"] <= table["tpr"]) & (table["tpr"] <= table["tpr_high"])).all()
    assert sum(inside) >= 56
    middle = table[table["fpr"].between(0.2, 0.4)]
    assert (middle["tpr_low"] > middle["fpr"]).all()  # and it says something: above chance there


def test_permutation_p_is_flat_under_the_null_and_small_when_planted():
    rng = np.random.default_rng(1)
    found = [roc.permutation_p(rng.normal(size=40), rng.normal(size=30), seed=s) for s in range(60)]
    assert 0.3 < np.mean(found) < 0.7
    assert sum(p <= 0.05 for p in found) <= 8
    assert roc.permutation_p(rng.normal(1.5, 1, 40), rng.normal(size=30)) == 0.001
    assert roc.permutation_p(rng.normal(-1.5, 1, 40), rng.normal(size=30)) == 0.001  # below chance counts too


def test_permutation_p_moves_whole_units():
    members = np.repeat([1.0, 2.0, 3.0], 20)
    others = np.repeat([0.0, 0.5, 0.7], 20)
    units = np.array([f"u{i // 20}" for i in range(120)], dtype=object)
    assert roc.permutation_p(members, others) == 0.001
    assert roc.permutation_p(members, others, units) > 0.05  # six people can be dealt in 20 ways only
