"""What is proven and what attacks achieved, on the same axes: trade-off curve with ROC, and ε–δ.

The trade-off curve follows from every (ε, δ) of the accountant: any test of whether a unit was in the data has
TPR ≤ min over i of δ_i + e^ε_i FPR and of 1 − e^−ε_i (1 − δ_i − FPR) (Dong, Roth and Su 2022, Gaussian differential
privacy, section 2.2; Kairouz, Oh and Viswanath 2015, section 3). Each point is a bound of its own, so the least of
finitely many stays one. An attack passes it only where a lower band that holds at all false-alarm rates, and for all
attacks drawn at once, lies above it.

Light: numpy, pandas and plotly only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from engine.dp.upward import upward
from engine.examine.curves.lbf import Curve, Floats
from engine.examine.stats.simultaneous import BLIND, GENERATOR, judge
from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.figures.privacy.lbf import KINDS, Drawn, epsilon_delta
from engine.figures.privacy.membership import (
    BAND,
    CAVEAT,
    FLOOR,
    NOT_EXCLUDED,
    add_diagonal,
    add_roc,
    drawable,
    finds_all,
    only_greyed,
    readable_from,
    readable_rate,
    roc_axes,
    too_few,
    undrawn,
)

GRID = 120
SMALL = 1e-3  # where axes of ε begin
ADJACENCY = {"zero-out": "there or left out", "replace-one": "one text or another in its place"}
LEVEL = 0.95
BEYOND = (
    " Where the band lies above the proven line, a sample as small as this cannot exclude so much; the proof does, and "
    "no attack was seen to pass it."
)


@dataclass(frozen=True)
class Claim:
    """What the accountant proves of a run.

    Args:
        epsilons: float (n,), >= 0, rising. standard, strict: both δs at each, in [0, 1]; `strict` is empty where the
            claim adds up several runs: (epsilon, delta) is then the one point that is known of it.
        epsilon, delta: the claim. unit: `record` or `source`. adjacency: neighbouring relation in words.
    """

    epsilons: Sequence[float]
    standard: Sequence[float]
    strict: Sequence[float]
    epsilon: float
    delta: float
    unit: str = "record"
    adjacency: str = ""

    @property
    def one_point(self) -> bool:
        """Whether nothing but (epsilon, delta) is known of the claim, so that it has no curve."""
        return self.epsilon > 0 and not len(self.strict)

    @property
    def curve(self) -> Curve:
        """The claim as a curve, if more than a point; δ at 0 bounds it at the small ε where a log axis begins."""
        columns = [np.asarray(values, float) for values in (self.epsilons, self.strict, self.standard)]
        first = columns[0] <= 0.0
        if first.any():
            columns = [np.append([SMALL if place == 0 else values[first][-1]], values[~first])
                       for place, values in enumerate(columns)]  # fmt: skip
        return Curve(columns[0], columns[1], columns[2], "the whole released text")


@dataclass(frozen=True)
class Audited:
    """An audit's lower bound on ε at δ, the highest that it could have shown, and whether it exceeds the claim."""

    epsilon: float
    delta: float
    ceiling: float
    violated: bool = False


def trade_off(fpr: ArrayLike, epsilons: ArrayLike, deltas: ArrayLike) -> Floats:
    """Return the highest TPR that (ε_i, δ_i) for all i allow at each FPR.

    Args:
        fpr: float (m,), in [0, 1]. epsilons: float (n,), >= 0. deltas: float (n,), standard δ, in [0, 1].
    """
    alpha = np.asarray(fpr, float)[:, None]
    epsilon, delta = (np.asarray(v, float)[None, :] for v in (epsilons, deltas))
    first = delta + np.exp(np.minimum(epsilon, 700.0)) * alpha
    second = 1.0 - np.exp(-epsilon) * (1.0 - delta - alpha)
    bound: Floats = np.minimum(first, second).min(axis=1)
    return np.clip(bound, np.asarray(fpr, float), 1.0)


def _widened(points: pd.DataFrame, attacks: int) -> Floats:
    """Return the lower band at the level at which the bands of `attacks` attacks hold together.

    The band's points are joint limits at 1 − 0.05 / (4 K); the distance to the curve grows as the normal quantile.
    """
    cuts = 4 * max(1, len(points))
    quantile = NormalDist().inv_cdf
    factor = quantile(1 - (1 - LEVEL) / (cuts * max(1, attacks))) / quantile(1 - (1 - LEVEL) / cuts)
    tpr, low = points["tpr"].to_numpy(float), points["tpr_low"].to_numpy(float)
    return np.clip(tpr - factor * (tpr - low), 0.0, 1.0)


def violations(roc: pd.DataFrame | None, attacks: pd.DataFrame | None, claim: Claim | None) -> list[str]:
    """Return titles of attacks on the released text whose lower band lies above what is proven.

    All attacks that the claim covers count, greyed ones too: where members and others differ by themselves the claim
    is not at fault, so those are left out.
    """
    if roc is None or attacks is None or claim is None or roc.empty or not len(claim.epsilons):
        return []
    rows = attacks[(attacks["observes"] != BLIND) & (attacks["observes"] != GENERATOR)]
    covered = rows[~rows["greyed"].astype(bool)]
    found = []
    for row in covered.itertuples():
        points = roc[roc["attack"] == row.attack]
        if points.empty:
            continue
        bound = trade_off(points["fpr"].to_numpy(float), claim.epsilons, claim.standard)
        if bool((_widened(points, len(covered)) > bound + 1e-12).any()):
            found.append(str(row.title))
    return found


def proof_and_roc(
    roc: pd.DataFrame, attacks: pd.DataFrame, claim: Claim | None = None, shown: Sequence[str] | None = None
) -> Figure:
    """Return the accountant's trade-off curve, if any, with attacks' ROC curves and bands under it.

    Args:
        roc, attacks: the examination's tables. claim: None where nothing is proven.
        shown: attacks to draw; the three clearest if None.
    """
    order = [look.attack for look in judge(attacks) if look.level != "unknown"]
    wanted = [name for name in (order[:3] if shown is None else shown) if (roc["attack"] == name).any()]
    names = drawable(roc, attacks, wanted)
    titles = dict(zip(attacks["attack"], attacks["title"], strict=True))
    plot = go.Figure()
    grid = np.geomspace(FLOOR, 1.0, GRID)
    if claim is not None and len(claim.epsilons):
        most = f"at most (ε = {upward(claim.epsilon)})" if claim.epsilon else "chance (ε = 0)"
        plot.add_scatter(
            x=grid, y=trade_off(grid, claim.epsilons, claim.standard), mode="lines", name=f"proven: {most}",
            line={"color": palette.BLUE, "width": 3},
            fill="tozeroy", fillcolor="rgba(0,114,178,0.07)",
            hovertemplate="at %{x:.2%} false alarms at most %{y:.2%}<extra>proven</extra>",
        )  # fmt: skip
    add_diagonal(plot)
    greyed = set(attacks[attacks["greyed"].astype(bool)]["attack"])
    edge = readable_from(attacks)
    for number, name in enumerate(names):
        add_roc(
            plot, roc[roc["attack"] == name], str(titles.get(name, name)), number, greyed=name in greyed, edge=edge,
            band=BAND if claim is None else NOT_EXCLUDED,
        )  # fmt: skip
    roc_axes(plot, 420, [roc[roc["attack"] == name] for name in names], edge)
    too_few(plot, attacks)
    takeaway = _said(roc, attacks, claim, [str(titles.get(name, name)) for name in names])
    above = bool(names) and names[0] not in greyed and _above(roc[roc["attack"] == names[0]], claim, edge)
    above = above and not violations(roc, attacks, claim)
    takeaway += finds_all(roc, names, titles, edge) + undrawn(wanted, names, titles)
    if names and set(names) <= greyed:
        takeaway += f" {only_greyed(names, attacks)}"
    return Figure(plot, takeaway, _caveat(claim) + BEYOND * above, f"ROC curves. {takeaway}")


def _above(points: pd.DataFrame, claim: Claim | None, edge: float) -> bool:
    """Return whether an attack's band, where it is drawn, goes beyond what is proven."""
    if claim is None or not len(claim.epsilons):
        return False
    drawn = points[points["fpr"] >= edge] if edge > FLOOR else points
    bound = trade_off(drawn["fpr"].to_numpy(float), claim.epsilons, claim.standard)
    return bool((drawn["tpr_high"].to_numpy(float) > bound + 1e-12).any())


def _said(roc: pd.DataFrame, attacks: pd.DataFrame, claim: Claim | None, drawn: Sequence[str]) -> str:
    best = next((look for look in judge(attacks) if look.level != "unknown"), None)
    reached = ""
    if best is not None and best.tpr == best.tpr:
        reached = f" At 1% false alarms the clearest, “{best.title}”, finds {100 * best.tpr:.1f}% of the members."
    elif best is not None:
        hidden = " (not drawn)" if drawn and best.title not in drawn else ""
        reached = (
            f" The clearest, “{best.title}”{hidden}, is right in {100 * best.auc:.1f}% of pairs of one used and one "
            "that was not; chance is 50%."
        )
    if claim is None:
        return f"Nothing is proven about this run, so only attacks speak: chance is the dotted line.{reached}"
    passed = violations(roc, attacks, claim)
    if passed:
        return (
            f"{listed(passed)} passed what is proven: the proof, its code or its assumptions must be wrong for this "
            f"run.{reached}"
        )
    if claim.epsilon == 0 and claim.delta == 0:
        said = "Proven: no private record went in (ε = 0), so every attack must stay at chance, the dotted line."
        return f"{said}{reached}" if drawn else f"{said} No attack was measured."
    rate = readable_rate(readable_from(attacks))
    bound = float(trade_off([rate], claim.epsilons, claim.standard)[0])
    said = f"Proven: at {rate:.0%} false alarms no attack finds more than {_upward(bound)}% of the members."
    return f"{said}{reached}" if drawn else f"{said} No attack was measured."


def _upward(share: float) -> str:
    """Return a bound in per cent, never below it."""
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}"


def _caveat(claim: Claim | None) -> str:
    if claim is None:
        return f"{CAVEAT} A curve on the dotted line shows that these attacks failed, not that none can work."
    if claim.epsilon == 0 and claim.delta == 0:
        return f"{CAVEAT} The proof is about every record and every attacker; the attacks stand for themselves only."
    unit = "all records of one person" if claim.unit == "source" else "one record"
    words = f" ({ADJACENCY.get(claim.adjacency, claim.adjacency)})" if claim.adjacency else ""
    text = f"{CAVEAT} The proof is about {unit}{words} and every attacker; the attacks stand for themselves only."
    if claim.adjacency.startswith("replace"):
        text += " The proof is about replacing a text, the attacks about its presence: the two are not quite the same."
    if claim.one_point:
        text += (
            f" The claim adds up several runs: what is drawn as proven follows from its one point, ε = "
            f"{upward(claim.epsilon, 4)} at δ = {upward(claim.delta)}, alone."
        )
    return text


def attack_curve(points: pd.DataFrame, observed: str = "one record's attack score") -> Drawn:
    """Return δ(ε) = max over thresholds of TPR − e^ε FPR and of its mirror image, with the band's ends.

    The point estimate is biased upward, as every largest difference is; the lower end is 0 where nothing is shown.
    """
    epsilons = np.geomspace(1e-3, 12.0, 90)
    curves = [_hockey(points["fpr"], points[name], epsilons) for name in ("tpr", "tpr_low", "tpr_high")]
    return Drawn(Curve(epsilons, curves[0], curves[0], observed), "attack", low=curves[1], high=curves[2])


def shown_curve(points: pd.DataFrame) -> Drawn | None:
    """Return the part of `attack_curve` that shows something, its lower end above 0; None where nothing is shown.

    Beyond it the estimate rests on a handful of records and would seem to pass any claim.
    """
    drawn = attack_curve(points)
    if drawn.low is None or drawn.high is None:
        return None
    sure = drawn.low > 0.0
    if not sure.any():
        return None
    curve = drawn.curve
    part = Curve(curve.epsilon[sure], curve.delta[sure], curve.delta_standard[sure], curve.observed)
    return Drawn(part, "attack", low=drawn.low[sure], high=drawn.high[sure])


def _hockey(fpr: ArrayLike, tpr: ArrayLike, epsilons: Floats) -> Floats:
    alpha, power = np.asarray(fpr, float)[None, :], np.asarray(tpr, float)[None, :]
    factor = np.exp(epsilons)[:, None]
    one = (power - factor * alpha).max(axis=1)
    other = ((1.0 - alpha) - factor * (1.0 - power)).max(axis=1)
    return np.clip(np.maximum(one, other), 0.0, 1.0)


def proof_and_curves(
    curves: Mapping[str, Drawn], missing: Sequence[str] = (), audited: Audited | None = None, *, quiet: bool = False
) -> Figure:
    """Return what is claimed, audited, drawn directly, synthetic, null and attacked as ε–δ on one chart.

    Args:
        curves: name → curve; standard δ throughout, since curves are compared.
        missing: what there is no study of, in words, for the takeaway.
        audited: drawn as a mark: every true curve passes above it.
        quiet: an attack was measured and shows nothing at any ε.
    """
    figure = epsilon_delta(curves)
    plot = figure.plot
    for trace in plot.data:
        if trace.fill == "tonexty":
            trace.fillcolor = trace.fillcolor.replace("0.18", "0.10")
    said = "There is no curve to draw yet."
    if curves:
        said = figure.takeaway.replace("δ at ε = ln 1.2 is ", "At ε = ln 1.2, where odds move by a fifth, δ is: ")
    if audited is not None:
        said += f" {_audit(plot, audited)}"
    if quiet:
        said += " The clearest attack shows nothing above ε = 0."
    if missing:
        said += f" Not measured: {listed(missing)}."
    observers = list(dict.fromkeys(drawn.curve.observed for drawn in curves.values()))
    extra = ""
    if len(observers) > 1:
        extra = " The curves are of attackers who see different things; only those who see the same compare."
    styled(plot, x=f"ε (nats) of an attacker who sees<br>{' / '.join(observers)}", y="standard δ", height=440)
    largest = max((float(d.curve.epsilon[np.isfinite(d.curve.epsilon)].max(initial=0.0)) for d in curves.values()),
                  default=1.0)  # fmt: skip
    plot.update_xaxes(range=[-3, math.ceil(math.log10(max(largest, 1.0)) * 10) / 10], dtick=1)
    plot.update_yaxes(range=[_bottom(curves), 0.1], dtick=1)
    return Figure(plot, said, f"{figure.caveat}{extra}", f"Curves of δ over ε. {said}")


def _bottom(curves: Mapping[str, Drawn]) -> float:
    """Return the exponent where the axis of δ ends: below what is measured and every claimed δ, not far below."""
    lowest = [float(d.curve.delta_standard[d.curve.delta_standard > 0].min(initial=1.0)) for d in curves.values()
              if d.kind != "claimed"]  # fmt: skip
    return float(max(-8, math.floor(math.log10(min([1e-5, *lowest])))))


def _audit(plot: go.Figure, audited: Audited) -> str:
    """Draw the audited bound where it is above 0; return what it says."""
    ceiling = f"this audit could have shown at most ε = {audited.ceiling:.2g}"
    if not audited.epsilon > 0:
        return f"The canary audit shows nothing above ε = 0 ({ceiling})."
    colour, _, symbol = KINDS["audited"]
    if audited.delta > 0:
        plot.add_scatter(
            x=[audited.epsilon], y=[audited.delta], mode="markers", name="audited: at least",
            marker={"color": colour, "symbol": symbol, "size": 13},
            hovertemplate="ε at least %{x:.3g} at δ = %{y:.2e}<extra>canary audit</extra>",
        )  # fmt: skip
    return f"The canary audit shows at least ε = {audited.epsilon:.2g} at δ = {audited.delta:.2g} ({ceiling})."
