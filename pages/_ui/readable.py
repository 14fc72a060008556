"""What becomes of outputs that say nothing: a choice on the plan page, a line on each method's card and on the run."""

from __future__ import annotations

import streamlit as st

import engine
from engine import READABLE_FIELD, READABLE_HELP, READABLE_NOTED
from pages._ui.texts import count_of, number

OWN = (READABLE_FIELD,)  # drawn here instead of in the method's form
CHOICES = {"drop": "Leave it out", "flag": "Keep it and count it"}


def ask(spec: engine.MethodSpec, *, key: str) -> dict[str, str]:
    """Draw the choice; return it where it differs from the method's default."""
    field = spec.parameters.model_fields.get(READABLE_FIELD)
    if field is None:
        return {}
    default = str(field.get_default())
    chosen = st.segmented_control(
        "Text that says nothing", list(CHOICES), default=default, format_func=CHOICES.__getitem__, required=True,
        key=f"{key}.{READABLE_FIELD}",
        help=f"{READABLE_HELP} What is left out is not made up for, so fewer outputs may come.",
    )  # fmt: skip
    return {} if chosen in (None, default) else {READABLE_FIELD: str(chosen)}


def at_first(spec: engine.MethodSpec) -> str:
    """Return what a method's card says of it, or nothing where the method has no such choice."""
    field = spec.parameters.model_fields.get(READABLE_FIELD)
    if field is None:
        return ""
    return (
        "is left out, unless you keep it"
        if field.get_default() == "drop"
        else "is kept and counted, unless you drop it"
    )


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Say how far a run's outputs could be judged, where words were not judged in all of them."""
    noted = workspace.runs.diagnostics(run.id).get(READABLE_NOTED)
    if not isinstance(noted, dict):
        return
    total = sum(int(count) for count in noted.values())
    partly, not_at_all = int(noted.get("repetition", 0)), int(noted.get("none", 0))
    if partly:
        st.caption(
            f"Readability: in {number(partly)} of {count_of(total, 'text')} only repetition was judged; the rules on "
            "words are for English."
        )
    if not_at_all:
        st.caption(
            f"Readability: {number(not_at_all)} of {count_of(total, 'text')} were not judged, since there are no rules "
            "for their script."
        )
