"""Figures of methods that work in rounds: one curve a measure. Internal: nothing of it may be released."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled

INTERNAL = "Internal: computed from private text outside the guarantee, so it must not leave."


def over_rounds(
    rounds: Sequence[int],
    values: Sequence[float],
    *,
    title: str,
    axis: str,
    better: str = "",
    reference: tuple[str, float] | None = None,
    internal: bool = True,
) -> Figure:
    """Return one measure over the rounds of a run.

    Args:
        rounds: int (n,), rising. values: float (n,), NaN where not known.
        title: what is measured, starts the takeaway. axis: axis title with the unit.
        better: "higher" or "lower", empty where neither is.
        reference: name and value of a horizontal line such as real against real.
        internal: whether private text went into the values.
    """
    plot = go.Figure()
    plot.add_scatter(
        x=list(rounds), y=list(values), mode="lines+markers", name=title,
        line={"color": palette.BLUE, "width": 2.5}, marker={"size": 8},
        hovertemplate="round %{x}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    if reference is not None:
        plot.add_hline(y=reference[1], line={"color": palette.GREEN, "dash": "dash"}, annotation_text=reference[0])
    styled(plot, x="Round", y=axis, height=240)
    plot.update_xaxes(dtick=max(1, len(rounds) // 10))
    plot.update_layout(showlegend=False)
    known = [(r, v) for r, v in zip(rounds, values, strict=True) if v == v]
    if len(known) < 2:
        takeaway = f"{title}: too few rounds to see a course."
    else:
        (_, start), (last, end) = known[0], known[-1]
        way = "unchanged" if start == end else "up" if end > start else "down"
        takeaway = f"{title}: {_short(start)} at first, {_short(end)} after round {last}"
        if better and way != "unchanged":
            takeaway += ", better" if (way == "up") == (better == "higher") else ", worse"
        takeaway += "."
    caveat = INTERNAL if internal else "Computed from texts written and from what the budget paid for."
    return Figure(plot, takeaway, caveat, f"A line over {len(known)} rounds. {takeaway}")


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
