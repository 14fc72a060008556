"""Figure of guessed attributes: how often a missing label or detail is guessed right from the release."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import Finding
from engine.examine.findings.verdict import level_of
from engine.examine.measures import REFERENCES
from engine.examine.stats.simultaneous import wider
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled

SYMBOLS = {"train": "circle", "holdout": "square", "baseline": "diamond-open"}
EXCESS = {"attribute_inference_excess": "labels", "detail_inference_excess": "details"}
LABEL = "label"  # the attribute that is no detail


def inference(table: pd.DataFrame, findings: Sequence[Finding]) -> Figure | None:
    """Return the share guessed right of each attribute: training part, holdout, real text in place of the release.

    Args:
        table: the examination's table `inference`. findings: of the same examination.
    """
    if table.empty:
        return None
    names = list(dict.fromkeys(str(name) for name in table["attribute"]))
    plot = go.Figure()
    always = table.drop_duplicates("attribute").set_index("attribute")["majority"].astype(float)
    plot.add_bar(
        x=[100 * float(always[name]) for name in names], y=[word(name) for name in names], orientation="h",
        name="always guessing the commonest", marker={"color": palette.GREY, "opacity": 0.3}, width=0.6,
        hovertemplate="%{y}: %{x:.1f}%<extra>the commonest</extra>",
    )  # fmt: skip
    for side, symbol in SYMBOLS.items():
        rows = table[table["reference"] == side].set_index("attribute").reindex(names).dropna(subset=["value"])
        if rows.empty:
            continue
        value = 100 * rows["value"].astype(float)
        plot.add_scatter(
            x=value, y=[word(str(name)) for name in rows.index], mode="markers", name=REFERENCES[side],
            marker={"color": palette.REFERENCES[side], "symbol": symbol, "size": 10},
            error_x={"type": "data", "symmetric": False, "thickness": 1.5, "color": palette.REFERENCES[side],
                     "array": (100 * rows["high"].astype(float) - value).fillna(0),
                     "arrayminus": (value - 100 * rows["low"].astype(float)).fillna(0)},
            hovertemplate="%{y}: %{x:.1f}%<extra>" + REFERENCES[side] + "</extra>",
        )  # fmt: skip
    styled(plot, x="Guessed right from the nearest synthetic records (per cent), with 95% interval", y="",
           height=150 + 52 * max(2, len(names)))  # fmt: skip
    plot.update_layout(scattermode="group", scattergap=0.35, barmode="overlay")
    plot.update_xaxes(rangemode="tozero")
    plot.update_yaxes(autorange="reversed", type="category")
    takeaway = _said(findings) + _single(table)
    caveat = (
        "The attacker knows the rest of a record. What holds for everyone can be learnt about anyone: only what is "
        "guessed more often for records used than for unused ones is a leak."
    )
    return Figure(plot, takeaway, caveat, f"Dots of shares guessed right, one row an attribute. {takeaway}")


def word(attribute: str) -> str:
    """Return an attribute as it is drawn."""
    return attribute.lower().replace("_", " ")


def _single(table: pd.DataFrame) -> str:
    """Return the details guessed more often for records used, each by itself; all together may hide one of them.

    The label is told before. A difference counts where its interval (by the two shares' ends, after Newcombe 1998)
    lies above 0 when those of all details are to hold together.
    """
    sides = {side: table[table["reference"] == side].set_index("attribute") for side in ("train", "holdout")}
    names = [str(n) for n in sides["train"].index.intersection(sides["holdout"].index) if str(n) != LABEL]
    apart = []
    for name in names:
        ours, theirs = (sides[side].loc[name] for side in ("train", "holdout"))
        gap = float(ours["value"]) - float(theirs["value"])
        below = math.hypot(float(ours["value"] - ours["low"]), float(theirs["high"] - theirs["value"]))
        if gap > wider(len(names)) * below:
            apart.append((gap, name))
    if not apart:
        return ""
    said = [f"{word(name)} by {100 * gap:.1f} points" for gap, name in sorted(apart, reverse=True)]
    return f" Of single details, with allowance for how many were looked at, more often too: {listed(said)}."


def _said(findings: Sequence[Finding]) -> str:
    levels = {said: level_of(f) for name, said in EXCESS.items() if (f := pick(findings, name, "holdout")) is not None}
    leaks, level = [said for said, level in levels.items() if level == "leak"], set(levels.values())
    if not levels:
        return "There is no holdout to compare guesses with."
    if leaks:
        parts = []
        for name, said in EXCESS.items():
            found = pick(findings, name, "holdout")
            if said in leaks and found is not None:
                parts.append(f"{said} by {100 * found.value:.1f} points")
        return f"Guessed right more often for records used than for unused ones: {listed(parts)}."
    told = f"{listed(list(levels)).capitalize()} of records used are guessed right no more often than those of others"
    return f"{told}." if level == {"chance"} else f"{told}, as far as this many records can tell."
