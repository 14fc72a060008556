"""Figures of direct drawing that set one thing beside another (Stomakhin 2025, figures 3a and 6 to 9, definition 10).

Rare n-grams hidden beside open, single words beside three in a row, sizes of U side by side, an adversary who chooses
afterwards beside one who chooses beforehand.

Privacy posture: drawn from tables of numbers; n-grams are points without names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.figures.budget import FLOOR, probability
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import READ_AT

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
_SIDES = ((1, "favours X", "circle", palette.BLUE), (-1, "favours X without U", "diamond-open", palette.VERMILION))
MOST_FACETS = 4
_CONSTANT = "words U did not use"


def censored(rows: pd.DataFrame) -> Figure:
    """Return strict ε–δ curves of one length, all n-grams on the left and rare ones hidden on the right (figure 3a).

    Args:
        rows: a row a |U|, ε and `censor` (0, and at most how often an n-gram occurs that is hidden).
    """
    hidden = int(rows["censor"].max())
    plot = make_subplots(
        rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04,
        subplot_titles=("all", f"those that occur {_times(hidden)} hidden"),
    )  # fmt: skip
    floors: dict[tuple[int, int], float] = {}
    for column, censor in enumerate((0, hidden), start=1):
        for number, (size, part) in enumerate(rows[rows["censor"] == censor].groupby("excluded")):
            ordered = part.sort_values("epsilon")
            floors[int(str(size)), censor] = float(ordered["floor"].iloc[0])
            name = f"{size:,} left out"
            plot.add_scatter(
                x=ordered["epsilon"], y=ordered["delta"].where(ordered["delta"] > FLOOR), mode="lines", name=name,
                legendgroup=name, showlegend=column == 1,
                line={"color": palette.OKABE_ITO[number % 7], "dash": _DASHES[number % 8], "width": 2.5, "shape": "hv"},
                hovertemplate="ε = %{x:.4g}: δ = %{y:.2e}<extra>" + name + "</extra>", row=1, col=column,
            )  # fmt: skip
    styled(plot, x="ε (nats)", y="strict δ", height=380)
    plot.update_yaxes(title="", col=2)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    said = []
    for size in sorted({size for size, _ in floors}):
        before, after = floors[size, 0], floors[size, hidden]
        said.append(f"from {probability(before)} to {probability(after)} with {size:,} left out")
    takeaway = f"Hiding n-grams that occur {_times(hidden)} takes the δ below which no ε is finite " + "; ".join(said)
    takeaway += "."
    left = [size for (size, censor), value in floors.items() if censor == hidden and value > 0.0]
    if left:
        takeaway += " Above 0 it stays: hiding rare n-grams does not make every ε finite."
    caveat = f"Strict δ, means over random sets U: typical people, not the worst case. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Two charts of δ over ε. {takeaway}")


def _times(hidden: int) -> str:
    return "once" if hidden == 1 else "at most twice" if hidden == 2 else f"at most {hidden} times"


def lengths(trials: pd.DataFrame, delta: float = 0.01) -> Figure:
    """Return boxes of ε at one δ by |U|, one colour a length of n-gram (figure 7).

    Args:
        trials: a row a trial, columns n, excluded, `epsilon_at_*` (strict).
    """
    column = f"epsilon_at_{delta:g}"
    plot = go.Figure()
    middle: dict[tuple[int, int], float] = {}
    infinite = 0
    for number, (n, part) in enumerate(trials.groupby("n")):
        finite = part[np.isfinite(part[column].astype(float)) & (part[column].astype(float) > 0)]
        name = "one word" if n == 1 else f"{n} words in a row"
        infinite += int(np.isinf(part[column].astype(float)).sum())
        plot.add_box(
            x=[f"{size:,}" for size in finite["excluded"]], y=finite[column], name=name, boxpoints="all", jitter=0.4,
            pointpos=0, marker={"color": palette.OKABE_ITO[number], "size": 5,
                                "symbol": ("circle", "diamond", "square")[number % 3]},
        )  # fmt: skip
        for size, found in part.groupby("excluded"):
            middle[int(str(n)), int(str(size))] = float(np.median(found[column].astype(float)))
    styled(plot, x="|U|: units left out", y=f"ε (nats) at strict δ = {delta:g}", height=360)
    plot.update_layout(boxmode="group")
    plot.update_xaxes(type="category", categoryorder="array",
                      categoryarray=[f"{size:,}" for size in sorted(trials["excluded"].unique())])  # fmt: skip
    plot.update_yaxes(type="log", exponentformat="power")
    takeaway = _crossing(middle, delta)
    if infinite:
        takeaway += f" {infinite} trials have no finite ε; they are counted in the medians and not drawn."
    caveat = f"Points are random sets U, boxes their quartiles. Strict δ. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Boxes of ε over the number left out. {takeaway}")


def _crossing(middle: dict[tuple[int, int], float], delta: float) -> str:
    """Return the medians of the shortest and longest n-grams at the least and largest |U|, and where they cross."""
    ns, sizes = sorted({n for n, _ in middle}), sorted({size for _, size in middle})
    short, long = ns[0], ns[-1]
    names = {n: "one word" if n == 1 else f"{n} words in a row" for n in ns}

    def shown(value: float) -> str:
        return "infinite" if math.isinf(value) else f"{value:.2g}"

    parts = [
        f"with {size:,} left out {shown(middle[short, size])} for {names[short]} and "
        f"{shown(middle[long, size])} for {names[long]}"
        for size in dict.fromkeys((sizes[0], sizes[-1]))
    ]
    text = f"Median ε at δ = {delta:g}: " + "; ".join(parts) + "."
    larger = [size for size in sizes if middle[long, size] > middle[short, size]]
    if larger and len(larger) < len(sizes) and larger == sizes[-len(larger) :]:
        text += f" {names[long].capitalize()} lose less until, with {larger[0]:,} left out, they lose more."
    return text


def losses(rows: pd.DataFrame) -> Figure:
    """Return |LBF| of n-grams over their chance, one facet a |U|, both logarithmic (figures 8 and 9).

    Args:
        rows: columns excluded, probability, loss, constant, only_with, only_without; one set U a size.
    """
    sizes = sorted(int(size) for size in rows["excluded"].unique())[-MOST_FACETS:]
    plot = make_subplots(
        rows=1, cols=len(sizes), shared_yaxes=True, horizontal_spacing=0.03,
        subplot_titles=[f"{size:,} left out" for size in sizes],
    )  # fmt: skip
    said = []
    for column, size in enumerate(sizes, start=1):
        part = rows[rows["excluded"] == size]
        for sign, name, symbol, colour in _SIDES:
            chosen = part[sign * part["loss"] > 0]
            plot.add_scatter(
                x=chosen["probability"], y=sign * chosen["loss"], mode="markers", name=name, legendgroup=name,
                showlegend=column == 1, marker={"color": colour, "size": 5, "symbol": symbol, "opacity": 0.5},
                hovertemplate="chance %{x:.2e}: LBF %{y:.3g}<extra>" + name + "</extra>", row=1, col=column,
            )  # fmt: skip
        constant = abs(float(part["constant"].iloc[0]))
        if constant > 0.0:
            ends = [float(part["probability"].min()), float(part["probability"].max())]
            plot.add_scatter(
                x=ends, y=[constant] * 2, mode="lines", name=_CONSTANT, legendgroup=_CONSTANT, showlegend=column == 1,
                line={"color": palette.GREY, "dash": "dot"}, hovertemplate="%{y:.3g}<extra>" + _CONSTANT + "</extra>",
                row=1, col=column,
            )  # fmt: skip
        alone = int(part["only_with"].iloc[0]) + int(part["only_without"].iloc[0])
        said.append(f"{size:,} left out: {alone:,} n-grams belong to one side alone{_halves(part)}")
    styled(plot, x="Chance of the n-gram in X", y="|LBF| (nats)", height=380)
    for column in range(2, len(sizes) + 1):
        plot.update_yaxes(title="", col=column)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1)
    plot.update_yaxes(type="log", exponentformat="power")
    takeaway = ". ".join(text[0].upper() + text[1:] for text in said) + "."
    caveat = (
        "One set U a facet. N-grams that one side alone has are certain evidence and lie beyond the top. The dotted "
        f"line is the LBF of every word that U did not use: it tells the size of U and nothing else. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Points of LBF over chance, a facet a size. {takeaway}")


def _halves(part: pd.DataFrame) -> str:
    if len(part) < 4:
        return ""
    rare = part["probability"] <= part["probability"].median()
    if rare.all():
        return ""
    medians = [float(part["loss"].abs()[chosen].median()) for chosen in (rare, ~rare)]
    return f"; of the others the rarer half has a median |LBF| of {medians[0]:.2g}, the commoner {medians[1]:.2g}"


def adaptive(rows: pd.DataFrame) -> Figure:
    """Return strict δ of adversaries who choose a word probe after seeing k n-grams, and beforehand (definition 10).

    Args:
        rows: one length and one |U|, columns rounds, epsilon, delta, low, high, delta_fixed.
    """
    plot = go.Figure()
    rounds = sorted(int(k) for k in rows["rounds"].unique())
    said = []
    for number, k in enumerate(rounds):
        part = rows[rows["rounds"] == k].sort_values("epsilon")
        colour, seen = palette.OKABE_ITO[number % 7], "1 seen" if k == 1 else f"{k:,} seen"
        _band(plot, part, colour)
        for column, said_as, dash in (("delta", "chosen afterwards", "solid"), ("delta_fixed", "fixed before", "dot")):
            plot.add_scatter(
                x=part["epsilon"], y=part[column].where(part[column] > FLOOR), mode="lines", name=f"{seen}, {said_as}",
                line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
                hovertemplate="ε = %{x:.4g}: δ = %{y:.2e}<extra>" + f"{seen}, {said_as}</extra>",
            )  # fmt: skip
        at = part[np.isclose(part["epsilon"], READ_AT)].iloc[0]
        said.append(f"{seen}, {probability(float(at['delta']))} against {probability(float(at['delta_fixed']))}")
    size = int(rows["excluded"].iloc[0])
    styled(plot, x="ε (nats) of an adversary who probes for single n-grams", y="strict δ", height=380)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    takeaway = (
        f"With {size:,} left out, the chance that a probe passes ε = ln 1.2, chosen after seeing the n-grams against "
        f"fixed beforehand: {listed(said)}."
    )
    caveat = (
        "Strict δ by definitions 9 and 10 for these records and sets U, where the definitions ask for all: a lower "
        "bound of what they demand. A probe asks whether one n-gram occurs among those seen, which are drawn "
        "independently. Definition 10 counts probes that answer yes; one fixed beforehand may be read when it answers "
        "no, too, so its δ can be the larger at small ε. Evidence of a probe that was picked for what was seen is not "
        "the attacker's odds: what else was seen may speak against it. Bands are the least and largest δ of the sets. "
        f"{INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Falling lines of δ over ε. {takeaway}")


def _band(plot: go.Figure, part: pd.DataFrame, colour: str) -> None:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    clear = f"rgba({red},{green},{blue},0.15)"
    ends: Sequence[tuple[str, str | None]] = (("high", None), ("low", "tonexty"))
    for name, fill in ends:
        plot.add_scatter(
            x=part["epsilon"], y=np.maximum(part[name].to_numpy(float), FLOOR), mode="lines", fill=fill,
            line={"width": 0, "color": clear, "shape": "hv"}, fillcolor=clear, showlegend=False, hoverinfo="skip",
        )  # fmt: skip
