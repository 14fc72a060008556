"""Which model the models page shows, and the way from it to a plan."""

from __future__ import annotations

import streamlit as st

from pages._ui.navigation import go, page_only
from pages._ui.plan.model import CHOICE as PLANNED

CHOICE = "models.chosen"


def choose(model_id: str) -> None:
    """Turn to a model; called in a callback."""
    st.session_state[CHOICE] = model_id


def plan_with(model_id: str, *, barred: str) -> None:
    """Draw the button that leads to Plan with this model chosen; `barred`: why it cannot be, empty where it can."""
    how = page_only("plan")
    how.setdefault("help", "Opens Plan with this model; methods that need none do without.")
    if barred:
        how |= {"disabled": True, "help": barred}
    if st.button("Use it in Plan", icon=":material/edit_note:", key=f"models.plan.{model_id}", **how):
        st.session_state[PLANNED] = model_id
        go("plan")
    if barred:
        st.caption(barred)
