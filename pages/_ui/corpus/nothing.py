"""What a page says in a workspace without a corpus, and the two ways on: one's own file, or a made-up sample.

How to use:
    if corpus is None:
        nothing.draw(workspace, key="plan")
        st.stop()
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.corpus import samples
from pages._ui.language import tr
from pages._ui.navigation import go, page_only


def draw(workspace: engine.Workspace, *, key: str) -> None:
    """Draw both ways; what a role does not open is grey."""
    with st.container(border=True, key=f"{key}.nothing"):
        st.subheader(tr("Nothing loaded yet"), anchor=False)
        st.markdown(tr("Load a file of private text, or begin with a sample in which nobody exists."))
        with st.container(horizontal=True):
            if st.button(tr("Load a file"), type="primary", key=f"{key}.load", **page_only("load")):
                go("load")
            samples.begin(workspace, key=f"{key}.sample", label=tr("Start with a made-up sample"))
