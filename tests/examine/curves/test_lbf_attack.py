"""Curves of attack scores: whole-curve coverage at every size, a Gaussian's closed form, clusters, and too few."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from engine.dp.accounting import closed_form
from engine.errors import UserError
from engine.examine.curves import lbf_attack
from engine.examine.curves.lbf_attack import NOT_SHOWN, SHOWN, TOO_FEW

GRID = np.unique([*np.geomspace(0.02, math.log(100.0), 9), *np.log([1.01, 1.2, 2.0, 10.0])])
AT = int(np.flatnonzero(np.isclose(GRID, math.log(1.2)))[0])
APART = 100.0


def truth(shift):
    """Return strict and standard δ of the best threshold between N(shift, 1) and N(0, 1)."""
    if shift in (0.0, APART):
        return (np.full(GRID.size, shift / APART),) * 2
    # the share of those above grows more slowly under N(0, 1), so strict δ is at the cut where the ratio is e^ε
    cuts = [brentq(lambda t: norm.logsf(t - shift) - norm.logsf(t) - e, -50, 60) for e in GRID]  # noqa: B023
    return norm.sf(np.array(cuts) - shift), np.array([closed_form.delta_standard(shift, e) for e in GRID])


def independent(rng, n, shift, other=None):
    return lbf_attack.sides(rng.normal(shift, 1, n), rng.normal(0, 1, other or n))


def dependent(rng, n, shift, each=4):
    """Return scores of sources: several a source, nearly alike, and every source on both sides."""
    own = rng.normal(0, math.sqrt(0.9), n)
    x, y = (own[:, None] + rng.normal(mean, math.sqrt(0.1), (n, each)) for mean in (shift, 0.0))
    names = np.repeat(np.arange(n), each).tolist()
    return lbf_attack.sides(x.ravel(), y.ravel(), names, names)


def simulated(n, shift, make, times):
    """Return how often the whole curve was covered (strict and standard together), false alarms, gains, widths."""
    strict, standard = truth(shift)
    covered, shown, gains, widths, calls = 0, 0, [], [], set()
    for seed in range(times):
        found = lbf_attack.attack_curve(*make(np.random.default_rng([seed, n]), n, shift), GRID, seed=seed)
        inside = (found.standard_low <= standard + 1e-12) & (standard <= found.standard_high + 1e-12)
        inside &= (found.delta_low <= strict + 1e-12) & (strict <= found.delta_high + 1e-12)
        covered += bool(inside.all())
        shown += bool((found.standard_low > 0).any())
        gains.append(found.gain[AT])
        widths.append(found.standard_high[AT] - found.standard_low[AT])
        calls.add(found.verdict[AT])
    return covered / times, shown / times, float(np.mean(gains)), float(np.mean(widths)), calls


def check(n, shift, make, times):
    covered, shown, gain, width, calls = simulated(n, shift, make, times)
    assert covered >= 0.95
    exact = truth(shift)[1][AT]
    spread = 3 * 0.9 / math.sqrt(n * times)
    assert gain <= exact + spread  # a threshold chosen beforehand is never better than the best, on average
    if shift == 0.0:
        assert shown <= 0.05
        assert SHOWN not in calls or shown > 0
    if shift == APART:
        assert shown == 1.0
        assert gain > 0.85
    if shift == 0.5 and n >= 400:
        assert gain == pytest.approx(exact, abs=0.03)
        assert width < 0.45


@pytest.mark.parametrize("shift", [0.0, 0.5, APART], ids=["equal", "shifted", "separated"])
@pytest.mark.parametrize("n", [15, 100, *(pytest.param(n, marks=pytest.mark.long) for n in (30, 400, 1500))])
@pytest.mark.slow
def test_the_whole_curve_is_covered_at_every_size(n, shift):
    check(n, shift, independent, 200)


@pytest.mark.parametrize("shift", [0.0, 0.5, APART], ids=["equal", "shifted", "separated"])
@pytest.mark.parametrize(
    "n",
    [
        *(pytest.param(n, marks=pytest.mark.slow) for n in (15, 100)),
        *(pytest.param(n, marks=pytest.mark.long) for n in (30, 400, 1500)),
    ],
)
def test_the_whole_curve_is_covered_where_sources_have_several_scores(n, shift):
    check(n, shift, dependent, 200)


@pytest.mark.parametrize(("n", "shift"), [(15, 0.0), (15, APART), (40, 0.5)])
@pytest.mark.parametrize("make", [independent, dependent])
def test_the_whole_curve_is_covered_in_a_few_draws(n, shift, make):
    check(n, shift, make, 10)


def test_many_scores_come_close_to_the_gaussian():
    found = lbf_attack.attack_curve(*independent(np.random.default_rng(1), 8_000, 1.0), GRID)
    exact = np.array([closed_form.delta_standard(1.0, e) for e in GRID])
    assert found.delta_standard == pytest.approx(exact, abs=0.03)
    assert (found.standard_high - found.standard_low).max() < 0.2
    sure = ~np.isnan(found.delta)
    assert (found.delta_standard[sure] <= found.delta[sure] + 1e-12).all()
    assert (found.delta_low[sure] <= found.delta[sure]).all()
    assert (found.delta[sure] <= found.delta_high[sure]).all()


def test_independence_that_is_not_there_is_not_believed():
    # 30 sources a side that differ among themselves, 40 nearly equal scores each: nothing tells the sides apart
    alarms = {"sources": 0, "scores": 0}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(30), 40)
        x, y = (rng.normal(0, 1, 30)[groups] + rng.normal(0, 0.1, 1200) for _ in range(2))
        names = [("x", g) for g in groups], [("y", g) for g in groups]
        for what, given in (("sources", names), ("scores", (None, None))):
            found = lbf_attack.attack_curve(*lbf_attack.sides(x, y, *given), [0.2], seed=seed)
            alarms[what] += found.standard_low[0] > 0
    assert alarms["sources"] == 0
    assert alarms["scores"] >= 3  # the negative control


def test_few_scores_cannot_tell_and_are_not_called_nothing():
    rng = np.random.default_rng(2)
    few = lbf_attack.attack_curve(*lbf_attack.sides(rng.normal(10, 0.1, 300), rng.normal(0, 0.1, 2)), GRID)
    assert few.standard_low.max() < 0.06
    assert (few.standard_high == 1.0).all()
    assert set(few.verdict[-4:]) == {TOO_FEW}
    assert np.isnan(few.delta_standard[-4:]).all()
    for n in (16, 30, 60):  # where bins once said δ = 0
        found = lbf_attack.attack_curve(*lbf_attack.sides(rng.normal(10, 0.1, 300), rng.normal(0, 0.1, n)), GRID)
        assert found.standard_low[0] > 0.5
        assert (found.standard_high == 1.0).all()
        told = np.array(found.verdict) != TOO_FEW
        assert (found.delta_standard[told] > 0.6).all()
        assert np.isnan(found.delta_standard[~told]).all()
        assert SHOWN in found.verdict
    assert lbf_attack.attack_curve(*lbf_attack.sides([1.0], [0.0]), [0.2]).verdict == (TOO_FEW,)


def test_a_seen_nothing_keeps_its_upper_end():
    found = lbf_attack.attack_curve(*independent(np.random.default_rng(6), 60, 0.0), [0.2])
    assert found.verdict == (NOT_SHOWN,)
    assert found.standard_low[0] == 0.0
    assert found.standard_high[0] > 0.2
    assert math.isnan(found.delta[0])  # strict δ jumps: no estimate where the band does not exclude 0


def test_either_direction_and_either_side_are_attacks():
    rng = np.random.default_rng(8)
    x, y = rng.normal(0.8, 1, 800), rng.normal(0, 1, 800)
    ends = [
        lbf_attack.attack_curve(*lbf_attack.sides(*pair), GRID)
        for pair in ((x, y), (y, x), (-x, -y))
    ]  # fmt: skip
    for other in ends[1:]:
        assert other.standard_low == pytest.approx(ends[0].standard_low, abs=1e-9)
        assert other.standard_high == pytest.approx(ends[0].standard_high, abs=1e-9)


def test_ties_and_yes_or_no_scores_are_covered():
    exact = 0.7 - 1.2 * 0.3
    held = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found = lbf_attack.attack_curve(
            *lbf_attack.sides(rng.random(80) < 0.7, rng.random(80) < 0.3), [math.log(1.2)], seed=seed
        )
        held += found.standard_low[0] <= exact <= found.standard_high[0]
    assert held >= 38


def test_conditions_are_checked():
    with pytest.raises(UserError, match="finite"):
        lbf_attack.sides([math.inf, 1.0], [0.0, 1.0])
    with pytest.raises(UserError, match="at least one"):
        lbf_attack.sides([], [0.0, 1.0])
    for epsilon in (0.0, math.inf, math.nan):
        with pytest.raises(UserError, match="ε > 0"):
            lbf_attack.attack_curve(*lbf_attack.sides([1.0], [0.0]), [epsilon])
