"""Which text and which finding the review page looks at, for one browser tab."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine

PENDING = "_ui.review.pending"


def _key(corpus_id: str, what: str) -> str:
    return f"_ui.review.{what}.{corpus_id}"


def record(corpus_id: str) -> str | None:
    """Return the text being looked at."""
    value: str | None = st.session_state.get(_key(corpus_id, "record"))
    return value


def open_record(corpus_id: str, record_id: str | None) -> None:
    """Look at a text; its first undecided finding becomes the current one."""
    st.session_state[_key(corpus_id, "record")] = record_id
    choose_span(corpus_id, None)


def span(corpus_id: str) -> str | None:
    """Return the finding whose card is shown, or None for the first undecided one."""
    value: str | None = st.session_state.get(_key(corpus_id, "span"))
    return value


def choose_span(corpus_id: str, span_id: str | None) -> None:
    """Show a finding's card and forget a half-made addition."""
    st.session_state[_key(corpus_id, "span")] = span_id
    st.session_state.pop(PENDING, None)


def remember(corpus_id: str, span_id: str | None) -> None:
    """Note where the latest decision of this tab was made, for undo."""
    st.session_state.setdefault(_key(corpus_id, "made"), []).append((record(corpus_id), span_id))


def go_back(corpus_id: str) -> None:
    """Open the text and finding of the latest decision of this tab, once for each."""
    made: list[tuple[str | None, str | None]] = st.session_state.get(_key(corpus_id, "made"), [])
    if made:
        record_id, span_id = made.pop()
        st.session_state[_key(corpus_id, "record")] = record_id
        choose_span(corpus_id, span_id)


def current_span(corpus_id: str, spans: Sequence[engine.SpanView]) -> str | None:
    """Return the chosen finding, else the first undecided, else the first; None without any."""
    ids = [span.span_id for span in spans]
    chosen = span(corpus_id)
    if chosen in ids:
        return chosen
    undecided = [span.span_id for span in spans if not span.decided]
    return next(iter([*undecided, *ids]), None)


def neighbour(ids: list[str], current: str | None, step: int) -> str | None:
    """Return the finding `step` places on, or None past either end."""
    if current not in ids:
        return ids[0] if ids else None
    place = ids.index(current) + step
    return ids[place] if 0 <= place < len(ids) else None
