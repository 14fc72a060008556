"""What becomes of outputs that say nothing: a choice on the plan page and a line on the run."""

from __future__ import annotations

import streamlit as st

import engine
from engine import READABLE_FIELD, READABLE_HELP, READABLE_NOTED
from pages._ui.language import mark, tr, translator
from pages._ui.texts import count_of, number

OWN = (READABLE_FIELD,)  # drawn here instead of in the method's form
CHOICES = {"drop": mark("Leave it out"), "flag": mark("Keep it and count it")}


def ask(spec: engine.MethodSpec, *, key: str) -> dict[str, str]:
    """Draw the choice; return it where it differs from the method's default."""
    field = spec.parameters.model_fields.get(READABLE_FIELD)
    if field is None:
        return {}
    default = str(field.get_default())
    own = f"{key}.{READABLE_FIELD}"
    if own not in st.session_state:
        st.session_state[own] = default
    chosen = st.segmented_control(
        tr("Text that says nothing"), list(CHOICES), format_func=translator(CHOICES), required=True, key=own,
        persist_state="session",
        help=f"{READABLE_HELP} " + tr("What is left out is not made up for, so fewer outputs may come."),
    )  # fmt: skip
    return {} if chosen in (None, default) else {READABLE_FIELD: str(chosen)}


def told(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return how far a run's outputs could be judged when they were made, or nothing where words were in all."""
    noted = workspace.runs.diagnostics(run.id).get(READABLE_NOTED)
    if not isinstance(noted, dict):
        return ""
    texts = count_of(sum(int(count) for count in noted.values()), "text")
    partly, not_at_all = int(noted.get("repetition", 0)), int(noted.get("none", 0))
    said = []
    if partly:
        said.append(
            tr(
                "In {partly} of {texts} only repetition was judged, since they hold too few everyday English words for "
                "the other rules of readability.",
                partly=number(partly),
                texts=texts,
            )
        )
    if not_at_all:
        said.append(
            tr(
                "{not_at_all} of {texts} were not judged for readability, since there are no rules for their script.",
                not_at_all=number(not_at_all),
                texts=texts,
            )
        )
    return " ".join(said)


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Say how far the outputs of a run at work could be judged."""
    if said := told(workspace, run):
        st.caption(said)
