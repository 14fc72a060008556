"""Closeness to single training records, beside closeness to records that nobody used."""

from __future__ import annotations

from typing import Any

import streamlit as st

import engine
from engine.analysis.measures import REFERENCES
from pages._ui.texts import number

NAMES = ("train", "holdout", "baseline")
DASHES = {"train": "solid", "holdout": "dash", "baseline": "dot"}


def draw(workspace: engine.Workspace, run: Any) -> None:
    """Draw how similar the nearest record is, as a share of synthetic records."""
    import plotly.graph_objects as go

    table = workspace.table(run.id, "nearest_quantiles")
    if table is None or table.empty:
        st.caption("Closeness was not measured in this examination (no encoder or no holdout).")
        return
    middle = {name: _median(table, name) for name in NAMES}
    train, holdout, real = (number(middle[name]) for name in NAMES)
    takeaway = (
        f"Half of the synthetic records come closer than {train} to a training record, and closer than {holdout} "
        f"to one that nobody used. Unused real records: {real}."
    )
    st.markdown(takeaway)
    figure = go.Figure()
    for name in NAMES:
        part = table[table["reference"] == name]
        label = "real records nobody used, to the training part" if name == "baseline" else f"to the {REFERENCES[name]}"
        figure.add_trace(
            go.Scatter(
                x=part["similarity"],
                y=part["share"],
                mode="lines",
                name=label,
                line={"dash": DASHES[name], "width": 2.5},
            )
        )
    figure.update_xaxes(title="similarity to the nearest record (cosine, 1 = same meaning)")
    figure.update_yaxes(title="share of records that are less close", tickformat=".0%")
    figure.update_layout(
        height=340, margin={"l": 10, "r": 10, "t": 10, "b": 10}, legend={"orientation": "h", "y": 1.15}
    )
    st.plotly_chart(figure, key=f"privacy.nearest.{run.id}", alt=takeaway, config={"displayModeBar": False})
    st.caption(
        "A line further to the right means closer. Only a gap between the training line and the holdout line "
        "speaks of leaks: closeness alone is not a measure of privacy."
    )


def _median(table: Any, reference: str) -> float:
    part = table[table["reference"] == reference]
    return float(part.loc[(part["share"] - 0.5).abs().idxmin(), "similarity"]) if len(part) else float("nan")
