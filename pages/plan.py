"""Plan: answer who the text is for, choose a method on its card, read what a run is worth, and start it."""

from __future__ import annotations

import streamlit as st

from pages._ui.corpus import nothing
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.language import tr
from pages._ui.plan import board

workspace = guard()

st.title(tr("Plan"), anchor=False)
corpus = current_corpus(workspace)
if corpus is None:
    nothing.draw(workspace, key="plan")
    st.stop()
board.draw(workspace, corpus)
