"""The main script: page configuration, guard, navigation, sidebar, then the chosen page.

No folder `pages/` lies beside this file, so legacy page discovery never arms. Pages are files
given by absolute path; each starts with `guard()`, which asks for the mark set here.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Streamlit puts the script's folder on the path, where its modules would shadow others' names.
sys.path[:] = [entry for entry in sys.path if entry != str(ROOT / "pages" / "_ui")]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

import engine  # noqa: E402
from pages._ui import frame, sidebar, states  # noqa: E402
from pages._ui.guard import ADMITTED, admit  # noqa: E402
from pages._ui.language import choice, tr  # noqa: E402
from pages._ui.navigation import shows_text, streamlit_pages, translated  # noqa: E402
from pages._ui.sign_in import closed, screens, visitor  # noqa: E402

st.set_page_config(page_title="Understudy", page_icon=str(ROOT / "assets" / "icons" / "understudy.svg"), layout="wide")
frame.draw()
choice.begin()
st.logo(str(ROOT / "assets" / "icons" / "understudy-wordmark.svg"), size="large")
page = st.navigation(streamlit_pages(visitor.may), position="top")
workspace = admit()
choice.settle(workspace)
if sidebar.left():
    st.stop()
st.session_state[ADMITTED] = True
try:
    sidebar.draw(workspace, translated(page))
    choice.page(translated(page))
    states.flash()
    closed.read_only()
    if shows_text(page) and visitor.owes_reason():
        st.title(page.title, anchor=False)
        screens.ask_reason(workspace)
    else:
        page.run()
except engine.ReasonNeededError as error:  # the reason they gave counts no more: the page asks for another
    asks = shows_text(page)
    states.refused(str(error), tr("Say it below.") if asks else tr("Open a page that shows text, and say it there."))
    if asks:
        screens.ask_reason(workspace)
except engine.NotAllowedError as error:
    states.refused(str(error), tr("Ask a custodian of this workspace, or somebody who holds that role."))
finally:
    st.session_state.pop(ADMITTED, None)
