"""Figure of the study `nll-filter`: each attack's area with RPSG's likelihood filter, without it, and at equal size."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from engine.examine.stats.simultaneous import CHANCE, wider
from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.iterations import INTERNAL

SHOWN = {
    "with the filter": (palette.BLUE, "circle"),
    "without the filter": (palette.VERMILION, "square"),
    "without, as few texts": (palette.ORANGE, "diamond"),
}


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figure, where attacks were carried out."""
    table = tables.get("nll_filter")
    return [] if table is None or not table["auc"].notna().any() else [("areas", areas(table))]


def areas(table: pd.DataFrame) -> Figure:
    """Return dots with bars: an attack a row, a variant a colour and shape, chance as a line (RPSG, table 14)."""
    known = table[table["auc"].notna()]
    titles = list(dict.fromkeys(known["title"]))
    plot = go.Figure()
    for variant, (colour, symbol) in SHOWN.items():
        rows = known[known["variant"] == variant]
        if rows.empty:
            continue
        value = rows["auc"].astype(float)
        plot.add_scatter(
            x=value, y=rows["title"], orientation="h", mode="markers",
            name=f"{variant} ({int(rows['texts'].iloc[0]):,} texts)",
            marker={"color": colour, "symbol": symbol, "size": 9},
            error_x={"type": "data", "symmetric": False, "thickness": 1.5, "color": colour,
                     "array": (rows["high"].astype(float) - value).fillna(0),
                     "arrayminus": (value - rows["low"].astype(float)).fillna(0)},
            hovertemplate="%{y}: %{x:.3f}<extra>" + variant + "</extra>",
        )  # fmt: skip
    plot.add_vline(x=CHANCE, line={"color": palette.GREY, "dash": "dot"})
    styled(
        plot, x="Area under the ROC curve, with 95% interval<br>(chance is 0.5)", y="", height=160 + 48 * len(titles)
    )
    plot.update_layout(scattermode="group", scattergap=0.4)
    plot.update_yaxes(type="category", categoryorder="array", categoryarray=titles[::-1])
    takeaway = _said(known)
    caveat = (
        "Members are RPSG's seeds, the others records that nobody used; the attacker sees a model trained on the "
        "output. Fewer texts leak less by themselves: compare the filter with as few texts without it. Attacks that "
        f"tell both sides apart without a model (greyed in the table) say nothing. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Dots of areas, one row an attack. {takeaway}")


def _said(table: pd.DataFrame) -> str:
    """Return how many attacks lie above chance in each variant, all attacks of the variant allowed for."""
    parts = []
    for variant in SHOWN:
        rows = table[(table["variant"] == variant) & ~table["greyed"].astype(bool)]
        if rows.empty:
            continue
        factor = wider(len(rows))
        above = rows["auc"] - factor * (rows["auc"] - rows["low"]) > CHANCE
        parts.append(f"{variant} {int(above.sum())} of {len(rows)}")
    if not parts:
        return "No attack can be judged: members and others can be told apart without any model."
    return f"Attacks above chance, with all of them allowed for: {'; '.join(parts)}."
