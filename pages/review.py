"""Review: find what identifies people in the text and decide on each finding."""

from __future__ import annotations

import streamlit as st

from pages._ui import acting, sidebar
from pages._ui.corpus import detector, nothing
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.language import mark, tr, translator
from pages._ui.parts.progress import job_progress, running_job
from pages._ui.review import bulk as review_bulk
from pages._ui.review import desk as review_desk
from pages._ui.review import named as review_named
from pages._ui.review import queue as review_queue
from pages._ui.review import rests as review_rests
from pages._ui.review import spot as review_spot
from pages._ui.review import values as review_values
from pages._ui.texts import plain, share

workspace = guard()

TEXTS, VALUES, BULK = review_spot.TEXTS, review_values.VIEW, mark("By type and confidence")
SPOT, NAMED, SETTINGS = review_spot.VIEW, mark("Named people"), mark("Detector settings")

head = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="review.head")
with head:
    st.title(tr("Review"), anchor=False)
corpus = current_corpus(workspace)
if corpus is None:
    nothing.draw(workspace, key="review")
    st.stop()

job = running_job(workspace, kind="detect", corpus_id=corpus.id)
if job is not None:
    st.markdown(
        tr(
            "Looking for identifiers in **{corpus}**. You can leave this page; the work goes on.",
            corpus=plain(corpus.name),
        )
    )
    job_progress(workspace, job.id, key="review.detect")
    st.session_state["review.view"] = TEXTS  # what was found is read text by text, wherever it was asked for
    st.stop()

review_queue.show_failure(workspace, corpus)
if corpus.span_source is None:
    detector.first_time(workspace, corpus)
    st.stop()
acting.ask(workspace, key="review", what=tr("Each decision"))

view = st.radio(
    tr("View"),
    [TEXTS, VALUES, BULK, SPOT, NAMED, SETTINGS],
    format_func=translator(),
    key="review.view",
    horizontal=True,
    label_visibility="collapsed",
    persist_state="session",
)
with head:  # beside the title, so that the work begins higher up
    if view in (TEXTS, VALUES, BULK):
        review_rests.draw(workspace, corpus.id)
    if view == TEXTS:
        asked = review_queue.filters()
        st.button(
            tr("Sort again"),
            key="review.sort",
            on_click=review_queue.sort_again,
            args=(corpus.id,),
            help=tr("The order stays as it is while you work. This sorts by the risk as it is now."),
        )
    elif view in (VALUES, BULK):
        st.button(
            tr("Undo"),
            key="review.undo",
            icon=":material/undo:",
            shortcut="Ctrl+Z",
            on_click=review_values.undo,
            args=(workspace, corpus.id),
            help=tr("Takes back the latest decision on this corpus, whoever made it."),
        )

proposed = view in (TEXTS, VALUES, BULK) and detector.proposal(workspace, corpus)
if view == SETTINGS:
    detector.panel(workspace, corpus)
elif view == VALUES:
    review_values.draw(workspace, corpus)
elif view == BULK:
    review_bulk.draw(workspace, corpus.id)
elif view == NAMED:
    review_named.draw(workspace, corpus)
elif view == SPOT:
    review_spot.draw(workspace, corpus.id)
elif review_queue.keep_order(workspace, corpus, asked):
    review_desk.draw(workspace, corpus.id, review_spot.brief(workspace, corpus.id), above=proposed)
    risk = workspace.values.residual_risk(corpus.id)
    with st.expander(tr("What the risk and the marks mean"), key="review.meaning"):
        st.markdown(
            tr(
                "**Risk**, a bar, is what the findings nobody looked at may let through: doubtful names and codes "
                "count most, and rare values more than those that stand in many places."
            )
            + "\n\n"
            + tr(
                "**Findings nobody looks at**: at or above its type's threshold a finding goes: it is "
                "replaced. Below it, it stays. That holds until a decision says otherwise."
            )
        )
    if risk is not None and sidebar.says(int(risk["records"]), corpus):
        st.caption(f"{plain(risk['sentence'])} " + tr("Upper bound: {share}.", share=share(risk["high"])))
else:
    st.info(tr("No text fits these filters. Clear them to see all."))
