"""What stands in place of every page while the workspace is locked: its passphrase or key file is asked for.

Privacy posture: what is typed is not shown, leaves the form when it is sent, and stands in no message.
"""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

import engine
from pages._ui.client import workspace_path
from pages._ui.texts import plain

FILE_HELP = "On the machine where the program runs. It is read once; its path is not kept."
WORDS, FILE, PROBLEM = "unlock.words", "unlock.file", "_ui.unlock.problem"
LOST = "Without that nobody can open it, not even whoever made this program."


def ask() -> NoReturn:
    """Ask for what opens the workspace, and go on once it was given."""
    by = engine.opens_with(workspace_path()) or "passphrase"
    st.title("The workspace is locked", anchor=False)
    st.markdown(
        f"It is encrypted, and this start of the program was not told its {by}. "
        f"Given once, it counts until the program and its worker stop. {LOST}"
    )
    key, label = (WORDS, "Passphrase") if by == "passphrase" else (FILE, "Path of the key file")
    with st.form("unlock"):
        if key == WORDS:
            st.text_input(label, type="password", autocomplete="current-password", key=key)
        else:
            st.text_input(label, help=FILE_HELP, key=key)
        st.form_submit_button(
            "Unlock", type="primary", icon=":material/lock_open:", key="unlock.do", on_click=_try, args=(key,)
        )
    problem = st.session_state.pop(PROBLEM, None)
    if problem:
        st.error(plain(problem), icon=":material/error:")
    st.caption(f"Or stop the program and start it with the environment variable UNDERSTUDY_KEY_FILE{_instead(by)}.")
    st.stop()
    raise AssertionError  # `st.stop` does not come back


def _instead(by: str) -> str:
    return " naming the key file" if by == "key file" else " once the workspace opens with a key file (`rekey`)"


def _try(key: str) -> None:
    given, st.session_state[key] = str(st.session_state[key]), ""  # nothing of it stays in the session
    try:
        engine.unlock_workspace(given, workspace_path())
    except engine.UserError as error:
        st.session_state[PROBLEM] = str(error)
