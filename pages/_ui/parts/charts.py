"""Small Plotly charts with a takeaway above, an alternative text, and what they do not show below.

How to use: `bars(names, values, key=..., takeaway=..., x=..., y=..., limits=...)`. Colours come from
the theme. Names may be labels or numbers of the corpus' own columns, never record text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages._ui.language import localised, tr
from pages._ui.texts import number, plain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


EDGE, NUMBER = 10, 48  # pixels beside a figure, and where a number stands behind its longest bar
BAR = "#2F7A90"  # of the theme's own colours one that reads on its light ground and on its dark one
ROUND = 10  # numbers on an axis that are read at a glance are multiples of it


def frame(figure: Figure, *, key: str, takeaway: str, limits: str = "", height: int = 260, right: int = EDGE) -> None:
    """Draw a figure between its takeaway and its limits; `right` pixels stay free beside it."""
    st.markdown(plain(takeaway))
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": right, "t": 10, "b": 10},
        showlegend=len(figure.data) > 1,
        separators=localised(".,"),
    )
    st.plotly_chart(figure, key=key, alt=takeaway, config={"displayModeBar": False})
    if limits:
        st.caption(plain(limits))


def bars(
    names: Sequence[str | int],
    values: Sequence[float],
    *,
    key: str,
    takeaway: str,
    x: str,
    y: str,
    limits: str = "",
    horizontal: bool = False,
    height: int = 260,
) -> None:
    """Draw one bar a name."""
    import plotly.graph_objects as go

    labels = [str(name) for name in names]
    bar = go.Bar(x=list(values), y=labels, orientation="h") if horizontal else go.Bar(x=labels, y=list(values))
    bar.update(marker_color=BAR)
    if horizontal:  # a bar of nothing is said too
        bar.update(text=[number(value) for value in values], textposition="outside", cliponaxis=False)
    figure = go.Figure(bar)
    figure.update_xaxes(title=x, type="-" if horizontal else "category")
    figure.update_yaxes(title=y, type="category" if horizontal else "-", autorange="reversed" if horizontal else True)
    right = NUMBER if horizontal else EDGE
    frame(figure, key=key, takeaway=takeaway, limits=limits, height=height, right=right)


def lengths(rows: Sequence[Sequence[int]], *, key: str, takeaway: str, limits: str = "", height: int = 260) -> None:
    """Draw a histogram of words a record from rows (fewest, most, records), of which the last may be open."""
    import plotly.graph_objects as go

    names = [
        number(low) if low == high else tr("{low} to {high}", low=number(low), high=number(high))
        for low, high, _ in rows
    ]
    figure = go.Figure(
        go.Bar(
            x=list(range(len(rows))),
            y=[count for _, _, count in rows],
            customdata=names,
            marker_color=BAR,
            hovertemplate=tr("{words} words: {records} records", words="%{customdata}", records="%{y:,}")
            + "<extra></extra>",
        )
    )
    marked = list(range(0, len(rows), marked_every([low for low, _, _ in rows])))
    figure.update_xaxes(  # a bar begins at the number below its left edge
        title=tr("Words in one record"), tickvals=[place - 0.5 for place in marked],
        ticktext=[number(rows[place][0]) for place in marked], range=[-0.6, len(rows) - 0.4],
    )  # fmt: skip
    figure.update_yaxes(title=tr("Records of this length"))
    figure.update_layout(bargap=0.05)
    frame(figure, key=key, takeaway=takeaway, limits=limits, height=height)


def marked_every(lows: Sequence[int]) -> int:
    """Return every how many bars of a histogram one is marked: about six, at round numbers where the bars allow it."""
    least = max(1, len(lows) // 6)
    for step in range(least, min(len(lows), 2 * least + 2)):
        if not any(low % ROUND for low in lows[::step]):
            return step
    return least
