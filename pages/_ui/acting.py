"""Who acts: asked for at the first decision that a name stands beside, not taken from a default.

How to use: `acting.ask(workspace, key="review", what="Each decision")` where decisions begin; the page ends there until
somebody gave a name. It is kept with the workspace and can be changed on the Settings page.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.language import tr
from pages._ui.states import act


def ask(workspace: engine.Workspace, *, key: str, what: str) -> None:
    """Ask for the name of the person at work, once, and stop the page until it is given."""
    if workspace.settings.named:
        return
    field = f"{key}.actor"
    with st.container(border=True, key=f"{key}.who"):
        st.markdown(
            tr("**Who is at work here?** {what} stands in the audit log under the name of whoever took it.", what=what)
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(tr("Your name"), key=field, max_chars=80, width=320, on_change=_keep, args=(workspace, field))
            st.button(tr("Go on under this name"), type="primary", key=f"{field}.keep", on_click=_keep,
                      args=(workspace, field, True))  # fmt: skip
        st.caption(tr("It stays on this machine, and can be changed on the Settings page."))
    st.stop()


def _keep(workspace: engine.Workspace, field: str, pressed: bool = False) -> None:
    """Keep the name that was typed; an empty field is a mistake only where somebody pressed the button."""
    typed = str(st.session_state.get(field) or "")
    if typed.strip() or (pressed and not workspace.settings.named):
        act(workspace.settings.set_actor, typed)
