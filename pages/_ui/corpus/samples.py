"""Cards of the made-up sample corpora.

How to use: `cards(workspace, key="home.sample")`; a press imports the sample and makes it current.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

import engine
from engine import DetectorSettings, proposed_preset
from pages._ui.current import choose_corpus
from pages._ui.parts import once
from pages._ui.sign_in.closed import only
from pages._ui.states import act
from pages._ui.texts import count_of, number, plain

FIRST = "support_tickets"  # what a first release is shown with


def try_sample(workspace: engine.Workspace, sample_id: str) -> None:
    """Import a sample and make it the current corpus; a callback."""
    with st.spinner("Writing the sample corpus …"):
        corpus = once.act(f"sample.{sample_id}", partial(act, import_one, workspace, sample_id))
    if corpus is not None:
        choose_corpus(corpus.id)


def import_one(workspace: engine.Workspace, sample_id: str) -> engine.CorpusSummary:
    """Import a sample, to be read as the kind of text that its title tells; no record is looked at for that."""
    corpus = workspace.corpora.import_sample(sample_id)
    kind = proposed_preset([corpus.name])
    if kind is not None:
        workspace.review.set_detector_settings(corpus.id, DetectorSettings(preset=kind))
    return corpus


def begin(workspace: engine.Workspace, *, key: str, label: str) -> None:
    """Draw the button that imports the sample with which a first release is shown."""
    st.button(label, key=key, on_click=try_sample, args=(workspace, FIRST), **only(engine.Right.MANAGE))
    once.rearm(f"sample.{FIRST}")


def cards(workspace: engine.Workspace, *, key: str) -> None:
    """Draw one card a sample, equally high, first the one that a first release begins with."""
    with st.grid(3, min_column_width=200):  # three in a row beside the sidebar of a small screen too
        for sample in sorted(workspace.corpora.samples(), key=lambda one: one.id != FIRST):
            with st.container(border=True, height="stretch", key=f"{key}.card.{sample.id}"):
                st.markdown(f"**{plain(sample.title)}**")
                st.markdown(plain(sample.description))
                st.caption(f"{count_of(sample.records, 'record')} · {number(sample.sources)} people or cases")
                st.space("stretch")
                st.button(
                    f"Try {sample.title[0].lower()}{sample.title[1:]}",
                    key=f"{key}.try.{sample.id}",
                    on_click=try_sample,
                    args=(workspace, sample.id),
                    width="stretch",
                    **only(engine.Right.MANAGE),
                )
                once.rearm(f"sample.{sample.id}")
