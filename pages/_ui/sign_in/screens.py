"""What a visitor sees who has not signed in, holds no role, rested too long, or has not said why they look."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import streamlit as st

import engine
from pages._ui import states

OTHER = "Another reason"


def _stop() -> NoReturn:
    st.stop()
    raise AssertionError  # `st.stop` does not come back


def sign_in() -> NoReturn:
    """Ask a visitor to sign in."""
    st.title("Please sign in", anchor=False)
    st.error("The proxy in front of this program did not say who you are.", icon=":material/error:")
    st.markdown("Open the address that your office gave you, and sign in there.")
    _stop()


def no_role(identity: str, *, nobody: bool) -> NoReturn:
    """Tell somebody who signed in that they hold no role here."""
    st.title("You are signed in, but hold no role here", anchor=False)
    st.markdown("A custodian of this workspace can give you one, under Settings. They will ask what you are called:")
    st.code(identity, language=None)
    if nobody:
        st.markdown("Nobody holds a role yet. Whoever runs this program names the first custodian, on its machine:")
        st.code("python -m engine people --add IDENTITY --name NAME --role custodian", language=None)
    _stop()


def ended(minutes: int, again: Callable[[], None]) -> NoReturn:
    """Tell somebody that their session ended."""
    st.title("Your session ended", anchor=False)
    st.markdown(
        f"Nothing happened for {minutes} minutes, so nothing of the text stays on this screen. Your work is saved."
    )
    st.button("Go on", type="primary", key="sign_in.again", on_click=again)
    _stop()


def ask_reason(workspace: engine.Workspace) -> None:
    """Ask why text of records is looked at; the page goes on once it is said."""
    with st.container(border=True, key="sign_in.reason"):
        st.markdown("**Why do you look at text of records?** Your answer stands in the audit log beside your name.")
        chosen = st.radio(
            "Reason", [*engine.LOOK_REASONS, OTHER], key="sign_in.reason.choice", label_visibility="collapsed"
        )
        if chosen == OTHER:
            st.text_input("Your reason, without names of people", key="sign_in.reason.words", max_chars=200)
        st.button("Show the text", type="primary", key="sign_in.reason.give", on_click=_give, args=(workspace,))


def _give(workspace: engine.Workspace) -> None:
    chosen = str(st.session_state["sign_in.reason.choice"])
    words = str(st.session_state.get("sign_in.reason.words") or "") if chosen == OTHER else chosen
    if workspace.visit is not None:
        states.act(workspace.visit.give_reason, words)
