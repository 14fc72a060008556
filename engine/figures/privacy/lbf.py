"""Figures of ε–δ curves: of outputs and of attacks, how rare n-grams are, and LBF against probability.

Privacy posture: probabilities, counts and sizes only; n-grams appear as points without names. What is drawn from
private text stays inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from engine.examine.curves.lbf import Curve, Floats
from engine.examine.curves.lbf_direct import Scatter
from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.figures.budget import FLOOR, probability
from engine.figures.iterations import INTERNAL

Kind = Literal["claimed", "audited", "direct", "synthetic", "single", "null", "attack"]
# kind of a curve -> colour, dash, marker shape: shapes repeat what colours say
KINDS: dict[str, tuple[str, str, str]] = {
    "claimed": (palette.BLUE, "solid", "circle"),
    "audited": (palette.VERMILION, "dot", "triangle-up"),
    "direct": (palette.GREEN, "dash", "square"),
    "synthetic": (palette.ORANGE, "solid", "diamond"),
    "single": (palette.OLIVE, "longdash", "diamond-open"),
    "null": (palette.GREY, "dashdot", "x"),
    "attack": (palette.PINK, "longdashdot", "star"),
}
READ_AT = math.log(1.2)
MOST_POINTS = 2000  # a side: drawn without WebGL, which not every machine has


@dataclass(frozen=True)
class Drawn:
    """One curve of a figure.

    Args:
        curve: its points; δ is NaN where it cannot be told. kind: what it is of. low, high: δ of its band at each ε in
            the measure that is drawn. together: the band is one of 95% for the whole curve at once, and is read out.
    """

    curve: Curve
    kind: Kind
    low: Floats | None = None
    high: Floats | None = None
    together: bool = False


def epsilon_delta(curves: Mapping[str, Drawn], *, strict: bool = False, internal: bool = True) -> Figure:
    """Return ε–δ curves on one chart: δ over ε, δ logarithmic.

    Args:
        curves: name → curve; one family of δ only, so that like is compared with like.
        strict: draw Pr[LBF > ε]; default the standard δ, the one that accountants state.
        internal: whether private text went into a curve.
    """
    plot = go.Figure()
    seen: dict[str, int] = {}
    for name, drawn in curves.items():
        colour, dash, _ = KINDS[drawn.kind]
        # a second curve of a kind keeps its dash and takes the next colour
        number = seen[drawn.kind] = seen.get(drawn.kind, -1) + 1
        if number:
            colour = (
                palette.OKABE_ITO[(palette.OKABE_ITO.index(colour) + number) % 7] if colour != palette.GREY else colour
            )
        points = drawn.curve
        delta = points.delta if strict else points.delta_standard
        finite = np.isfinite(points.epsilon) & (points.epsilon > 0.0)
        if drawn.low is not None and drawn.high is not None:
            _band(plot, points.epsilon[finite], drawn.low[finite], drawn.high[finite], colour)
        plot.add_scatter(
            x=points.epsilon[finite], y=[v if v > FLOOR else None for v in delta[finite]], mode="lines", name=name,
            line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv" if strict else "linear"},
            hovertemplate="ε = %{x:.4g}: δ = %{y:.2e}<extra>" + name + "</extra>",
        )  # fmt: skip
    observed = listed(list(dict.fromkeys(drawn.curve.observed for drawn in curves.values()))) or "nothing"
    kind = "strict δ: chance that the LBF passes ε" if strict else "standard δ"
    styled(plot, x=f"ε (nats) of an attacker who sees {observed}", y=kind, height=360)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1)
    bottom = _decade(curves, strict)
    plot.update_yaxes(type="log", exponentformat="power", range=[bottom, 0.1], dtick=1 if bottom >= -7 else 2)
    takeaway = _said(curves, strict)
    caveat = (
        "Each curve holds for what its attacker sees and for the data sets compared, not for the worst case; "
        "more observations lose more."
    )
    if strict:
        caveat += " Strict δ is never below the δ of accountants: do not set one against the other."
    return Figure(plot, takeaway, f"{caveat} {INTERNAL}" if internal else caveat, f"Curves of δ over ε. {takeaway}")


def _decade(curves: Mapping[str, Drawn], strict: bool) -> float:
    """Return the exponent where the axis of δ ends: below every δ drawn, bands left aside, and not below 1e-12."""
    deltas = [drawn.curve.delta if strict else drawn.curve.delta_standard for drawn in curves.values()]
    lowest = min((float(d[d > FLOOR].min(initial=1.0)) for d in deltas), default=1.0)
    return float(min(-2, max(-12, math.floor(math.log10(lowest)))))


def _band(plot: go.Figure, x: Floats, low: Floats, high: Floats, colour: str) -> None:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    clear = f"rgba({red},{green},{blue},0.18)"
    for values, fill in ((high, None), (low, "tonexty")):
        plot.add_scatter(
            x=x, y=np.maximum(values, FLOOR), mode="lines", line={"width": 0, "color": clear}, fill=fill,
            fillcolor=clear, showlegend=False, hoverinfo="skip",
        )  # fmt: skip


def _value(curve: Curve, strict: bool, epsilon: float = READ_AT) -> float | None:
    """Return δ at the last ε drawn that is not above `epsilon`: an upper bound; None where the curve starts later."""
    at = int(np.searchsorted(curve.epsilon, epsilon + 1e-12, side="right")) - 1
    if at < 0:
        return None
    return float((curve.delta if strict else curve.delta_standard)[at])


def _said(curves: Mapping[str, Drawn], strict: bool) -> str:
    """Return the takeaway: each curve read at ε = ln 1.2, and synthetic text against its null curve."""
    read = {name: _value(drawn.curve, strict) for name, drawn in curves.items()}
    parts = [read_out(name, curves[name], value) for name, value in read.items() if value is not None]
    if not parts:
        return "No curve reaches down to ε = ln 1.2, where one observation moves the odds by a fifth."
    text = "One observation moves the odds by more than a fifth (ε = ln 1.2) " if strict else "δ at ε = ln 1.2 "
    text += "with a chance of " if strict else "is "
    text += "; ".join(parts) + "."
    kinds = {drawn.kind: read[name] for name, drawn in curves.items()}
    made, null = kinds.get("synthetic"), kinds.get("null")
    if made is not None and null is not None and not math.isnan(made + null):
        text += (
            " Synthetic text stays at what two texts of the same data show: no leakage is seen here."
            if made <= null
            else f" Synthetic text lies {made - null:.2g} above two texts of the same data: only that may be leakage."
        )
    return text


def read_out(name: str, drawn: Drawn, value: float, epsilon: float = READ_AT) -> str:
    """Return one curve's δ in words, with its band where that holds for the whole curve."""
    at = int(np.searchsorted(drawn.curve.epsilon, epsilon + 1e-12, side="right")) - 1
    if not drawn.together or drawn.low is None or drawn.high is None:
        return f"{name}: {'cannot tell' if math.isnan(value) else probability(value)}"
    low, high = float(drawn.low[at]), float(drawn.high[at])
    if math.isnan(value):
        return f"{name}: cannot tell: too few (at most {high:.2g})"
    nothing = ", which does not rule out 0" if low <= 0.0 else ""
    return f"{name}: {probability(value)} (95% band {low:.2g} to {high:.2g}{nothing})"


def rarity(shares: Mapping[str, tuple[Sequence[int], Sequence[float]]], where: str = "") -> Figure:
    """Return the share of n-grams that occur at least c times, over c, both logarithmic.

    Args:
        shares: name → counts (rising) and share at least so often, from `engine.examine.curves.ngram_counts.ccdf`.
        where: which texts are counted, default all.
    """
    plot = go.Figure()
    once: list[str] = []
    for number, (name, (counts, share)) in enumerate(shares.items()):
        colour = palette.OKABE_ITO[number % len(palette.OKABE_ITO)]
        plot.add_scatter(
            x=list(counts), y=list(share), mode="lines+markers", name=name,
            line={"color": colour, "shape": "vh", "dash": ("solid", "dash", "dot")[number % 3]},
            marker={"size": 5, "symbol": ("circle", "square", "diamond")[number % 3]},
            hovertemplate="at least %{x}: %{y:.2%}<extra>" + name + "</extra>",
        )  # fmt: skip
        first = (share[1] if len(share) > 1 else 0.0) if len(counts) and counts[0] == 1 else 1.0
        once.append(f"{100 * (1 - first):.1f}% of {name}")
    styled(plot, x="Occurrences", y="Share that occurs at least so often", height=300)
    plot.update_xaxes(type="log", dtick=1, exponentformat="power")
    plot.update_yaxes(type="log", dtick=1, exponentformat="power")
    takeaway = f"{listed(once)} occur once: each stands in one of these texts alone." if once else "Nothing to count."
    if once and where:
        takeaway = f"{listed(once)} occur once {where}."
    return Figure(
        plot, takeaway, f"Occurring once here does not make a phrase unknown elsewhere. {INTERNAL}",
        f"Falling curves of shares over occurrences. {takeaway}",
    )  # fmt: skip


def loss_by_probability(scatters: Mapping[str, Scatter], seed: int = 0) -> Figure:
    """Return |LBF| of n-grams over their chance, both logarithmic, one colour a side; n-grams are not named.

    Args:
        scatters: name, such as `direct` or `synthetic`, → points. seed: of which points are drawn where there are
            more than `MOST_POINTS`.
    """
    plot = go.Figure()
    said: list[str] = []
    sides = ((1, "favours X", "circle"), (-1, "favours X without U", "diamond-open"))
    colours = iter((palette.BLUE, palette.VERMILION, palette.SKY, palette.PINK) * len(scatters))
    for name, points in scatters.items():
        for sign, side, symbol in sides:
            chosen = np.flatnonzero(sign * points.loss > 0.0)
            if chosen.size > MOST_POINTS:
                chosen = np.sort(np.random.default_rng(seed).choice(chosen, MOST_POINTS, replace=False))
            plot.add_scatter(
                x=points.probability[chosen], y=sign * points.loss[chosen], mode="markers", name=f"{name}, {side}",
                marker={"color": next(colours), "size": 5, "symbol": symbol, "opacity": 0.5},
                hovertemplate="chance %{x:.2e}: LBF %{y:.3g}<extra>" + side + "</extra>",
            )  # fmt: skip
        if points.constant != 0.0:
            plot.add_hline(y=abs(points.constant), line={"color": palette.GREY, "dash": "dot"})
            plot.add_annotation(  # on a logarithmic axis an annotation's place is the exponent
                x=1, xref="paper", xanchor="right", y=math.log10(abs(points.constant)), yanchor="bottom",
                text=f"{name}: words U did not use", showarrow=False,
            )  # fmt: skip
        said.append(_rarest(name, points))
    styled(plot, x="Chance of the n-gram in X", y="|LBF| (nats)", height=360)
    plot.update_xaxes(type="log", exponentformat="power")
    plot.update_yaxes(type="log", exponentformat="power")
    takeaway = " ".join(said) or "Nothing to draw."
    caveat = (
        "N-grams that only one side has are certain evidence and lie beyond the top; n-grams whose LBF is 0 lie below."
    )
    return Figure(plot, takeaway, f"{caveat} {INTERNAL}", f"Points of LBF over chance. {takeaway}")


def _rarest(name: str, points: Scatter) -> str:
    """Return how the rarer half of what U used compares with the other, and what is certain."""
    alone = sum(points.infinite)
    text = f"{name}: {alone:,} n-grams belong to one side alone"
    if points.loss.size >= 4:
        middle = np.median(points.probability)
        rare, common = (
            np.abs(points.loss[part]) for part in (points.probability <= middle, points.probability > middle)
        )
        if rare.size and common.size:
            text += f"; of the others the rarer half has a median |LBF| of {np.median(rare):.2g}"
            text += f", the commoner {np.median(common):.2g}"
    return text + "."
