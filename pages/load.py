"""Load: choose a file, map its columns, say who must be protected, set some records aside."""

from __future__ import annotations

import streamlit as st

from pages._ui import states
from pages._ui.corpus import corpus_facts
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.language import mark, tr, translator
from pages._ui.load import aside as load_aside
from pages._ui.load import file as load_file
from pages._ui.load import mapping as load_mapping
from pages._ui.parts import once, top
from pages._ui.texts import meaning

workspace = guard()

st.title(tr("Load"), anchor=False)
corpus = current_corpus(workspace)
views = [corpus_facts.LOAD_VIEW, mark("What was loaded")]
if corpus is not None:
    if (following := st.session_state.pop(load_file.NEXT_VIEW, None)) is not None:
        top.scroll()
    st.session_state.setdefault("load.view", following or views[0])
    view = st.radio(
        tr("View"), views, format_func=translator(), key="load.view", label_visibility="collapsed", horizontal=True
    )
else:
    view = views[0]

if view == views[1] and corpus is not None:
    corpus_facts.draw(workspace, corpus)
    st.stop()

st.subheader(tr("1 · Choose a file"), anchor=False)
chosen = load_file.choose()
if chosen is None:
    st.caption(tr("Next: columns, who must be protected, what is set aside. Nothing is stored before you import."))
    st.stop()
preview = load_file.preview(workspace, chosen)
if preview is None:
    st.stop()

st.subheader(tr("2 · Map the columns"), anchor=False)
load_mapping.show_rows(preview, chosen)
mapping = load_mapping.ask(preview, chosen)
if mapping is None:
    states.failed(
        tr("No column is left for the text"), tr("Each column was given another role."), tr("Choose a text column.")
    )
    st.stop()

st.subheader(tr("3 · Who must be protected?"), anchor=False, help=meaning("unit of protection"))
unit, cap, cap_public = load_mapping.ask_unit(mapping, chosen)

st.subheader(tr("4 · Set some aside"), anchor=False, help=meaning("holdout"))
holdout = load_aside.ask(workspace, preview, chosen, mapping, unit)

st.subheader(tr("5 · Import"), anchor=False)
st.text_input(tr("Name of the corpus"), value=chosen.stem, key=f"load.name.{chosen.digest}", max_chars=120)
ready = unit == "record" or mapping.source_id is not None
# Read in the body, not in a callback: a callback would get the answers of the run before.
if not st.button(tr("Import"), type="primary", icon=":material/check:", key="load.import", disabled=not ready):
    once.rearm(f"load.{chosen.digest}")
elif load_file.import_chosen(workspace, chosen, mapping, unit, cap, cap_public, holdout):
    st.rerun()
st.caption(tr("Importing copies the text into the workspace on this machine. The file itself stays as it is."))
