"""Figures of membership attacks: ROC curves from few false alarms on, and every attack's area with its interval.

Light: numpy, pandas and plotly only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.stats.simultaneous import BLIND, CHANCE, judge
from engine.figures import palette
from engine.figures.base import Figure, listed, styled

FLOOR = 1e-4  # both rates start here; 0 is drawn at the edge
COLOURS = (palette.VERMILION, palette.GREEN, palette.PINK, palette.ORANGE, palette.SKY, palette.OLIVE)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MOST = len(COLOURS)
CHANCES = np.geomspace(FLOOR, 1.0, 200)  # enough for a curve where one axis is linear
NEEDED = 10  # false alarms that must be possible before a rate is read
CAVEAT = "A band is of 95% at all false-alarm rates at once."
BAND = "{title}: its 95% band"
NOT_EXCLUDED = "{title}: what so few cannot exclude (95%)"  # beside a proof, which may exclude more
LEAKING = 0.1  # members found at 1% false alarms: ten times chance
LINEAR = {0.0: "0%", 0.2: "20%", 0.4: "40%", 0.6: "60%", 0.8: "80%", 1.0: "100%"}
TICKS = {1e-4: "0.01%", 1e-3: "0.1%", 1e-2: "1%", 1e-1: "10%", 1.0: "100%"}
FINE = {1e-2: "1%", 0.02: "2%", 0.05: "5%", 1e-1: "10%", 0.2: "20%", 0.5: "50%", 1.0: "100%"}  # of a short axis
SHADED = 3  # the axis begins at so many times fewer false alarms than the least that can be read


def only_greyed(names: Sequence[str], attacks: pd.DataFrame) -> str:
    """Return what curves say where every attack drawn is greyed."""
    beyond = {look.attack for look in judge(attacks) if look.beyond}
    text = "Every attack drawn here is greyed: members and others can be told apart without any model"
    if set(names) <= beyond:
        return f"{text}. These do clearly better than words alone, so that difference does not explain them."
    return f"{text}, so what these curves show may be that difference and not a leak."


def add_diagonal(plot: go.Figure) -> None:
    """Draw chance: as many members as others."""
    plot.add_scatter(
        x=CHANCES, y=CHANCES, mode="lines", name="chance", hoverinfo="skip",
        line={"color": palette.GREY, "dash": "dot", "width": 1.5},
    )  # fmt: skip


def add_roc(
    plot: go.Figure, points: pd.DataFrame, title: str, number: int, *, greyed: bool = False, edge: float = FLOOR,
    band: str = BAND,
) -> None:  # fmt: skip
    """Draw one attack's curve, the first one's with its band; the place in the list decides colour and dash.

    A greyed attack is grey, and has no band: what it reaches may be no leak. Below the false-alarm rate `edge` there
    are too few non-members to read anything: a curve there may lie above a proof by chance, so nothing is drawn.
    `band` is what the band is called, with the place of the title.
    """
    colour, dash = palette.GREY if greyed else COLOURS[number % MOST], DASHES[number % MOST]
    title = f"{title} (greyed)" if greyed else title
    read = points[points["fpr"] >= edge] if edge > FLOOR else points
    shaded = read[(read["tpr_low"] > 0) | (read["tpr_high"] < 1)]  # where it says anything
    x = np.maximum(read["fpr"].to_numpy(float), FLOOR)
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    clear = f"rgba({red},{green},{blue},0.16)"
    for name, fill in () if greyed or number else (("tpr_high", None), ("tpr_low", "tonexty")):
        plot.add_scatter(
            x=np.maximum(shaded["fpr"].to_numpy(float), FLOOR), y=np.maximum(shaded[name].to_numpy(float), FLOOR / 10),
            mode="lines", fill=fill, fillcolor=clear, name=band.format(title=title),
            line={"width": 0, "color": clear, "shape": "hv"}, showlegend=fill is not None and len(shaded) > 0,
            hoverinfo="skip",
        )  # fmt: skip
    plot.add_scatter(
        x=x, y=np.maximum(read["tpr"].to_numpy(float), FLOOR / 10), mode="lines",
        name=title,
        line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
        hovertemplate="at %{x:.2%} false alarms %{y:.2%} found<extra>" + title + "</extra>",
    )  # fmt: skip


def drawable(roc: pd.DataFrame, attacks: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the attacks whose curve has two points or more where there are enough non-members to read them."""
    edge = readable_from(attacks)
    return [
        name for name in names
        if len({*roc[(roc["attack"] == name) & ((roc["fpr"] >= edge) | (edge <= FLOOR))]["fpr"]}) > 1
    ]  # fmt: skip


def undrawn(names: Sequence[str], drawn: Sequence[str], titles: Mapping[str, str]) -> str:
    """Return the sentence about attacks that are left out, with a space before it; empty where none is."""
    left = [f"“{titles.get(name, name)}”" for name in names if name not in drawn]
    return f" Too few units to draw: {listed(left)}." if left else ""


def roc_axes(plot: go.Figure, height: int, curves: Sequence[pd.DataFrame], edge: float) -> None:
    """Give a ROC plot its axes in per cent: false alarms logarithmic, members found as it reads best.

    False alarms begin at 0.01%, or somewhat below `edge` where that is higher: left of it nothing can be read.

    Curves near chance are told apart on a logarithmic axis; one that leaks is a flat line at its upper edge. Where a
    curve finds more than `LEAKING` of the members at 1% false alarms (or the first readable rate above), it is linear.
    """
    styled(plot, x="False alarms: others taken for members", y="Members found", height=height)
    axis = {
        "type": "log",
        "range": [-4, 0.03],
        "ticklabeloverflow": "allow",
        "tickvals": list(TICKS),
        "ticktext": list(TICKS.values()),
    }
    begin = begins_at(edge)
    ticks = TICKS if begin < min(FINE) else FINE
    across = {"range": [math.log10(begin), 0.03], "tickvals": list(ticks), "ticktext": list(ticks.values())}
    plot.update_xaxes(**(axis | across))
    if any(_found_at(points, max(0.01, edge)) > LEAKING for points in curves):
        axis |= {"type": "linear", "range": [0, 1.03], "tickvals": list(LINEAR), "ticktext": list(LINEAR.values())}
    plot.update_yaxes(**axis)


def begins_at(edge: float) -> float:
    """Return the false-alarm rate at which an axis begins whose rates below `edge` cannot be read."""
    return max(FLOOR, min(edge, 1.0) / SHADED)


def readable_rate(edge: float) -> float:
    """Return the rate of false alarms to speak of: 1%, or the first readable mark of an axis that begins above it."""
    if begins_at(edge) <= 0.01:
        return 0.01
    return next((rate for rate in FINE if edge <= rate < 1.0), 0.5)


def _found_at(points: pd.DataFrame, rate: float) -> float:
    """Return the share of members found at a false-alarm rate."""
    below = points[points["fpr"] <= rate]
    return float(below["tpr"].max()) if len(below) and rate < 0.5 else 0.0


def finds_all(roc: pd.DataFrame, names: Sequence[str], titles: Mapping[str, str], edge: float = FLOOR) -> str:
    """Return a sentence on the attack that finds every member at the fewest false alarms, with a space before it.

    Curves of leaking runs lie on the upper edge, one upon the other. Empty where none finds all before half of the
    others are taken for members. Below the rate `edge` nothing can be read, so no fewer false alarms are named.
    """
    least: dict[str, float] = {}
    for name in names:
        points = roc[(roc["attack"] == name) & (roc["tpr"] >= 1.0)]
        if len(points) and (rate := max(float(points["fpr"].min()), edge)) < 0.5:
            least[name] = rate
    if not least:
        return ""
    first = min(least, key=lambda name: least[name])
    said = f" “{titles.get(first, first)}” finds all members at {100 * least[first]:.1f}% false alarms"
    if FLOOR < edge == least[first]:
        said += ", the fewest that can be read here"
    others = len(least) - 1
    return f"{said}{f', and {others} more at under half' if others else ''}."


def readable_from(attacks: pd.DataFrame) -> float:
    """Return the false-alarm rate below which there are too few non-members to read anything, at most 1."""
    others = pd.to_numeric(attacks["others"], errors="coerce").max() if len(attacks) else 0
    return min(NEEDED / others, 1.0) if others and others > 0 else 1.0


def too_few(plot: go.Figure, attacks: pd.DataFrame) -> None:
    """Shade false-alarm rates for which there are too few non-members to read anything."""
    right = readable_from(attacks)
    if right <= FLOOR:
        return
    plot.add_vrect(x0=FLOOR, x1=right, fillcolor="rgba(138,151,156,0.12)", line_width=0, layer="below")
    plot.add_annotation(  # a logarithmic axis takes the exponent
        x=math.log10(math.sqrt(begins_at(right) * right)), y=0.97, yref="paper", yanchor="top", showarrow=False,
        font_size=12, text="too few non-members<br>to tell",
    )  # fmt: skip


def roc_curves(roc: pd.DataFrame, attacks: pd.DataFrame, shown: Sequence[str]) -> Figure:
    """Return the chosen attacks' ROC curves with bands.

    Args:
        roc, attacks: the examination's tables. shown: attacks by id, at most `MOST` of them are drawn.
    """
    titles = dict(zip(attacks["attack"], attacks["title"], strict=True))
    plot = go.Figure()
    add_diagonal(plot)
    wanted = [name for name in shown if (roc["attack"] == name).any()][:MOST]
    names = drawable(roc, attacks, wanted)
    greyed = set(attacks[attacks["greyed"].astype(bool)]["attack"])
    for number, name in enumerate(names):
        add_roc(
            plot,
            roc[roc["attack"] == name],
            str(titles.get(name, name)),
            number,
            greyed=name in greyed,
            edge=readable_from(attacks),
        )
    roc_axes(plot, 400, [roc[roc["attack"] == name] for name in names], readable_from(attacks))
    too_few(plot, attacks)
    looks = {look.attack: look for look in judge(attacks)}
    above = [str(titles[n]) for n in names if n in looks and looks[n].level == "leak"]
    if not names:
        takeaway = "No curve is drawn."
    elif set(names) <= greyed:
        takeaway = only_greyed(names, attacks)
    elif above:
        takeaway = f"Above chance, with all attacks allowed for: {', '.join(above)}."
    else:
        takeaway = "No curve drawn here leaves chance by more than its band, with all attacks allowed for."
    takeaway += finds_all(roc, names, titles, readable_from(attacks)) + undrawn(wanted, names, titles)
    return Figure(plot, takeaway, f"{CAVEAT} What counts is the left: few false alarms.", f"ROC curves. {takeaway}")


def areas(attacks: pd.DataFrame) -> Figure:
    """Return every attack's area under the curve with its interval, the clearest on top; the blind baseline apart.

    Args:
        attacks: the examination's table; a column `technical`, where there is one, stands beside a title in the hover.
    """
    looks = judge(attacks)
    raw = attacks.set_index("attack")
    plot = go.Figure()
    groups = (
        ("judged", [look for look in looks if look.level != "unknown"], palette.VERMILION, "circle"),
        ("greyed: told apart without any model", [look for look in looks if look.level == "unknown"],
         palette.GREY, "circle-open"),
    )  # fmt: skip
    drawn = 0
    for name, rows, colour, symbol in groups:
        rows = [look for look in rows if look.auc == look.auc]
        if rows:
            drawn += len(rows)
            _dots(plot, [look.title for look in rows], raw.loc[[look.attack for look in rows]], name, colour, symbol)
    blind = attacks[(attacks["observes"] == BLIND) & attacks["auc"].notna()].set_index("attack")
    if len(blind):
        drawn += len(blind)
        _dots(plot, list(blind["title"]), blind, "blind baseline", palette.BLUE, "diamond")
    plot.add_vline(x=CHANCE, line={"color": palette.GREY, "dash": "dot"})
    styled(
        plot, x="Area under the ROC curve, with 95% interval<br>(chance is 0.5)", y="", height=110 + 30 * max(3, drawn)
    )
    plot.update_yaxes(autorange="reversed", type="category")
    seen = sum(look.level == "leak" for look in looks)
    judged = sum(look.level != "unknown" for look in looks)
    takeaway = f"{seen} of {judged} attacks lie above chance with all of them allowed for."
    if not judged:
        takeaway = "No attack can be judged by itself: members and others can be told apart without any model."
        beyond = sum(look.beyond for look in looks)
        takeaway += f" {beyond} of {len(looks)} do clearly better than words alone." if beyond else ""
        if not looks or not any(look.auc == look.auc for look in looks):
            takeaway = "No attack could be carried out."
    caveat = "The bars are of 95% each; one in twenty misses. The verdict widens them so that all hold together."
    return Figure(plot, takeaway, caveat, f"Dots with bars, one an attack. {takeaway}")


def _dots(plot: go.Figure, titles: Sequence[str], rows: pd.DataFrame, name: str, colour: str, symbol: str) -> None:
    value = rows["auc"].astype(float)
    named = rows.get("technical", pd.Series(list(titles)))
    fields = [f"<br>{field}" if field != title else "" for field, title in zip(named, titles, strict=True)]
    plot.add_scatter(
        x=value, y=list(titles), customdata=fields, mode="markers", name=name,
        marker={"color": colour, "symbol": symbol, "size": 10},
        error_x={"type": "data", "symmetric": False, "array": (rows["high"].astype(float) - value).fillna(0),
                 "arrayminus": (value - rows["low"].astype(float)).fillna(0), "thickness": 1.5, "color": palette.GREY},
        hovertemplate="%{y}: %{x:.3f}%{customdata}<extra>" + name + "</extra>",
    )  # fmt: skip
