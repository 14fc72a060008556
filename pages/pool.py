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

TRIED = (
    "In one test it came nearest to the original of three methods with a proof: for 300 abstracts of biology, with "
    "3,000 abstracts from arXiv as the pool and ε = 4, its distance to the real text was 0.17, that of the others 0.48 "
    "and 0.55, and 0.78 where no private text was read."
)

st.title("Pools", anchor=False, help=f"{meaning('pool', 'prompt pack')}\n\n{TRIED}")
st.markdown(
    "For a large model elsewhere that may not see the private text: write prompts → have them answered there → load "
    "the answers → let the private records choose among them, under a proven bound. This page opens no connection; "
    "you carry the files.\n\n"
    "Use it when a larger model, or public text of the same kind, can be had elsewhere. Not when a model here writes "
    "this kind of text well, or only text of another kind can be had: what a pool lacks cannot be chosen."
)
corpus = current_corpus(workspace)
view = pool_view.choose(workspace)
pool_view.at_hand(workspace, view)
if view == pool_view.PROMPTS:
    pool_pack.draw(workspace, corpus)
elif view == pool_view.LEFT:
    pool_packs.draw(workspace)
elif view == pool_view.POOLS:
    pool_upload.draw(workspace)
else:
    pool_listed.draw(workspace, corpus)
    pool_view.to_plan(workspace, corpus)
