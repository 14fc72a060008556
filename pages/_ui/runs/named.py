"""A run's own name and note, for the people who work here; neither leaves with a release."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.sign_in.closed import barred
from pages._ui.states import act


def edit(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the form for name and note, behind a button."""
    name, note = f"run.name.{run.id}", f"run.note.{run.id}"
    with st.popover("Name and note", icon=":material/edit_note:", key=f"run.named.{run.id}"):
        if barred("Naming a run", engine.Right.MANAGE):
            return
        st.text_input("Name", value=run.name, key=name, max_chars=engine.LONGEST_NAME,
                      help="Shown in pickers instead of method and time. It stays inside.")  # fmt: skip
        st.text_area("Note", value=run.note, key=note, max_chars=engine.LONGEST_NOTE,
                     help="What this run was for. It stays inside.")  # fmt: skip
        st.button("Keep", key=f"run.named.keep.{run.id}", type="primary", on_click=_keep, args=(workspace, run.id))


def _keep(workspace: engine.Workspace, run_id: str) -> None:
    name, note = (str(st.session_state.get(f"run.{part}.{run_id}") or "") for part in ("name", "note"))
    act(workspace.runs.describe, run_id, name=name, note=note, done="Name and note are kept.")
