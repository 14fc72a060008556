"""The four steps of the pools page and which part of it is shown; a step that was done leads on to the next one."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.methods import method_cards
from pages._ui.navigation import go
from pages._ui.plan.pool import METHOD

POOLS, PROMPTS, LEFT = "Pools", "Write prompts", "What left"
KEY, NEXT = "pool.view", "_ui.pool.next_view"
STEPS = (
    ("What leaves", "Write prompts from public words. They are listed whole before they leave, and nothing else does."),
    ("Run it elsewhere", "Carry the file to any model, or to people, and have the prompts answered there."),
    ("Bring it back", "Load the answers here as a pool. A public corpus of the same kind will do as well."),
    ("Choose", "Plan a run in which the private records vote for the texts that are most like them."),
)


def steps() -> None:
    """Draw the four steps, numbered as the parts below are."""
    with st.grid(4, min_column_width=140):
        for number, (name, what) in enumerate(STEPS, 1):
            with st.container(key=f"pool.step.{number}", gap="xsmall"):
                st.markdown(f"**{number} · {name}**")
                st.caption(what)


def to_plan(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> None:
    """Draw the way to a run that chooses from a pool, where there are a pool and a corpus."""
    if corpus is None or not workspace.pools.all():
        return
    if st.button("Plan a run that chooses", type="primary", icon=":material/arrow_forward:", icon_position="right",
                 key="pool.plan"):  # fmt: skip
        st.session_state[method_cards.CHOICE] = METHOD
        go("plan")


def choose() -> str:
    """Draw the choice and return it."""
    if NEXT in st.session_state:
        st.session_state[KEY] = st.session_state.pop(NEXT)
    st.session_state.setdefault(KEY, POOLS)
    return str(
        st.radio("View", [POOLS, PROMPTS, LEFT], key=KEY, horizontal=True, label_visibility="collapsed") or POOLS
    )


def lead_on(view: str) -> None:
    """Show another part the next time the page is drawn."""
    st.session_state[NEXT] = view
