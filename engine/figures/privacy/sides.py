"""Dots of the sides that a share is measured on, one under the other in a row: training part, holdout, real text."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.examine.measures import REFERENCES
from engine.figures import palette

EQUAL = "train_equal"
NAMES = {**REFERENCES, EQUAL: "training part, as many records as set aside"}
SYMBOLS = {"train": "circle", EQUAL: "circle-open", "holdout": "square", "baseline": "diamond-open"}
Look = tuple[str, str]  # colour, symbol
Row = tuple[str, float | None, float | None, float | None]  # its name; share with its interval, None: not measured


def add_dots(plot: go.Figure, side: str, rows: Sequence[Row], look: Look | None = None) -> None:
    """Draw one side's shares in per cent with their intervals; what was not measured is said in its place.

    Args:
        look: colour and symbol, where they are others than the side's own.
    """
    colour, symbol = look or (palette.REFERENCES[side], SYMBOLS[side])
    ends = [
        (value or 0.0, value or 0.0 if low is None else low, value or 0.0 if high is None else high)
        for _, value, low, high in rows
    ]
    plot.add_scatter(
        x=[100 * value for value, _, _ in ends], y=[name for name, *_ in rows],
        orientation="h", mode="markers+text", name=NAMES[side],
        text=["not measured" if value is None else "" for _, value, _, _ in rows],
        textposition="middle right", textfont_size=10, cliponaxis=False,
        marker={"color": colour, "symbol": symbol, "size": 10,
                "opacity": [0 if value is None else 1 for _, value, _, _ in rows]},
        error_x={"type": "data", "symmetric": False, "thickness": 1.5, "color": colour,
                 "array": [100 * (high - value) for value, _, high in ends],
                 "arrayminus": [100 * (value - low) for value, low, _ in ends]},
        hovertemplate="%{y}: %{x:.1f}%<extra>" + NAMES[side] + "</extra>",
    )  # fmt: skip


def rows_of_sides(plot: go.Figure) -> None:
    """Set the sides of a row one under the other, rows from the top, shares from 0."""
    plot.update_layout(scattermode="group", scattergap=0.3)
    plot.update_xaxes(rangemode="tozero")
    plot.update_yaxes(autorange="reversed", type="category")
