"""Proof and attack on one chart: the trade-off curve, violations under null and planted, ε–δ of attacks, equal axes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from engine.dp.accounting.closed_form import delta_standard, delta_strict
from engine.examine.stats import roc
from engine.figures.equal import equal_axes
from engine.figures.privacy.groups import by_group
from engine.figures.privacy.membership import areas, readable_from, roc_axes, roc_curves
from engine.figures.privacy.proof_attack import (
    Audited,
    Claim,
    attack_curve,
    proof_and_curves,
    proof_and_roc,
    shown_curve,
    trade_off,
    violations,
)

EPSILONS = np.linspace(0, 12, 121)


def gaussian(mu: float) -> Claim:
    standard = [delta_standard(mu, e) for e in EPSILONS]
    return Claim(list(EPSILONS), standard, [delta_strict(mu, e) for e in EPSILONS], 1.0, delta_standard(mu, 1.0),
                 "record", "zero-out")  # fmt: skip


def frames(shift: float, seed: int = 0, size: int = 2000, attacks: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng([seed, 11])
    rows, curves = [], []
    for number in range(attacks):
        members, others = rng.normal(shift, 1, size), rng.normal(size=size)
        area, rate = roc.auc(members, others), roc.tpr_at(members, others, 0.01)
        rows.append({"attack": f"a{number}", "title": f"Attack {number}", "observes": "released text",
                     "auc": area.value, "low": area.low, "high": area.high,
                     "p": roc.permutation_p(members, others), "tpr_01": rate.value,
                     "tpr_01_low": rate.low, "tpr_01_high": rate.high, "members": size, "others": size,
                     "greyed": False})  # fmt: skip
        curves.append(roc.roc_table(members, others).assign(attack=f"a{number}"))
    return pd.concat(curves, ignore_index=True), pd.DataFrame(rows)


def test_a_claim_of_one_point_proves_what_that_point_allows_and_no_more() -> None:
    """The run's own step has μ = 0.3, the runs behind it more: an attack between the two breaks no proof."""
    epsilon, delta = 5.0, 2e-5
    claim = Claim((epsilon,), (delta,), (), epsilon, delta, "record", "zero-out")
    allowed = trade_off([1e-4, 0.01], claim.epsilons, claim.standard)
    assert allowed == pytest.approx([delta + np.exp(5) * 1e-4, 1 - np.exp(-5) * (1 - delta - 0.01)])
    curve, attacks = frames(1.2)
    assert violations(curve, attacks, gaussian(0.3))
    assert not violations(curve, attacks, claim)
    assert (claim.one_point, gaussian(0.3).one_point) == (True, False)
    assert "adds up several runs" in proof_and_roc(curve, attacks, claim).caveat


def test_the_trade_off_curve_bounds_the_exact_gaussian_one_from_above() -> None:
    from scipy.stats import norm

    fpr = np.geomspace(1e-4, 1, 50)
    claim = gaussian(1.0)
    bound = trade_off(fpr, claim.epsilons, claim.standard)
    exact = norm.cdf(norm.ppf(fpr) + 1.0)  # Dong, Roth and Su 2022: G_mu
    assert (bound >= exact - 1e-9).all()
    assert float((bound - exact).max()) < 0.01


@pytest.mark.parametrize(("epsilon", "fpr", "expected"), [(0.0, 0.3, 0.3), (math.log(2), 0.1, 0.2), (1.0, 1.0, 1.0)])
def test_pure_bounds(epsilon: float, fpr: float, expected: float) -> None:
    assert trade_off([fpr], [epsilon], [0.0])[0] == pytest.approx(expected)


def test_the_best_attack_on_a_tight_claim_is_no_violation_and_a_better_one_is() -> None:
    called = sum(bool(violations(*frames(1.0, seed, 400, attacks=3), gaussian(1.0))) for seed in range(30))
    assert called <= 3  # simultaneous at 95%, three attacks on the bound itself
    found, attacks = frames(2.5)
    assert violations(found, attacks, gaussian(1.0)) == ["Attack 0"]
    assert violations(found, attacks.assign(greyed=True), gaussian(1.0)) == []
    assert violations(found, attacks.assign(observes="generator"), gaussian(1.0)) == []
    assert violations(found, attacks, None) == []


def test_the_figure_says_what_is_proven_and_reached() -> None:
    found, attacks = frames(0.5)
    figure = proof_and_roc(found, attacks, gaussian(1.0))
    assert figure.takeaway.startswith("Proven: at 1% false alarms no attack finds more than")
    assert "“Attack 0”, finds" in figure.takeaway
    names = [trace.name for trace in figure.plot.data]
    assert {"proven: at most (ε = 1)", "chance", "Attack 0"} <= set(names)
    assert figure.plot.layout.xaxis.type == figure.plot.layout.yaxis.type == "log"
    broken = proof_and_roc(*frames(2.5), gaussian(1.0))
    assert "passed what is proven" in broken.takeaway
    bare = proof_and_roc(found, attacks)
    assert bare.takeaway.startswith("Nothing is proven")
    assert not any("proven" in str(trace.name) for trace in bare.plot.data)


def test_the_attacks_curve_stays_below_the_claim_it_comes_from_and_its_lower_end_is_no_leak_under_the_null() -> None:
    found, _ = frames(1.0, size=5000)
    drawn = attack_curve(found)
    exact = np.array([delta_standard(1.0, e) for e in drawn.curve.epsilon])
    assert drawn.low is not None
    assert drawn.high is not None
    assert (drawn.low <= exact + 1e-9).all()
    assert (drawn.high >= exact - 5e-3).all()
    null, _ = frames(0.0, size=2000)
    assert float(attack_curve(null).low.max()) == 0.0  # type: ignore[union-attr]
    assert shown_curve(null) is None
    part = shown_curve(found)
    assert part is not None
    assert float(part.low.min()) > 0.0  # type: ignore[union-attr]
    assert len(part.curve) < len(drawn.curve)


def test_curves_and_an_audit_on_one_chart() -> None:
    claim = gaussian(1.0)
    found, _ = frames(0.5)
    from engine.figures.privacy.lbf import Drawn

    curves = {"claimed": Drawn(claim.curve, "claimed"), "attack": attack_curve(found)}
    figure = proof_and_curves(curves, ["a null curve"], Audited(0.4, 1e-3, 3.5))
    assert "at least ε = 0.4 at δ = 0.001 (this audit could have shown at most ε = 3.5)" in figure.takeaway
    assert "Not measured: a null curve." in figure.takeaway
    assert "attackers who see different things" in figure.caveat
    assert "nothing above ε = 0" in proof_and_curves(curves, audited=Audited(0.0, 1e-3, 3.5)).takeaway


def test_membership_figures() -> None:
    found, attacks = frames(0.5, attacks=2)
    blind = attacks.head(1).assign(attack="blind", title="Words alone", observes="no model (blind)")
    figure = areas(pd.concat([attacks, blind]))
    assert figure.takeaway == "2 of 2 attacks lie above chance with all of them allowed for."
    assert [trace.name for trace in figure.plot.data] == ["judged", "blind baseline"]
    greyed = areas(attacks.assign(greyed=True))
    assert greyed.takeaway.startswith("No attack can be judged by itself")
    every = pd.concat([attacks.assign(greyed=True), blind.assign(auc=0.55, low=0.51, high=0.59, greyed=False)])
    assert "2 of 2 do clearly better than words alone" in areas(every).takeaway
    for draw in (roc_curves, lambda *given: proof_and_roc(given[0], given[1], None, given[2])):
        assert "does not explain them" in draw(found, every, ["a0", "a1"]).takeaway
        assert "may be that difference and not a leak" in draw(found, attacks.assign(greyed=True), ["a0"]).takeaway
    assert roc_curves(found, attacks, ["a0", "a1"]).takeaway.startswith("Above chance")
    assert roc_curves(found, attacks, []).takeaway == "No curve is drawn."
    quiet = frames(0.0)
    assert "leaves chance" in roc_curves(*quiet, ["a0"]).takeaway


def test_groups_figure_allows_for_all_groups() -> None:
    numbers = {"auc": [0.54, 0.70, np.nan], "low": [0.505, 0.64, np.nan], "high": [0.575, 0.76, np.nan]}
    cells = pd.DataFrame({"group": ["a", "b", "c"], **numbers, "members": [500, 300, -1], "others": [500, 300, -1]})
    figure = by_group(cells, "Attack")
    assert "in: b." in figure.takeaway  # a alone would stand out, not with two groups looked at
    assert "1 group is too small" in figure.takeaway
    assert "too small" in by_group(cells.iloc[2:], "Attack").takeaway


@pytest.mark.parametrize(
    ("others", "begin", "ticks"), [(70, 10 / 70 / 3, "20%"), (10_000, 1e-3 / 3, "0.1%"), (10_000_000, 1e-4, "0.01%")]
)
def test_an_axis_begins_somewhat_below_what_can_be_read(others: int, begin: float, ticks: str) -> None:
    edge = readable_from(pd.DataFrame({"others": [others]}))
    plot = go.Figure()
    roc_axes(plot, 400, [], edge)
    assert plot.layout.xaxis.range[0] == pytest.approx(math.log10(begin))
    assert ticks in plot.layout.xaxis.ticktext
    assert plot.layout.yaxis.range[0] == -4, "members found keep their own axis"


def test_axes_of_two_figures_are_made_equal() -> None:
    one = go.Figure(go.Bar(x=[10, 20], y=["a", "b"], orientation="h", error_x={"array": [1, 5], "arrayminus": [1, 1]}))
    two = go.Figure(go.Bar(x=[50], y=["c"], orientation="h"))
    one.update_xaxes(rangemode="tozero")
    equal_axes([one, two])
    assert tuple(one.layout.xaxis.range) == tuple(two.layout.xaxis.range)
    assert one.layout.xaxis.range[0] == 0
    assert one.layout.xaxis.range[1] >= 50
    assert tuple(one.layout.yaxis.categoryarray) == tuple(two.layout.yaxis.categoryarray) == ("a", "b", "c")
    three, four = go.Figure(go.Scatter(x=[0.1, 10], y=[1, 2])), go.Figure(go.Scatter(x=[0.001], y=[5]))
    for plot in (three, four):
        plot.update_xaxes(type="log")
    equal_axes([three, four])
    low, high = three.layout.xaxis.range
    assert low <= -3
    assert high >= 1
    assert tuple(three.layout.yaxis.range) == tuple(four.layout.yaxis.range)


def test_a_curve_that_leaks_stands_high_above_chance_and_not_on_the_edge_of_a_logarithmic_axis() -> None:
    """Two runs side by side get the axis of the one that leaks."""
    leaking, quiet = (proof_and_roc(*frames(shift)).plot for shift in (2.5, 0.0))
    assert (leaking.layout.yaxis.type, quiet.layout.yaxis.type) == ("linear", "log")
    equal_axes([leaking, quiet])
    assert leaking.layout.yaxis.range == quiet.layout.yaxis.range == (0, 1.03)
    assert quiet.layout.yaxis.type == "linear"
    (chance,) = (trace for trace in quiet.data if trace.name == "chance")
    assert list(chance.x) == list(chance.y)
    assert len(chance.x) > 100


@pytest.mark.parametrize(("others", "rate"), [(2000, "1%"), (118, "10%"), (400, "1%")])
def test_the_proof_speaks_of_a_rate_that_the_axis_shows_and_the_band_of_what_is_not_excluded(others, rate) -> None:
    """Of 118 others nothing below 8.5% can be read, and a band above the proven line looked as if the proof failed."""
    curve, attacks = frames(0.0, size=others)
    claim = gaussian(0.2)
    figure = proof_and_roc(curve, attacks, claim)
    assert figure.takeaway.startswith(f"Proven: at {rate} false alarms no attack finds more than")
    said = float(figure.takeaway.split("more than ")[1].split("%")[0])
    bound = 100 * float(trade_off([float(rate[:-1]) / 100], claim.epsilons, claim.standard)[0])
    assert bound <= said <= bound + 0.1
    begin = 10 ** figure.plot.layout.xaxis.range[0]
    assert begin <= float(rate[:-1]) / 100
    names = [trace.name for trace in figure.plot.data]
    assert "Attack 0: what so few cannot exclude (95%)" in names
    assert "the proof does" in figure.caveat
    assert "Attack 0: its 95% band" in [trace.name for trace in proof_and_roc(curve, attacks).plot.data]
    broken = proof_and_roc(*frames(3.0, size=others), claim)
    assert "passed what is proven" in broken.takeaway
    assert "the proof does" not in broken.caveat
