"""Load: choose a file, map its columns, say who must be protected, set some records aside."""

from __future__ import annotations

import streamlit as st

from pages._ui import corpus_facts, once, states
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.load import file as load_file
from pages._ui.load import mapping as load_mapping
from pages._ui.texts import meaning, plain

workspace = guard()

st.title("Load", anchor=False)
corpus = current_corpus(workspace)
views = ["Load a file", "What was loaded"]
if corpus is not None:
    st.session_state.setdefault("load.view", st.session_state.pop(load_file.NEXT_VIEW, views[0]))
    view = st.radio("View", views, key="load.view", label_visibility="collapsed", horizontal=True)
else:
    view = views[0]

if view == views[1] and corpus is not None:
    st.subheader(plain(corpus.name), anchor=False)
    corpus_facts.draw(workspace, corpus)
    st.stop()

st.subheader("1 · Choose a file", anchor=False)
chosen = load_file.choose()
if chosen is None:
    st.caption("Next: columns, who must be protected, what is set aside. Nothing is stored before you import.")
    st.stop()
preview = load_file.preview(workspace, chosen)
if preview is None:
    st.stop()

st.subheader("2 · Map the columns", anchor=False)
load_mapping.show_rows(preview, chosen)
mapping = load_mapping.ask(preview, chosen)
if mapping is None:
    states.failed("No column is left for the text", "Each column was given another role.", "Choose a text column.")
    st.stop()

st.subheader("3 · Who must be protected?", anchor=False, help=meaning("unit of protection"))
unit, cap, cap_public = load_mapping.ask_unit(mapping, chosen)

st.subheader("4 · Set some aside", anchor=False, help=meaning("holdout"))
holdout = load_mapping.ask_holdout(preview, unit)

st.subheader("5 · Import", anchor=False)
st.text_input("Name of the corpus", value=chosen.stem, key=f"load.name.{chosen.digest}", max_chars=120)
ready = unit == "record" or mapping.source_id is not None
# Read in the body, not in a callback: a callback would get the answers of the run before.
if not st.button("Import", type="primary", icon=":material/check:", key="load.import", disabled=not ready):
    once.rearm(f"load.{chosen.digest}")
elif load_file.import_chosen(workspace, chosen, mapping, unit, cap, cap_public, holdout):
    st.rerun()
st.caption("Importing copies the text into the workspace on this machine. The file itself stays as it is.")
