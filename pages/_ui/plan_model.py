"""The language model of a run, chosen on the Plan page where there is more than one."""

from __future__ import annotations

from typing import Any

import streamlit as st

import engine
from pages._ui.models_language import KINDS

CHOICE = "plan.model"
BUILTIN = "builtin"


def choose(workspace: engine.Workspace, method: Any) -> str:
    """Return the model's id; the built-in one without asking where there is no other or the method needs none."""
    if "generator" not in method.needs:
        return BUILTIN
    models = {info.id: info for info in workspace.language_models()}
    if st.session_state.get(CHOICE) not in models:
        st.session_state[CHOICE] = BUILTIN
    if len(models) == 1:
        return BUILTIN
    chosen = st.selectbox(
        "Language model",
        list(models),
        format_func=lambda model: _name(models[model]),
        key=CHOICE,
        persist_state="session",
        help="Add others on the Models page. The run's manifest names the model and its checksum.",
    )
    return str(chosen or BUILTIN)


def _name(info: Any) -> str:
    if info.id == BUILTIN:
        return "Built-in language model"
    place = "" if info.local else ", on another machine"
    return f"{info.id.partition(':')[2] or info.id} ({KINDS[info.back_end][0].lower()}{place})"
