"""The loss of a run that trains, live and afterwards. Internal: exact, of private text, outside any guarantee."""

from __future__ import annotations

import streamlit as st

import engine
from engine import JSONObject, as_list, as_number
from engine.figures.training import over_steps
from pages._ui.examined import figure as examined_figure

NOTED = "training_losses"
FORMAL = (
    "The loss is exact and no part of the guarantee. That it is watched is in the ledger as a use without a guarantee; "
    "choosing a run, a step or settings by it makes the guarantee untrue."
)


def losses(diagnostics: JSONObject) -> list[float | None]:
    """Return the loss of each step that a run noted, None where a step drew nobody."""
    values = [as_number(value) for value in as_list(diagnostics.get(NOTED))]
    return [value if value == value else None for value in values]


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the loss where the run has noted any."""
    course = losses(workspace.runs.diagnostics(run.id))
    if sum(value is not None for value in course) < 2:
        return
    st.subheader("Training", anchor=False)
    st.badge("internal, may not be released", color="orange", icon=":material/lock:")
    limits = FORMAL if run.guarantee.kind == "dp" else ""
    examined_figure.draw(over_steps(course), key=f"run.loss.{run.id}", limits=limits)
