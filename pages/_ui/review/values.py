"""The second view of the review page: one row a distinct value, for decisions in bulk."""

from __future__ import annotations

from typing import Any

import streamlit as st

import engine
from engine import LABELS
from pages._ui import states
from pages._ui.pager import digest, offset_of, pager
from pages._ui.texts import count_of, label_name

SIZE = 50
PAGER = "review.values.page"
STATES = {"All": None, "Not all looked at": "undecided", "Replaced": "accepted", "Kept": "rejected", "Mixed": "mixed"}
SHOWN = {"accepted": "replaced", "rejected": "stays", "mixed": "mixed"}


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw filters, the table, and what can be done with the chosen rows."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = st.multiselect("Types", list(LABELS), format_func=label_name, key="review.values.labels", width=320)
        state = st.selectbox("Decision", list(STATES), key="review.values.state", width=200)
        search = st.text_input("Value contains", key="review.values.search", width=240)
    asked: dict[str, Any] = {"labels": tuple(labels), "state": STATES[state], "search": (search or "").strip() or None}
    frame, total = workspace.values.table(corpus.id, offset=offset_of(PAGER, SIZE), limit=SIZE, **asked)
    if frame.empty and total:
        st.session_state.pop(PAGER, None)
        frame, total = workspace.values.table(corpus.id, offset=0, limit=SIZE, **asked)
    if frame.empty:
        st.markdown("No value fits these filters.")
        return
    keys = [str(key) for key in frame["value_key"]]
    places = dict(zip(keys, frame["count"].astype(int), strict=True))
    shown = frame.assign(
        label=[label_name(label) for label in frame["label"]],
        state=[SHOWN.get(state, state) for state in frame["state"]],
    )
    table_key = f"review.values.{digest([corpus.id, *keys])}"
    event = st.dataframe(
        shown[["value", "label", "count", "records", "confidence", "state", "decided"]],
        key=table_key,
        hide_index=True,
        height=460,
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "value": st.column_config.TextColumn("Value", width=190),
            "label": st.column_config.TextColumn("Type", width=105),
            "count": st.column_config.NumberColumn("Places", width=60),
            "records": st.column_config.NumberColumn("Texts", width=55),
            "confidence": st.column_config.NumberColumn(
                "Confidence", width=85, format="percent", help="How sure the detector was, on average over the places."
            ),
            "state": st.column_config.TextColumn("Now", width=90),
            "decided": st.column_config.NumberColumn("Decided", width=70, help="Places a person has decided on."),
        },
        alt="Distinct values with their counts and decisions",
    )
    pager(total, key=PAGER, size=SIZE, noun="values")
    chosen = [keys[row] for row in event.selection.rows if row < len(keys)]
    _bulk(workspace, corpus.id, chosen, places)


def _bulk(workspace: engine.Workspace, corpus_id: str, chosen: list[str], places: dict[str, int]) -> None:
    """Draw the decisions for the chosen rows, with how many places they concern."""
    if not chosen:
        st.caption("Choose rows on the left edge of the table to decide on all their places at once.")
        return
    total = sum(places[key] for key in chosen)
    st.markdown(f"**{count_of(len(chosen), 'value')}** in **{count_of(total, 'place')}**:")
    again = st.checkbox(
        "Those that a person has decided, too", key="review.values.again", wrap=True,
        help="Without this, a person's decisions stay as they are.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(f"Accept {total:,}", key="review.values.accept", type="primary", icon=":material/check:",
                  on_click=_decide, args=(workspace, corpus_id, chosen, "accept", again))  # fmt: skip
        st.button(f"Reject {total:,}", key="review.values.reject", icon=":material/close:",
                  on_click=_decide, args=(workspace, corpus_id, chosen, "reject", again))  # fmt: skip
        label = st.selectbox("New type", list(LABELS), format_func=label_name, key="review.values.type", width=260)
        st.button(f"Change {total:,}", key="review.values.relabel",
                  on_click=_decide, args=(workspace, corpus_id, chosen, "relabel", again, label))  # fmt: skip


def _decide(
    workspace: engine.Workspace,
    corpus_id: str,
    chosen: list[str],
    action: str,
    again: bool,
    label: str | None = None,
) -> None:
    """Decide on the chosen values; a callback."""
    changed = states.act(workspace.values.decide, corpus_id, chosen, action, label, again=again) or 0
    if changed:
        words = {"accept": "accepted", "reject": "rejected", "relabel": f"changed to {label_name(label or 'MISC')}"}
        states.notice(f"{count_of(changed, 'place')} {words[action]}. Undo takes all of it back.")


def undo(workspace: engine.Workspace, corpus_id: str) -> None:
    """Take back the latest decision; a callback."""
    taken: str | None = states.act(workspace.review.undo, corpus_id)
    states.notice(taken or "There is nothing to take back.")
