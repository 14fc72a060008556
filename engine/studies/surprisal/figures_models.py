"""Figure of the study `surprisal`, a curve a model: threshold ratios to their infinite or zero ends.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, figure 16.

Privacy posture: drawn from tables of numbers; records are not named.
"""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.iterations import INTERNAL

ENDS = {"infinite": "grows without bound beyond", "zero": "falls to 0 beyond", "equal": "has no value beyond"}
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def ratio_models(table: pd.DataFrame) -> Figure:
    """Return LR(τ) of each model over the threshold, a star where the last finite value is."""
    plot = go.Figure()
    last = table.sort_values("threshold").groupby("model").tail(1)
    for number, (model, part) in enumerate(table.groupby("model")):
        part = part.sort_values("threshold")
        name = f"model {int(str(model)) + 1}"
        colour = palette.OKABE_ITO[number % len(palette.OKABE_ITO)]
        end = part.iloc[-1]
        plot.add_scatter(
            x=part["threshold"], y=part["ratio"], mode="lines", name=name, legendgroup=name,
            line={"color": colour, "dash": _DASHES[number % len(_DASHES)]},
            hovertemplate="above %{x:.0f} nats: %{y:.2f} times<extra>" + name + "</extra>",
        )  # fmt: skip
        plot.add_scatter(
            x=[end["threshold"]], y=[end["ratio"]], mode="markers", legendgroup=name, showlegend=False,
            marker={"color": colour, "symbol": "star", "size": 12},
            hovertemplate="last finite: %{x:.0f} nats, " + ENDS[str(end["end"])] + f"<extra>{name}</extra>",
        )  # fmt: skip
    plot.add_hline(y=1, line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="Threshold τ of surprisal (nats)", y="Pr[S > τ | left out] / Pr[S > τ | in]", height=360)
    plot.update_yaxes(type="log")
    number = len(last)
    infinite, zero = (int((last["end"] == end).sum()) for end in ("infinite", "zero"))
    takeaway = (
        f"In {infinite} of {number} models the most surprising record was one left out, so the ratio grows without "
        f"bound beyond the star; in {zero} it was one in training, and the ratio falls to 0."
    )
    fewest = int(last[["left_out", "inside"]].min(axis=1).min())
    caveat = (
        f"At the stars as few as {fewest} record{'' if fewest == 1 else 's'} of a side are left: single records decide "
        "there, and an infinite end is one record's doing. The figure of all models together has bands. "
        f"{INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Lines of ratios over thresholds, a line a model. {takeaway}")
