"""The public list of labels on the plan page: what the training part holds, and a tick that declares it public."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import engine
from engine.corpus.label_rules import LONGEST_LABEL, MOST_LABELS
from pages._ui import states
from pages._ui.texts import count_of, plain, when


def draw(workspace: engine.Workspace, corpus: Any, method: Any) -> None:
    """Ask whether the list of labels is public, for methods whose claim depends on it."""
    if method.kind != "dp":
        return
    found = workspace.labels.known(corpus.id)
    if not found.counts and found.declared is None:
        return
    st.markdown("**Labels of the outputs**")
    key = f"plan.labels.{corpus.id}"
    if found.declared is not None:
        st.caption(
            f"{count_of(len(found.declared), 'label')}, declared public by {plain(found.actor)} on "
            f"{when(found.at)}. They stand in prompts and beside outputs."
        )
        _show(list(found.declared), key=f"{key}.list")
        if st.button("These labels are not public", key=f"{key}.withdraw", icon=":material/undo:"):
            states.act(workspace.labels.withdraw, corpus.id)
            st.rerun()
        return
    st.caption(
        "These stand in the records, so a method with a proven bound does not use them by itself: one label that tells "
        "something about one person would reach every reader. Read the list. If it may be public, say so; otherwise "
        "the outputs carry no labels."
    )
    _show(list(found.counts), key=f"{key}.list")
    if found.unusual:
        st.warning(
            f"{plain(found.unusual)} Names of classes are usually shorter than {LONGEST_LABEL} characters and fewer "
            f"than {MOST_LABELS}; look for anything about a person.",
            icon=":material/warning:",
        )
    said = "I have read this list, and all of it may be public" + (", long or many as they are" * bool(found.unusual))
    if st.checkbox(said, key=f"{key}.tick"):
        declared = states.act(workspace.labels.declare, corpus.id, unusual_too=bool(found.unusual))
        if declared is not None:
            st.rerun()
        states.flash()


def _show(labels: list[str], *, key: str) -> None:
    """Show labels as cells, never as Markdown."""
    st.dataframe(
        pd.DataFrame({"Label": labels}), hide_index=True, key=key, alt="The list of labels",
        height="content" if len(labels) < 8 else 240, column_config={"Label": st.column_config.TextColumn()},
    )  # fmt: skip
