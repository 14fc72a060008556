"""The four steps of the pools page and which part of it is shown; a step that was done leads on to the next one."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.methods import method_cards
from pages._ui.navigation import go
from pages._ui.plan.pool import METHOD

KEY, NEXT = "pool.view", "_ui.pool.next_view"
STEPS = (
    ("What leaves", "Write prompts from public words. They are listed whole before they leave, and nothing else does."),
    ("Run it elsewhere", "Carry the file to any model, or to people, and have the prompts answered there."),
    ("Bring it back", "Load the answers here as a pool. A public corpus of the same kind will do as well."),
    ("Choose", "Plan a run in which the private records vote for the texts that are most like them."),
)
PROMPTS, LEFT = (f"{number} · {STEPS[number - 1][0]}" for number in (1, 2))
POOLS = f"3 · {STEPS[2][0]}, 4 · {STEPS[3][0]}"
VIEWS = (PROMPTS, LEFT, POOLS)


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


def choose(workspace: engine.Workspace) -> str:
    """Draw the choice among the steps and return it: the first one where nothing left yet and nothing came."""
    if NEXT in st.session_state:
        st.session_state[KEY] = st.session_state.pop(NEXT)
    if st.session_state.get(KEY) not in VIEWS:
        st.session_state[KEY] = POOLS if workspace.pools.all() or workspace.packs.all() else PROMPTS
    return str(st.radio("Step", VIEWS, key=KEY, horizontal=True, label_visibility="collapsed") or PROMPTS)


def lead_on(view: str) -> None:
    """Show another part the next time the page is drawn."""
    st.session_state[NEXT] = view
