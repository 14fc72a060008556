"""Where a run's records went."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled


def funnel(counts: Mapping[str, int]) -> Figure:
    """Return what a run made, dropped by which stage, and kept, from its funnel counts."""
    drops = {name: n for name, n in counts.items() if name.startswith("dropped")}
    made = counts.get("made", counts.get("kept", 0) + sum(drops.values()))
    kept = counts.get("kept", 0)
    names = ["made", *drops, "kept"]
    values = [made, *drops.values(), kept]
    colours = [palette.GREY, *[palette.VERMILION] * len(drops), palette.GREEN]
    labels = [name.capitalize() for name in names]
    plot = go.Figure(
        go.Bar(x=values, y=labels, orientation="h", marker={"color": colours}, text=[f"{v:,}" for v in values],
               textposition="auto", hovertemplate="%{y}: %{x:,} records<extra></extra>")
    )  # fmt: skip
    styled(plot, x="Records", y="", height=90 + 36 * len(names))
    plot.update_yaxes(autorange="reversed", type="category")
    plot.update_layout(showlegend=False)
    takeaway = f"{kept:,} of {made:,} records were kept."
    if drops:
        most = max(drops, key=lambda name: drops[name])
        takeaway += f" Most of the others were {most}."
    return Figure(
        plot, takeaway, "A dropped record is gone for good; it is in no finding.", f"Bars of counts. {takeaway}"
    )
