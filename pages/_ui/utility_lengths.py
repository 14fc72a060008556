"""Lengths of texts, synthetic beside real, and the phrases whose use differs most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import engine
from pages._ui.texts import number

NAMES = {"synthetic": "synthetic text", "train": "training part", "holdout": "holdout"}
DASHES = {"synthetic": "solid", "train": "dash", "holdout": "dot"}
BINS = 40


def draw(workspace: engine.Workspace, run: Any) -> None:
    """Draw the distribution of words a record."""
    import plotly.graph_objects as go

    table = workspace.table(run.id, "lengths")
    if table is None or table.empty:
        st.caption("Lengths were not measured in this examination.")
        return
    middle = {kind: median(part) for kind, part in table.groupby("kind")}
    ours, real = number(int(middle.get("synthetic", 0))), number(int(middle.get("train", 0)))
    takeaway = f"Half of the synthetic texts have at most {ours} words; in the training part it is {real}."
    st.markdown(takeaway)
    figure = go.Figure()
    top = max(1, quantile(table, 0.99))
    edges = np.linspace(0, top, BINS + 1)
    for kind, name in NAMES.items():
        part = table[table["kind"] == kind]
        if part.empty:
            continue
        heights, _ = np.histogram(np.minimum(part["words"], top), bins=edges, weights=part["records"])
        figure.add_trace(
            go.Scatter(
                x=(edges[:-1] + edges[1:]) / 2,
                y=heights / part["records"].sum(),
                mode="lines",
                name=name,
                line={"dash": DASHES[kind], "shape": "spline", "width": 2.5},
            )
        )
    figure.update_xaxes(title="words in a text", rangemode="tozero")
    figure.update_yaxes(title="share of texts", tickformat=".0%", rangemode="tozero")
    figure.update_layout(
        height=340, margin={"l": 10, "r": 10, "t": 10, "b": 10}, legend={"orientation": "h", "y": 1.12}
    )
    st.plotly_chart(figure, key=f"utility.lengths.{run.id}", alt=takeaway, config={"displayModeBar": False})
    st.caption("The longest one per cent is counted at the right edge. Length says nothing about content.")


def phrases(workspace: engine.Workspace, run: Any) -> None:
    """Draw the phrases that many people's records share and that the synthetic text uses more or less often."""
    table = workspace.table(run.id, "ngrams")
    if table is None or table.empty:
        return
    st.markdown("**Words and phrases used most differently.** Only what at least ten people's records share is listed.")
    length = st.segmented_control(
        "Words in a phrase",
        [1, 2, 3],
        default=1,
        key="utility.phrases",
        required=True,
        help="Single words, pairs, triples",
    )
    part = table[table["n"] == (length or 1)]
    shown = pd.DataFrame(
        {
            "Phrase": part["phrase"].astype(str),
            "In synthetic texts": part["synthetic_share"],
            "In private texts": part["train_share"],
            "Difference": part["synthetic_share"] - part["train_share"],
        }
    )
    share = st.column_config.NumberColumn(format="percent")
    st.dataframe(
        shown,
        hide_index=True,
        height=320,
        alt="Phrases whose use differs most",
        column_config={name: share for name in shown.columns if name != "Phrase"},
    )
    st.caption("This list holds words of the private text. It is internal and never leaves with a release.")


def median(part: pd.DataFrame) -> float:
    """Return the median number of words of a table of counts."""
    return quantile(part, 0.5)


def quantile(part: pd.DataFrame, level: float) -> float:
    """Return a quantile of `words` weighted by `records`."""
    ordered = part.sort_values("words")
    reached = ordered["records"].cumsum() >= level * ordered["records"].sum()
    return float(ordered.loc[reached, "words"].iloc[0]) if reached.any() else 0.0
