"""Which part of the pools page is shown; a step that was done leads on to the next one."""

from __future__ import annotations

import streamlit as st

POOLS, PROMPTS, LEFT = "Pools", "Write prompts", "What left"
KEY, NEXT = "pool.view", "_ui.pool.next_view"


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
