"""The guard that opens every page.

How to use: each script in `pages/` imports `guard` and calls it before anything else:

    from pages._ui.guard import guard
    workspace = guard()

It stops a script that did not come through `main.py` (a legacy deep link would skip the sidebar
and every check), a visitor that is not on this machine, and a workspace that cannot be opened.
"""

from __future__ import annotations

import ipaddress

import streamlit as st

import engine
from pages._ui import states
from pages._ui.client import client

ADMITTED = "_ui.admitted"


def visitor_is_local(address: str | None) -> bool:
    """Return whether the browser is on this machine; Streamlit reports a local one as None."""
    if not isinstance(address, str):  # None for a local browser; AppTest has no connection at all
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def guard() -> engine.Workspace:
    """Return the workspace, or stop the page with a sentence that says what to do."""
    if not st.session_state.get(ADMITTED):
        states.full_page(
            "Please open this page through the menu",
            "The address you followed skipped the start of the application.",
            "Go to the first page and choose the page from the menu at the top.",
        )
        st.stop()
    return admit()


def admit() -> engine.Workspace:
    """Check the visitor and open the workspace; used by `main.py` before it draws anything."""
    if not visitor_is_local(st.context.ip_address):
        states.full_page(
            "This application answers only on its own machine",
            "It holds private text and has no sign-in, so it is not served to other computers.",
            "Open it on the machine where it runs, at http://localhost and the port it printed.",
        )
        st.stop()
    try:
        return client()
    except engine.UserError as error:
        states.full_page(
            "The workspace cannot be opened",
            str(error),
            "Nothing was changed. Correct this, then reload the page; or stop the program in its terminal and start it "
            "on another folder:",
            "streamlit run app.py -- --workspace FOLDER",
        )
        st.stop()
