"""All outputs of a run, whole, a page at a time."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.parts.pager import pager
from pages._ui.texts import count_of

SIZE, WIDE = 6, 2  # texts a page, and columns


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the outputs in the run's order with their label; nothing of the private side."""
    st.subheader(f"Outputs · {count_of(run.kept, 'text')}", anchor=False)
    if not run.kept:
        st.caption("None were kept.")
        return
    key = f"run.outputs.page.{run.id}"
    page = max(1, int(st.session_state.get(key, 1) or 1))
    shown = workspace.runs.synthetic(run.id, offset=(page - 1) * SIZE, limit=SIZE)
    with st.container(key=f"run.outputs.{run.id}"):
        columns = st.columns(WIDE)
        half = -(-len(shown) // WIDE)
        for place, row in enumerate(shown.itertuples(), (page - 1) * SIZE + 1):
            column = columns[(place - 1 - (page - 1) * SIZE) // half]  # down the first column, then the second
            with column, st.container(border=True, gap="small"):
                st.text(f"{place:,}" + (f" · {row.label}" if isinstance(row.label, str) else ""))
                st.text(str(row.text))
    pager(run.kept, key=key, size=SIZE, counted=count_of(run.kept, "output"))
