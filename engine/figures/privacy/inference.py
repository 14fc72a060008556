"""Figure of guessed attributes: how often a missing label or detail is guessed right from the release."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import Finding
from engine.examine.findings.levels import level_of
from engine.examine.stats.simultaneous import wider
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled
from engine.figures.privacy.sides import add_dots, rows_of_sides

SIDES = ("train", "holdout", "baseline")
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
    plot.add_scatter(
        x=[100 * float(always[name]) for name in names], y=[word(name) for name in names], orientation="h",
        mode="markers", name="always guessing the commonest",
        marker={"color": palette.GREY, "symbol": "line-ns-open", "size": 12, "line": {"width": 2}},
        hovertemplate="%{y}: %{x:.1f}%<extra>the commonest</extra>",
    )  # fmt: skip
    for side in SIDES:
        rows = table[table["reference"] == side].set_index("attribute").reindex(names).dropna(subset=["value"])
        if len(rows):
            parts = rows[["value", "low", "high"]].astype(float)
            add_dots(plot, side, [
                (word(str(name)), value, None if low != low else low, None if high != high else high)
                for name, value, low, high in parts.itertuples()
            ])  # fmt: skip
    styled(plot, x="Guessed right from the nearest synthetic records (per cent), with 95% interval", y="",
           height=150 + 72 * max(2, len(names)))  # fmt: skip
    rows_of_sides(plot)
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
    ends = {
        side: {str(name): (value, low, high) for name, value, low, high in rows.itertuples()}
        for side in ("train", "holdout")
        for rows in [table[table["reference"] == side].set_index("attribute")[["value", "low", "high"]].astype(float)]
    }
    names = [name for name in ends["train"] if name in ends["holdout"] and name != LABEL]
    apart = []
    for name in names:
        (ours, low, _), (theirs, _, high) = ends["train"][name], ends["holdout"][name]
        if ours - theirs > wider(len(names)) * math.hypot(ours - low, high - theirs):
            apart.append((ours - theirs, name))
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
