"""Curves of attack scores: conditions of theorem 6, a Gaussian score's closed form, and noise."""

import math

import numpy as np
import pytest

from engine.analysis import lbf_attack
from engine.analysis.lbf_attack import Halves, Side
from engine.dp import closed_form
from engine.errors import UserError

GRID = [0.05, 0.3, 0.8, 1.5]


def scores(mu, n=40_000, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(mu, 1, n), rng.normal(0, 1, n)


def test_binned_and_threshold_forms_stay_below_the_gaussian_and_come_close():
    halves = lbf_attack.halve(*scores(1.0), seed=3)
    for form, nearness in ((lbf_attack.binned, 0.03), (lbf_attack.thresholded, 0.03)):
        found = form(halves, GRID)
        for i, e in enumerate(GRID):
            exact = closed_form.delta_standard(1.0, e)
            assert found.standard_low[i] <= exact + 1e-9  # data processing: no attack passes the whole output
            assert found.curve.delta_standard[i] == pytest.approx(exact, abs=nearness)
            assert found.curve.delta_standard[i] <= found.curve.delta[i]
            assert found.delta_low[i] - 1e-9 <= found.curve.delta[i] <= found.delta_high[i] + 1e-9


def test_a_best_threshold_reaches_the_whole_hockey_stick_of_a_monotone_score():
    halves = lbf_attack.halve(*scores(1.0, 100_000), seed=5)
    found = lbf_attack.thresholded(halves, [0.5])
    assert found.curve.delta_standard[0] == pytest.approx(closed_form.delta_standard(1.0, 0.5), abs=0.01)
    # where the density ratio passes e^ε: at μ/2 + ε/μ = 1, or at its mirror image 0 for Y against X
    assert min(abs(found.cuts[0] - 1.0), abs(found.cuts[0] - 0.0)) < 0.2


def test_noise_shows_nothing_beyond_its_band():
    # 40 null sets in 30 clusters a side: the lower end of the standard band is 0 nearly always
    clear = 0
    for seed in range(40):
        x, y = scores(0.0, 600, seed)
        groups = np.repeat(np.arange(30), 20)
        halves = lbf_attack.halve(x, y, seed, [("x", g) for g in groups], [("y", g) for g in groups])
        clear += lbf_attack.thresholded(halves, [0.2]).standard_low[0] <= 1e-12
    assert clear >= 35


def test_clusters_widen_the_band():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 50)
    shift = rng.normal(0, 1, (2, 40))
    x, y = (rng.normal(0.5 * (1 - i), 0.3, 2000) + shift[i][groups] for i in (0, 1))
    whole = lbf_attack.halve(x, y, 1, [("x", g) for g in groups], [("y", g) for g in groups])
    alone = lbf_attack.halve(x, y, 1)
    wide, narrow = (lbf_attack.binned(h, [0.3], bins=4) for h in (whole, alone))
    assert wide.clusters == 40
    assert wide.standard_high[0] - wide.standard_low[0] > 2 * (narrow.standard_high[0] - narrow.standard_low[0])


def test_every_bin_would_hold_enough_of_both_sides_if_they_were_alike():
    x, y = scores(3.0, 400)
    halves = lbf_attack.halve(x, y[:100], seed=2)
    edges = lbf_attack.choose_bins(halves, bins=20, least=10)
    first, second = (np.bincount(np.searchsorted(edges, s.scores, side="right"), minlength=len(edges) + 1)
                     for s in halves.choose)  # fmt: skip
    expected = (first + second) * len(halves.choose[1]) / (len(halves.choose[0]) + len(halves.choose[1]))
    assert expected.min() >= 10


def test_sides_that_do_not_overlap_are_told_apart():
    rng = np.random.default_rng(4)
    halves = lbf_attack.halve(rng.uniform(1, 2, 60), rng.uniform(-1, 0, 60), seed=1)
    found = lbf_attack.binned(halves, [0.2, 2.0])
    assert found.cuts.size
    assert found.curve.delta_standard.min() > 0.6  # bins are coarse, so not all of it


def test_conditions_of_theorem_6_are_checked():
    side = Side(np.zeros(2), np.array([0, 1]))
    with pytest.raises(UserError, match="both halves"):
        Halves((side, side), (side, Side(np.zeros(1), np.array([7]))))
    with pytest.raises(UserError, match="finite"):
        lbf_attack.halve([math.inf, 1.0], [0.0, 1.0], 0)
    with pytest.raises(UserError, match="too few"):
        lbf_attack.halve([1.0], [0.0], 0, ["run"], ["run"])
    with pytest.raises(UserError, match="ε > 0"):
        lbf_attack.binned(lbf_attack.halve(*scores(1.0, 200), seed=0), [0.0])


def test_a_run_scored_on_both_sides_stays_in_one_half():
    runs = [f"run{i % 6}" for i in range(60)]
    halves = lbf_attack.halve(np.arange(60.0), np.arange(60.0), 4, runs, runs)
    chosen = {c for side in halves.choose for c in side.clusters}
    assert chosen.isdisjoint(c for side in halves.judge for c in side.clusters)
    assert len(chosen) == 3
