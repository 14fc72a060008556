"""The left column of the review page: texts by risk, with filters and pages."""

from __future__ import annotations

from typing import Literal, TypedDict

import streamlit as st

import engine
from engine import LABELS
from pages._ui import states
from pages._ui.pager import digest, offset_of, pager
from pages._ui.review import state as review_state
from pages._ui.sliders import slider
from pages._ui.texts import label_name

SIZE = 25
PAGER = "review.queue.page"
STATES = {"All": None, "Not looked at": "undecided", "Accepted": "accepted", "Rejected": "rejected"}
ORDERS: dict[str, Literal["risk", "position"]] = {"Riskiest first": "risk", "In the file's order": "position"}


def show_failure(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Say so where the latest detection of this corpus failed or was cancelled."""
    tries = [
        job for job in workspace.jobs.all(active_only=False) if job.kind == "detect" and job.corpus_id == corpus.id
    ]
    latest = max(tries, key=lambda job: job.created, default=None)
    if latest is None or latest.state not in ("failed", "cancelled"):
        return
    if latest.state == "cancelled":
        st.caption("The latest look for identifiers was cancelled before its end.")
        return
    states.failed("Looking for identifiers stopped", latest.error, "Start it again below; your decisions are kept.")


class Filters(TypedDict):
    """What the queue is asked for."""

    labels: tuple[str, ...]
    state: str | None
    below_score: float | None
    search: str | None
    order: Literal["risk", "position"]


def filters() -> Filters:
    """Draw the filters; return the arguments of `review_queue`."""
    with st.popover("Filters", icon=":material/filter_list:", key="review.filters", width="stretch"):
        labels = st.multiselect(
            "Types", list(LABELS), format_func=label_name, key="review.filter.labels", persist_state="session"
        )
        state = st.selectbox("Decision", list(STATES), key="review.filter.state", persist_state="session")
        below = slider(
            "Confidence below", 0.0, 1.0, 1.0, 0.05, key="review.filter.below", persist=True,
            help="Shows texts with a finding the detector was less sure of.",
        )  # fmt: skip
        search = st.text_input("Words in the text", key="review.filter.search", persist_state="session")
        order = st.radio("Order", list(ORDERS), key="review.filter.order", persist_state="session")
    return {
        "labels": tuple(labels),
        "state": STATES[state],
        "below_score": below if below < 1.0 else None,
        "search": (search or "").strip() or None,
        "order": ORDERS[order],
    }


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> str | None:
    """Draw the queue; return the id of the text to show, or None where nothing fits."""
    asked = filters()
    frame, total = workspace.review.queue(corpus.id, offset=offset_of(PAGER, SIZE), limit=SIZE, **asked)
    if frame.empty and total:
        st.session_state.pop(PAGER, None)
        frame, total = workspace.review.queue(corpus.id, offset=0, limit=SIZE, **asked)
    if frame.empty:
        st.caption("No text fits.")
        return None
    ids = [str(record_id) for record_id in frame["record_id"]]
    chosen = review_state.record(corpus.id)
    if chosen is None:
        review_state.open_record(corpus.id, ids[0])
        chosen = ids[0]
    done = dict(zip(ids, frame["reviewed"], strict=True))
    shown = frame[["record_id", "undecided", "risk"]].assign(
        now=["▸" if record_id == chosen else "✓" if done[record_id] else "" for record_id in ids]
    )
    key = f"review.queue.{digest([corpus.id, *ids])}"
    st.dataframe(
        shown[["now", "record_id", "undecided", "risk"]],
        key=key,
        hide_index=True,
        height=420,
        on_select=lambda: _select(corpus.id, key, ids),
        selection_mode="single-row",
        column_config={
            "now": st.column_config.TextColumn("", width=20),
            "record_id": st.column_config.TextColumn("Text"),
            "undecided": st.column_config.NumberColumn("Open", help="Findings nobody has decided on.", width=50),
            "risk": st.column_config.NumberColumn(
                "Risk",
                format="%.2f",
                width=48,
                help="What the undecided findings may let through, 0 to 1. Doubtful names and codes count most, and "
                "rare values more than those that stand in many places.",
            ),
        },
        alt="Texts to review, riskiest first",
    )
    pager(total, key=PAGER, size=SIZE, noun="texts")
    st.session_state["_ui.review.upcoming"] = [
        record_id for record_id, reviewed in zip(ids, frame["reviewed"], strict=True) if not reviewed
    ]
    st.session_state["_ui.review.order"] = ids
    return chosen


def _select(corpus_id: str, key: str, ids: list[str]) -> None:
    rows = st.session_state[key].selection.rows
    if rows and rows[0] < len(ids):
        review_state.open_record(corpus_id, ids[rows[0]])


def next_record(corpus_id: str, step: int = 1) -> None:
    """Open the next text of the queue (or the one before); a callback."""
    ids: list[str] = st.session_state.get("_ui.review.order", [])
    waiting: list[str] = st.session_state.get("_ui.review.upcoming", [])
    chosen = review_state.record(corpus_id)
    after = ids[ids.index(chosen) + 1 :] if chosen in ids else ids
    if step > 0:
        target = next((r for r in after if r in waiting), None) or next((r for r in waiting if r != chosen), None)
    else:
        target = review_state.neighbour(ids, chosen, -1)
    if target is None:
        states.notice("No further text waits on this page of the queue.")
        return
    review_state.open_record(corpus_id, target)
