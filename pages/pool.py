"""Pools: prompts go out so that text can be made elsewhere; the text comes back as a pool to choose from."""

from __future__ import annotations

import streamlit as st

from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.pool import listed as pool_listed
from pages._ui.pool import pack as pool_pack
from pages._ui.pool import packs as pool_packs
from pages._ui.pool import upload as pool_upload
from pages._ui.pool import view as pool_view
from pages._ui.texts import meaning

workspace = guard()

st.title("Pools", anchor=False, help=meaning("pool", "prompt pack"))
st.markdown(
    "Use it when you may ask a large model elsewhere, but may not send it the private text. What it writes is chosen "
    "here by the private records, under a proven bound. This page opens no connection; you carry the files."
)
pool_view.steps()
st.caption(
    "It helps where no model here writes this kind of text: on 300 abstracts that were unlike what the built-in model "
    "knows, texts chosen from public abstracts came nearest to the private ones of the three methods measured. "
    "The pool must hold text of the same kind; what it lacks cannot be chosen."
)
corpus = current_corpus(workspace)
view = pool_view.choose(workspace)
if view == pool_view.PROMPTS:
    st.subheader("1 · What leaves", anchor=False)
    pool_pack.draw(workspace, corpus)
elif view == pool_view.LEFT:
    st.subheader("2 · Run it elsewhere", anchor=False)
    pool_packs.draw(workspace)
else:
    st.subheader("3 · Bring it back", anchor=False)
    pool_upload.draw(workspace)
    st.subheader("4 · Choose", anchor=False)
    pool_listed.draw(workspace, corpus)
    pool_view.to_plan(workspace, corpus)
