"""Figures of pair experiments word by word: LBF and chance, drawn directly against written (thesis figures 11 and 12b).

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 5.4.

Privacy posture: drawn from tables of numbers; words are points without names.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.iterations import INTERNAL
from engine.studies.pairs.figures_told import first

_SIDES: tuple[tuple[str, int, str, str, str], ...] = (
    ("direct", 1, "direct, favours X", palette.BLUE, "circle"),
    ("direct", -1, "direct, favours X without U", palette.VERMILION, "diamond"),
    ("synthetic", 1, "synthetic, favours X", palette.SKY, "circle-open"),
    ("synthetic", -1, "synthetic, favours X without U", palette.PINK, "diamond-open"),
)


def overlaid(points: pd.DataFrame) -> Figure:
    """Return |LBF| over the chance of a word in X, drawn directly and in synthetic text on the same axes (figure 11).

    Args:
        points: the table `points`, one row a word that all four texts have.
    """
    one = first(points)
    plot = go.Figure()
    for column, sign, name, colour, symbol in _SIDES:
        part = one[sign * one[column] > 0]
        plot.add_scatter(
            x=part["probability"], y=sign * part[column], mode="markers", name=name,
            marker={"color": colour, "size": 5, "symbol": symbol, "opacity": 0.5},
            hovertemplate="chance %{x:.2e}: LBF %{y:.3g}<extra>" + name + "</extra>",
        )  # fmt: skip
    styled(plot, x="Chance of the word in X", y="|LBF| (nats)", height=380)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    cut = float(one["probability"].median())
    said = []
    for name, part in (
        ("the rarer half", one[one["probability"] <= cut]),
        ("the commoner", one[one["probability"] > cut]),
    ):
        if len(part):
            direct, synthetic = (float(part[c].abs().median()) for c in ("direct", "synthetic"))
            said.append(f"{direct:.2g} drawn directly and {synthetic:.2g} in synthetic text for {name}")
    takeaway = "Median |LBF| of a word: " + "; ".join(said) + "."
    caveat = (
        "Noise of generation raises |LBF| of synthetic text whether or not anybody is told from it; the null curve "
        "says by how much. Words whose LBF is 0 lie below, and words that one of the four texts "
        f"lacks are left out. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Points of LBF over chance. {takeaway}")


def chances(points: pd.DataFrame) -> Figure:
    """Return the chance of a word in synthetic text written from X over its chance in X (figure 12b)."""
    one = first(points)
    direct = one["probability"].astype(float)
    synthetic = direct * (1.0 + one["shift_x"].astype(float))
    plot = go.Figure()
    plot.add_scatter(
        x=direct, y=synthetic, mode="markers", name="a word",
        marker={"size": 5, "opacity": 0.5, "color": palette.ORANGE},
        hovertemplate="in X %{x:.2e}, written %{y:.2e}<extra></extra>",
    )  # fmt: skip
    ends = [float(min(direct.min(), synthetic.min())), float(max(direct.max(), synthetic.max()))]
    plot.add_scatter(x=ends, y=ends, mode="lines", name="equal", line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="Chance of the word in X", y="Chance in text written from X", height=380)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    within = float((np.abs(np.log(synthetic / direct)) <= np.log(2.0)).mean())
    takeaway = f"{within:.0%} of {len(one):,} words are at most twice as common or as rare in text written from X"
    spread = len(one) > 2 and float(direct.std()) > 0 and float(synthetic.std()) > 0
    if spread:
        together = np.corrcoef(np.log(direct), np.log(synthetic))[0, 1]
        takeaway += f"; the logarithms go together with a correlation of {together:.2f}"
    takeaway += "."
    caveat = f"Closeness to the line is use, not safety: a text that keeps frequencies keeps their LBF, too. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Points of chance written over chance in X. {takeaway}")
