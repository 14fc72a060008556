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
from pages._ui.language import mark, tr
from pages._ui.navigation import go, page_only

# page -> what is done on it
ABOUT = {
    "review": mark("Here you decide text by text what identifies somebody and has to go, and what may stay."),
    "plan": mark("Here you choose how synthetic text is made, what is promised of each person and what that costs."),
    "run": mark("Here you follow the making of synthetic text, and read what was made."),
    "privacy": mark("Here you see what a run's texts give away about the people behind them, and to whom they may go."),
    "utility": mark("Here you see what a run's texts can be used for, held against real text."),
    "compare": mark(
        "Here you put examined runs side by side: what leaks, what is promised, what the text is good for."
    ),
    "release": mark("Here you approve records, see which rules are met, and build the files that may leave."),
    "study": mark("Here you measure a question over many runs."),
}


def draw(workspace: engine.Workspace, *, key: str) -> None:
    """Say what the page is for and draw both ways; what a role does not open is grey.

    Args:
        key: one of `ABOUT`.
    """
    with st.container(border=True, key=f"{key}.nothing"):
        st.subheader(tr("Nothing loaded yet"), anchor=False)
        st.markdown(tr(ABOUT[key]))
        st.markdown(tr("Load a file of private text, or begin with a sample in which nobody exists."))
        with st.container(horizontal=True):
            if st.button(tr("Load a file"), type="primary", key=f"{key}.load", **page_only("load")):
                go("load")
            samples.begin(workspace, key=f"{key}.sample", label=tr("Start with a made-up sample"))
