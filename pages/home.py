"""Home: the way to a first release, what is next and what happened last, and the corpora with how far each is."""

from __future__ import annotations

import streamlit as st

from pages._ui.corpus import corpus_rows, samples
from pages._ui.current import corpora, corpus_names, current_corpus
from pages._ui.guard import guard
from pages._ui.home import activity, first_steps
from pages._ui.navigation import go, page_only
from pages._ui.parts.pager import pager
from pages._ui.texts import count_of

workspace = guard()
PAGE_SIZE = 8

st.title("Home", anchor=False)
known = corpora(workspace)

if not known:
    st.markdown(
        "Understudy makes synthetic text that can stand in for private text, measures how much of the "
        "original leaks, and releases only what a policy and a person let through. "
        "Nothing leaves this machine unless you ask for it."
    )
    first_steps.draw(workspace, None, {})
    st.subheader("Samples to try it on", anchor=False)
    st.caption("Made up from beginning to end: no person in them exists.")
    samples.cards(workspace, key="home.sample")
    st.stop()

current, names = current_corpus(workspace), corpus_names(workspace, known)
guided = first_steps.draw(workspace, current, names)
activity.draw(workspace, known, names)
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.subheader(f"Your corpora ({len(known)})", anchor=False, width="content")
    if st.button("Load another", icon=":material/upload_file:", key="home.load", **page_only("load")):
        go("load")
counted = count_of(len(known), "corpus", "corpora")
paged = len(known) > PAGE_SIZE
offset, limit = pager(len(known), key="home.page", size=PAGE_SIZE, counted=counted) if paged else (0, 99)
for corpus in known[offset : offset + limit]:
    leads = not guided and current is not None and corpus.id == current.id
    corpus_rows.draw(workspace, corpus, names[corpus.id], leads=leads)

with st.expander("Try a made-up sample", icon=":material/science:", key="home.samples"):
    samples.cards(workspace, key="home.sample")
