"""Lengths of texts, synthetic beside real, and the phrases whose use differs most."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from pages._ui.examined import figure as examined_figure
from pages._ui.sign_in.closed import closed


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the distribution of words a record."""
    from engine.figures.utility import lengths

    counted = workspace.examinations.table(run.id, "lengths")
    if counted is None or counted.empty:
        st.caption("Lengths were not measured in this examination.")
        return
    examined_figure.draw(lengths(counted), key=f"utility.lengths.{run.id}")


def phrases(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the phrases that many people's records share and that the synthetic text uses more or less often."""
    if closed("Words and phrases"):
        return
    table = workspace.examinations.table(run.id, "ngrams")
    if table is None or table.empty:
        return
    st.markdown(
        "**Words and phrases used most differently.** Only what at least ten people's records share is listed, and "
        "nothing that was marked as identifying."
    )
    length = st.radio("Words in a phrase", [1, 2, 3], key="utility.phrases", horizontal=True)
    part = table[table["n"] == (length or 1)]
    shown = pd.DataFrame(
        {
            "Phrase": part["phrase"].astype(str),
            "In synthetic texts": 100 * part["synthetic_share"],
            "In private texts": 100 * part["train_share"],
            "Difference": 100 * (part["synthetic_share"] - part["train_share"]),
        }
    )
    share = st.column_config.NumberColumn(format="%.1f%%")
    st.dataframe(
        shown,
        hide_index=True,
        height=320,
        alt="Phrases whose use differs most",
        column_config={name: share for name in shown.columns if name != "Phrase"},
    )
    st.caption("This list holds words of the private text. It is internal and never leaves with a release.")
