"""Review: find what identifies people in the text and decide on each finding."""

from __future__ import annotations

import streamlit as st

from pages._ui import detector, states
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.progress import job_progress, running_job
from pages._ui.review import card as review_card
from pages._ui.review import queue as review_queue
from pages._ui.review import text as review_text
from pages._ui.review import values as review_values
from pages._ui.texts import number, plain, share

workspace = guard()

TEXTS, VALUES, SETTINGS = "Text by text", "Value by value", "Detector settings"

st.title("Review", anchor=False)
corpus = current_corpus(workspace)
if corpus is None:
    states.empty("No corpus yet", "Load a file or try a sample first.", action="Load", page="load", key="review.empty")
    st.stop()

job = running_job(workspace, kind="detect", corpus_id=corpus.id)
if job is not None:
    st.markdown(f"Looking for identifiers in **{plain(corpus.name)}**. You can leave this page; the work goes on.")
    job_progress(workspace, job.id, key="review.detect")
    st.stop()

review_queue.show_failure(workspace, corpus)
if corpus.span_source is None:
    detector.first_time(workspace, corpus)
    st.stop()

counts = workspace.review.span_counts(corpus.id)
with st.grid(5, min_column_width=165):
    st.metric("Findings", number(counts["accepted"] + counts["rejected"]), border=True)
    st.metric("Will be replaced", number(counts["accepted"]), border=True, help="Accepted findings.")
    st.metric("Stay in the text", number(counts["rejected"]), border=True, help="Rejected findings.")
    st.metric("Decided by a person", number(counts["decided"]), border=True)
    st.metric("Not looked at", number(counts["undecided"]), border=True)
st.caption(
    "What happens to findings nobody looks at: at or above its type's threshold a finding counts as accepted and is "
    "replaced; below it the text stays. That holds until a decision says otherwise."
)
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    view = st.radio(
        "View",
        [TEXTS, VALUES, SETTINGS],
        key="review.view",
        horizontal=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    st.button(
        "Undo",
        key="review.undo",
        icon=":material/undo:",
        shortcut="Ctrl+Z",
        on_click=review_card.undo,
        args=(workspace, corpus.id),
        help="Takes back your latest decision on this corpus.",
    )

if view == SETTINGS:
    detector.panel(workspace, corpus)
elif view == VALUES:
    review_values.draw(workspace, corpus)
else:
    left, middle, right = st.columns([5, 10, 5], gap="small")
    with left:
        record_id = review_queue.draw(workspace, corpus)
    if record_id is None:
        middle.info("No text fits these filters. Clear them to see all.")
        st.stop()
    with middle:
        spans = review_text.draw(workspace, corpus.id, record_id)
    with right:
        review_card.draw(workspace, corpus.id, record_id, spans)

risk = workspace.values.residual_risk(corpus.id)
if risk is not None and view == TEXTS:
    st.caption(f"{plain(risk['sentence'])} Upper bound: {share(risk['high'])}.")
