"""How well an attack does at each pair of filter thresholds. Internal: computed from private text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from engine.figures.base import Figure, styled


def attack_grid(rows: Sequence[Mapping[str, object]], chosen: tuple[float, float] | None = None) -> Figure:
    """Return the attack's AUC for each pair of retained shares.

    Args:
        rows: similarity_keep, nll_keep (0..1), retained (outputs), auc (0.5 = chance, NaN where nothing is left).
        chosen: the run's own pair of shares.
    """
    table = pd.DataFrame(list(rows), columns=["similarity_keep", "nll_keep", "retained", "auc"]).astype(float)
    grid = table.pivot_table(index="nll_keep", columns="similarity_keep", values="auc", dropna=False)
    labels = {axis: [f"{100 * value:g}%" for value in axis_values] for axis, axis_values in
              (("x", grid.columns), ("y", grid.index))}  # fmt: skip
    plot = go.Figure(
        go.Heatmap(
            z=grid.to_numpy(), x=labels["x"], y=labels["y"], zmin=0.5, zmax=max(0.75, float(table["auc"].max() or 0.5)),
            colorscale=[[0, "#EAF3F7"], [1, "#0B5C8A"]], texttemplate="%{z:.2f}", colorbar={"title": "AUC"},
            hovertemplate="cosine filter keeps %{x}, likelihood filter keeps %{y}: AUC %{z:.3f}<extra></extra>",
        )
    )  # fmt: skip
    styled(plot, x="Kept by the cosine filter", y="Kept by the likelihood filter", height=300)
    plot.update_xaxes(type="category")
    plot.update_yaxes(type="category")
    known = table.dropna(subset=["auc"])
    if known.empty:
        takeaway = "Too few outputs to attack."
    else:
        low, high = known["auc"].min(), known["auc"].max()
        takeaway = (
            f"Over all pairs of thresholds the attack reaches an AUC between {low:.2f} and {high:.2f} (0.5: chance)."
        )
        here = _at(known, chosen)
        if here is not None:
            takeaway += f" At this run's own thresholds it is about {here:.2f}."
    return Figure(
        plot, takeaway,
        "One attack, nearest output, on one run; a better attack may do better. Internal: it must not leave.",
        f"A grid of {len(table)} cells. {takeaway}",
    )  # fmt: skip


def _at(known: pd.DataFrame, chosen: tuple[float, float] | None) -> float | None:
    """Return the AUC of the pair nearest to the chosen one."""
    if chosen is None:
        return None
    apart = (known["similarity_keep"] - chosen[0]).abs() + (known["nll_keep"] - chosen[1]).abs()
    return float(known["auc"].to_numpy()[int(apart.to_numpy().argmin())])
