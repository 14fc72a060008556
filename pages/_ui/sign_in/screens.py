"""What a visitor sees who has not signed in, holds no role, rested too long, or has not said why they look."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import streamlit as st

import engine
from pages._ui import states
from pages._ui.sign_in.oidc import Oidc
from pages._ui.sign_in.settings import Way
from pages._ui.texts import plain

OTHER = "Another reason"


def _stop() -> NoReturn:
    st.stop()
    raise AssertionError  # `st.stop` does not come back


def sign_in(chosen: Way) -> NoReturn:
    """Ask a visitor to sign in."""
    st.title("Please sign in", anchor=False)
    if isinstance(chosen, Oidc):
        st.markdown("This program holds private text. It opens for people of this office who hold a role here.")
        st.button("Sign in", type="primary", key="sign_in.go", on_click=to_provider)
        _stop()
    st.error("The proxy in front of this program did not say who you are.", icon=":material/error:")
    st.markdown("Open the address that your office gave you, and sign in there.")
    _stop()


def to_provider() -> None:
    """Send the browser to the provider's page; used as a callback."""
    st.login()


def turned_away(sentence: str, on_click: Callable[[], None]) -> NoReturn:
    """Tell somebody that their sign-in does not count here, or no longer."""
    st.title("Please sign in again", anchor=False)
    st.error(plain(sentence), icon=":material/error:")
    st.button("Sign in again", type="primary", key="sign_in.go", on_click=on_click)
    _stop()


def no_role(identity: str, chosen: Way, *, nobody: bool, other: Callable[[], None]) -> NoReturn:
    """Tell somebody who signed in that they hold no role here; with a provider, they may leave as another."""
    st.title("You are signed in, but hold no role here", anchor=False)
    st.markdown("A custodian of this workspace can give you one, under Settings. They will ask what you are called:")
    st.code(identity, language=None)
    if nobody:
        st.markdown("Nobody holds a role yet. Whoever runs this program names the first custodian, on its machine:")
        st.code("python -m engine people --add IDENTITY --name NAME --role custodian", language=None)
    if isinstance(chosen, Oidc):
        st.button("Sign out", key="sign_in.out", on_click=other)
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
