"""The four steps of the pools page, of which one is shown; a step that was done leads on to the next one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from pages._ui.methods import method_cards
from pages._ui.navigation import go
from pages._ui.plan.pool import METHOD

KEY, NEXT = "pool.view", "_ui.pool.next_view"
STEPS = (
    (
        "Write prompts",
        "Write prompts from public words. They are listed whole before they leave, and nothing else does.",
    ),
    (
        "Run it elsewhere",
        "Download a pack, carry its file to any model, or to people, and have the prompts answered there.",
    ),
    ("Bring it back", "Load the answers here as a pool. A public corpus of the same kind will do as well."),
    ("Choose", "Plan a run in which the private records vote for the texts that are most like them."),
)
VIEWS = tuple(f"{number} · {name}" for number, (name, _) in enumerate(STEPS, 1))
PROMPTS, LEFT, POOLS, CHOOSE = VIEWS


def to_plan(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> None:
    """Draw the way to a run that chooses from a pool, where there are a pool and a corpus."""
    if corpus is None or not workspace.pools.all():
        return
    if st.button("Plan a run that chooses", type="primary", icon=":material/arrow_forward:", icon_position="right",
                 key="pool.plan"):  # fmt: skip
        st.session_state[method_cards.CHOICE] = METHOD
        go("plan")


def choose(workspace: engine.Workspace) -> str:
    """Draw the four steps as the choice among them, with the sentence of the one that is open, and return that one."""
    if NEXT in st.session_state:
        st.session_state[KEY] = st.session_state.pop(NEXT)
    if st.session_state.get(KEY) not in VIEWS:
        st.session_state[KEY] = CHOOSE if workspace.pools.all() else POOLS if workspace.packs.all() else PROMPTS
    chosen = str(st.segmented_control("Step", VIEWS, key=KEY, required=True, label_visibility="collapsed") or PROMPTS)
    at = VIEWS.index(chosen)
    where = "" if chosen == CHOOSE or workspace.pools.all() else f"**No pool yet · step {at + 1} of {len(VIEWS)}.** "
    st.markdown(f"{where}{STEPS[at][1]}")
    return chosen


def at_hand(workspace: engine.Workspace, shown: str) -> None:
    """Draw the way past the first steps, for whoever has public text and needs no prompts; where no pool is here."""
    if shown != PROMPTS or workspace.pools.all():
        return
    with st.container(horizontal=True, vertical_alignment="center", key="pool.at_hand"):
        st.markdown("Public text of the same kind is at hand? Then nothing has to leave.", width="content")
        _way("Bring it in (step 3)", POOLS, icon=":material/download:", key="pool.at_hand.bring", primary=False)


def nothing(title: str, sentence: str, ways: Sequence[tuple[str, str, str, str]], *, key: str) -> None:
    """Say in a box that there is nothing yet, with the ways on, the first of them as the next step.

    Args:
        ways: label, part to show, icon and key of each button.
    """
    with st.container(border=True, key=f"{key}.box"):
        st.subheader(title, anchor=False)
        st.markdown(sentence)
        with st.container(horizontal=True):
            for place, (label, view, icon, button) in enumerate(ways):
                _way(label, view, icon=icon, key=button, primary=not place)


def _way(label: str, view: str, *, icon: str, key: str, primary: bool) -> None:
    """Draw the button that shows another part."""
    if st.button(label, icon=icon, key=key, type="primary" if primary else "secondary"):
        lead_on(view)
        st.rerun()


def lead_on(view: str) -> None:
    """Show another part the next time the page is drawn."""
    st.session_state[NEXT] = view
