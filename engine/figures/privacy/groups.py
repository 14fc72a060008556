"""Figure of an attack within groups of records: one dot a group, its interval, chance as a line.

Light: numpy, pandas and plotly only.
"""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from engine.examine.stats.simultaneous import CHANCE, wider
from engine.figures import palette
from engine.figures.base import Figure, listed, styled


def by_group(cells: pd.DataFrame, attack: str) -> Figure:
    """Return the area under the ROC curve of one attack within each group of one grouping.

    Args:
        cells: rows of the table `groups` of one attack and one grouping; NaN where a cell is too small.
        attack: its title.
    """
    known = cells[cells["auc"].notna()]
    plot = go.Figure()
    if len(known):
        value = known["auc"].astype(float)
        plot.add_scatter(
            x=value, y=known["group"], mode="markers", name="area under the ROC curve",
            marker={"color": palette.VERMILION, "size": 11},
            error_x={"type": "data", "symmetric": False, "array": known["high"].astype(float) - value,
                     "arrayminus": value - known["low"].astype(float), "thickness": 1.5, "color": palette.GREY},
            customdata=known[["members", "others"]].to_numpy(),
            hovertemplate="%{y}: %{x:.3f} (%{customdata[0]:,} members, %{customdata[1]:,} others)<extra></extra>",
        )  # fmt: skip
    plot.add_vline(x=CHANCE, line={"color": palette.GREY, "dash": "dot"})
    height = 110 + 42 * max(2, len(known))
    styled(plot, x="Area under the ROC curve, with 95% interval<br>(chance is 0.5)", y="", height=height)
    plot.update_layout(showlegend=False)
    plot.update_yaxes(autorange="reversed", type="category")
    factor = wider(len(known))
    above = known[known["auc"] - factor * (known["auc"] - known["low"]) > CHANCE]
    small = len(cells) - len(known)
    if not len(known):
        takeaway = "Every group is too small for a number of its own."
    elif len(above):
        takeaway = f"“{attack}” sees more than chance in: {listed([str(name) for name in above['group']])}."
    else:
        takeaway = f"“{attack}” sees no more than chance in any group, with all groups allowed for."
    if small and len(known):
        takeaway += f" {small} {'group is' if small == 1 else 'groups are'} too small for a number."
    caveat = (
        "Groups with fewer than 20 people or records on either side have no number. The bars are of 95% each; the "
        "sentence allows for all groups, not for all attacks that could be chosen."
    )
    return Figure(plot, takeaway, caveat, f"Dots with bars, one a group. {takeaway}")
