"""The middle of the review page: one text with its marks, and how it will look."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from pages._ui.highlight import LABEL_HUES, Mark, highlight, segments
from pages._ui.review import state as review_state
from pages._ui.texts import count_of, label_name

PENDING_ID = "pending"


def marks_of(spans: Sequence[engine.SpanView]) -> list[Mark]:
    """Return one mark a finding."""
    return [
        Mark(
            start=span.start,
            end=span.end,
            label=label_name(span.label),
            id=span.span_id,
            hue=LABEL_HUES.get(span.label, 6),
            strength=span.score,
            decided=span.decided,
            struck=span.state == "rejected",
        )
        for span in spans
    ]


def draw(workspace: engine.Workspace, corpus_id: str, record_id: str) -> list[engine.SpanView]:
    """Draw the text; return the frame of its findings."""
    text = workspace.review.record_text(corpus_id, record_id)
    spans = workspace.review.spans(corpus_id, record_id)
    left = sum(not span.decided for span in spans)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.text(f"Text {record_id}")
        st.caption(f"{count_of(len(spans), 'finding')}, {left} not looked at", width="content")
    pending = st.session_state.get(review_state.PENDING)
    marks = marks_of(spans)
    if pending and pending["record_id"] == record_id:
        free = [mark for mark in marks if mark.end <= pending["start"] or mark.start >= pending["end"]]
        marks = [*free, Mark(pending["start"], pending["end"], "new", id=PENDING_ID, hue=6)]
    with st.container(border=True, key="review.text"):
        highlight(
            segments(text, marks),
            key=f"review.marks.{record_id}",
            active=review_state.current_span(corpus_id, spans),
            on_pick=lambda span_id: review_state.choose_span(corpus_id, span_id),
            on_mark=lambda start, end: _remember(record_id, text, start, end),
            label="The original text with what was found",
        )
    st.caption(
        "Solid frame: decided by a person. Dashed: not looked at. Struck through: stays in the text. "
        "The paler a mark, the less sure the detector was."
    )
    st.markdown("**As it will look**")
    with st.container(border=True, key="review.redacted"):
        redacted = workspace.review.redacted(corpus_id, record_id)
        highlight(segments(redacted, []), key=f"review.redacted.{record_id}", label="The text after replacement")
    return spans


def _remember(record_id: str, text: str, start: int, end: int) -> None:
    """Keep what was selected, without the spaces around it, until a type is chosen."""
    start, end = max(0, start), min(len(text), end)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        st.session_state[review_state.PENDING] = {"record_id": record_id, "start": start, "end": end}
