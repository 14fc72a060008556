"""How alike two texts are in meaning, among synthetic texts beside among private ones."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.examined import figure as examined_figure


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the spread of likeness; nothing for an examination that did not keep it."""
    from engine.figures import likeness

    table = workspace.examinations.table(run.id, "likeness")
    if table is None or table.empty:
        return
    st.markdown("**Likeness among the texts.** How alike two texts of one side are, for all pairs of texts.")
    examined_figure.draw(likeness(table), key=f"utility.likeness.{run.id}")
