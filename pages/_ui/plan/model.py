"""The language model of a run or a study, chosen where there is more than one."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

import engine
from pages._ui.language import lowered, tr
from pages._ui.models.language import KINDS

CHOICE = "plan.model"
BUILTIN = "builtin"


def choose(workspace: engine.Workspace, method: engine.MethodSpec) -> str:
    """Return the model's id; the built-in one without asking where there is no other or the method needs none."""
    return choose_for(workspace, method.needs, CHOICE)


def choose_for(workspace: engine.Workspace, needs: Collection[str], key: str) -> str:
    """Return the chosen model's id, kept under `key`; the built-in one where nothing is to be chosen."""
    if "generator" not in needs:
        return BUILTIN
    models = {info.id: info for info in workspace.models.all()}
    if st.session_state.get(key) not in models:
        st.session_state[key] = BUILTIN
    if len(models) == 1:
        return BUILTIN
    chosen = st.selectbox(
        tr("Language model"),
        list(models),
        format_func={name: _name(info) for name, info in models.items()}.__getitem__,
        key=key,
        persist_state="session",
        help=tr("Add others on the Models page. The run's manifest names the model and its checksum.")
        if key == CHOICE
        else tr("Add others on the Models page. The study keeps which model it was run with."),
    )
    return str(chosen or BUILTIN)


def called(workspace: engine.Workspace, model: str) -> str:
    """Return what a model is called here, also one that was removed since."""
    known = {info.id: info for info in workspace.models.all()}
    return _name(known[model]) if model in known else model


def _name(info: engine.ModelInfo) -> str:
    if info.id == BUILTIN:
        return tr("Built-in language model (for trying out)")
    place = "" if info.local else f", {tr('on another machine')}"
    return f"{info.id.partition(':')[2] or info.id} ({lowered(tr(KINDS[info.back_end][0]))}{place})"
