"""Home: corpora as rows, each with how far it is and its next step."""

from __future__ import annotations

import streamlit as st

from pages._ui import corpus_rows, samples
from pages._ui.current import corpora
from pages._ui.guard import guard
from pages._ui.navigation import go
from pages._ui.pager import pager

workspace = guard()
PAGE_SIZE = 8

st.title("Home", anchor=False)
known = corpora(workspace)

if not known:
    st.markdown(
        "Understudy makes synthetic text that can stand in for private text, measures how much of the "
        "original leaks, and releases only what a policy and a person let through. "
        "Nothing leaves this machine."
    )
    with st.container(border=True, key="home.empty"):
        st.subheader("Start with your own text", anchor=False)
        st.markdown("A table or a folder of texts: CSV, JSON, Excel, Parquet or a zip of text files.")
        if st.button("Load your own", type="primary", icon=":material/upload_file:", key="home.load"):
            go("load")
    st.subheader("Or try one of these", anchor=False)
    st.caption("Made up from beginning to end: no person in them exists.")
    samples.cards(workspace, key="home.sample")
    st.stop()

with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.subheader(f"Your corpora ({len(known)})", anchor=False, width="content")
    if st.button("Load another", icon=":material/upload_file:", key="home.load"):
        go("load")
offset, limit = (
    pager(len(known), key="home.page", size=PAGE_SIZE, noun="corpora") if len(known) > PAGE_SIZE else (0, 99)
)
for corpus in known[offset : offset + limit]:
    corpus_rows.draw(workspace, corpus)

with st.expander("Try a made-up sample", icon=":material/science:", key="home.samples"):
    samples.cards(workspace, key="home.sample")
