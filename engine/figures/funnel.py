"""Where a run's records went."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled


def funnel(counts: Mapping[str, int], wanted: int | None = None) -> Figure:
    """Return what a run made, dropped by which step, kept, and flagged among what was kept, from its funnel counts.

    Args:
        wanted: how many outputs were asked for; told beside what was made and kept.
    """
    drops, flags = (
        {name: n for name, n in sorted(counts.items()) if name.startswith(step)} for step in ("dropped", "flagged")
    )
    kept = counts.get("kept", 0)
    made = counts.get("made", kept + sum(drops.values()))
    rows = [
        ("Made", made, palette.GREY),
        *((name.capitalize(), n, palette.VERMILION) for name, n in drops.items()),
        ("Kept", kept, palette.GREEN),
        *((f"Of these {name}", n, palette.ORANGE) for name, n in flags.items()),
    ]
    labels, values, colours = zip(*rows, strict=True)
    lines = [label.replace(": ", ":<br>") for label in labels]  # half a page is narrow
    plot = go.Figure(
        go.Bar(x=values, y=lines, orientation="h", marker={"color": colours}, text=[f"{v:,}" for v in values],
               textposition="auto", cliponaxis=False, hovertemplate="%{y}: %{x:,} outputs<extra></extra>")
    )  # fmt: skip
    styled(plot, x="Outputs", y="", height=70 + 30 * len(rows))
    plot.update_yaxes(autorange="reversed", type="category")
    plot.update_xaxes(range=[0, 1.18 * max(1, *values)], showticklabels=False)  # the numbers stand at the bars
    plot.update_layout(showlegend=False)
    takeaway = f"{kept:,} of {made:,} records were kept."
    if wanted is not None:
        takeaway = f"{made:,} made, {kept:,} kept of {wanted:,} wanted"
        takeaway += "".join(f"; {n:,} {name}" for name, n in drops.items() if n) if len(drops) == 1 else ""
        takeaway += "."
    elif drops:
        most = max(drops, key=lambda name: drops[name])
        takeaway += f" Most of the others were {most}."
    caveat = "Counts, not quality. A dropped record is gone for good; it is in no finding."
    return Figure(plot, takeaway, caveat, f"Bars of counts. {takeaway}")
