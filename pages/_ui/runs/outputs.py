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
        rows = list(shown.itertuples())
        for begin in range(0, len(rows), WIDE):  # across, then down: a narrow page has one column in the same order
            for column, (at, row) in zip(
                st.columns(WIDE), enumerate(rows[begin : begin + WIDE], (page - 1) * SIZE + begin + 1), strict=False
            ):
                with column, st.container(border=True, gap="small"):
                    st.text(f"{at:,}" + (f" · {row.label}" if isinstance(row.label, str) else ""))
                    st.text(str(row.text))
    pager(run.kept, key=key, size=SIZE, counted=count_of(run.kept, "output"))
