"""The guard that opens every page.

How to use: each script in `pages/` imports `guard` and calls it before anything else:

    from pages._ui.guard import guard
    workspace = guard()

It stops a script that did not come through `main.py` (a legacy deep link would skip the sidebar
and every check), a server that was started without the door, and a workspace that cannot be opened. Where it is
locked, its passphrase is asked for first.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime import Runtime, get_instance

import engine
from pages._ui import states
from pages._ui.client import client
from pages._ui.door import door, unlock
from pages._ui.language import tr
from pages._ui.sign_in import screens, settings, visitor

ADMITTED = "_ui.admitted"


def behind_the_door() -> bool:
    """Return whether this script is served through the door; tests of pages draw them without any server."""
    return door.stands() or type(get_instance()) is not Runtime


def guard() -> engine.Workspace:
    """Return the workspace, or stop the page with a sentence that says what to do."""
    if not st.session_state.get(ADMITTED):
        states.full_page(
            tr("Please open this page through the menu"),
            tr("The address you followed skipped the start of the application."),
            tr("Go to the first page and choose the page from the menu at the top."),
        )
        st.stop()
    return admit()


def admit() -> engine.Workspace:
    """Check the door and open the workspace; used by `main.py` before it draws anything."""
    if not behind_the_door():
        states.full_page(
            tr("The program was started without its door"),
            tr("This page was started as a script of its own, so nothing decides who may come in."),
            tr("Stop it in its terminal, then start the program:"),
            "streamlit run app.py",
        )
        st.stop()
    chosen = settings.current()
    try:
        opened = client()
    except engine.LockedError:
        if chosen is not None and not visitor.identity_of(chosen):
            screens.sign_in(chosen)
        unlock.ask()
    except engine.UserError as error:
        states.full_page(
            tr("The workspace cannot be opened"),
            str(error),
            tr(
                "Nothing was changed. Correct this, then reload the page; or stop the program in its terminal and "
                "start it on another folder:"
            ),
            "streamlit run app.py -- --workspace FOLDER",
        )
        st.stop()
    return opened if chosen is None else visitor.admit(opened, chosen)
