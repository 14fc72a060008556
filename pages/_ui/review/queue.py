"""Which texts are reviewed and in which order: filters, an order that stays, and why there may be none."""

from __future__ import annotations

from typing import Literal, TypedDict

import streamlit as st

import engine
from engine import LABELS
from pages._ui import states
from pages._ui.language import mark, tr, translator
from pages._ui.parts.sliders import slider
from pages._ui.review import state as review_state
from pages._ui.texts import label_names

STATES = {
    mark("All"): None,
    mark("Not looked at"): "undecided",
    mark("Goes"): "accepted",
    mark("Stays"): "rejected",
}
PRESSING = mark("Points at one person and stays, not looked at")
STATES |= {PRESSING: "pressing"}
STATE, LABELS_KEY, BELOW, SEARCH = (f"review.filter.{name}" for name in ("state", "labels", "below", "search"))
SPOT = mark("The spot check")
ORDERS: dict[str, Literal["risk", "position", "random", "spot"]] = {
    mark("Riskiest first"): "risk",
    SPOT: "spot",
    mark("Drawn at random"): "random",
    mark("In the file's order"): "position",
}


def show_failure(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Say so where the latest detection of this corpus failed or was cancelled."""
    tries = [
        job for job in workspace.jobs.all(active_only=False) if job.kind == "detect" and job.corpus_id == corpus.id
    ]
    latest = max(tries, key=lambda job: job.created, default=None)
    if latest is None or latest.state not in ("failed", "cancelled"):
        return
    if latest.state == "cancelled":
        st.caption(tr("The latest look for identifiers was cancelled before its end."))
        return
    states.failed(
        tr("Looking for identifiers stopped"), latest.error, tr("Start it again below; your decisions are kept.")
    )


class Filters(TypedDict):
    """What the queue is asked for."""

    labels: tuple[str, ...]
    state: str | None
    below_score: float | None
    search: str | None
    order: Literal["risk", "position", "random", "spot"]


def filters() -> Filters:
    """Draw the filters; return the arguments of `workspace.review.order`."""
    with st.popover(tr("Filters"), icon=":material/filter_list:", key="review.filters"):
        labels = st.multiselect(
            tr("Types"), list(LABELS), format_func=label_names(), key="review.filter.labels", persist_state="session"
        )
        state = st.selectbox(
            tr("Decision"), list(STATES), format_func=translator(), key="review.filter.state", persist_state="session"
        )
        below = slider(
            tr("Confidence below"), 0, 100, 100, 5, key="review.filter.below", unit="%", persist=True,
            help=tr("Shows texts with a finding the detector was less sure of."),
        )  # fmt: skip
        search = st.text_input(tr("Words in the text"), key="review.filter.search", persist_state="session")
        order = st.radio(
            tr("Order"),
            list(ORDERS),
            format_func=translator(),
            key="review.filter.order",
            persist_state="session",
            help=tr("Only texts that were drawn at random tell how much was missed in the others: see “Spot check”."),
        )
    return {
        "labels": tuple(labels),
        "state": STATES[state],
        "below_score": below / 100 if below < 100 else None,
        "search": (search or "").strip() or None,
        "order": ORDERS[order],
    }


def only_pressing() -> bool:
    """Return whether only texts are listed in which something points at one person and stays, not looked at."""
    return st.session_state.get(STATE) == PRESSING


def see_pressing() -> None:
    """List only those texts; a callback."""
    see_all()
    st.session_state[STATE] = PRESSING


def see_all() -> None:
    """List all texts; a callback."""
    st.session_state.update({STATE: next(iter(STATES)), LABELS_KEY: [], BELOW: 100, SEARCH: ""})


def keep_order(workspace: engine.Workspace, corpus: engine.CorpusSummary, asked: Filters) -> bool:
    """Make the order where it was not made for these filters and findings; return whether any text fits.

    It stays as it is while one works, whatever the decisions do to the risk. The open text stays open where it fits.
    """
    mine = review_state.desk(corpus.id)
    drawn = workspace.spot_checks.order(corpus.id) if asked["order"] == "spot" else []
    wanted = (asked, corpus.span_source, corpus.detected_at, drawn)
    if mine.asked != wanted:
        mine.asked, mine.order = wanted, _order(workspace, corpus.id, asked, drawn)
        if mine.record not in mine.order:
            review_state.show(corpus.id, _first(workspace, corpus.id, mine.order))
        mine.page = None
    return bool(mine.order)


def _first(workspace: engine.Workspace, corpus_id: str, order: list[str]) -> str | None:
    """Return the first text that no other reviewer has in hand, else the first; None where there is none."""
    others = workspace.review.ahead(corpus_id, None, order, 1).others
    return next((record for record in order if record not in others), next(iter(order), None))


def _order(workspace: engine.Workspace, corpus_id: str, asked: Filters, drawn: list[str]) -> list[str]:
    """Return the texts in the order asked for; those of a spot check in its own order of reading."""
    labels, state, below, search = asked["labels"], asked["state"], asked["below_score"], asked["search"]
    if asked["order"] != "spot":
        return workspace.review.order(
            corpus_id, labels=labels, state=state, below_score=below, search=search, order=asked["order"]
        )
    fits = set(workspace.review.order(
        corpus_id, labels=labels, state=state, below_score=below, search=search, order="position"
    ))  # fmt: skip
    return [record for record in drawn if record in fits]


def sort_again(corpus_id: str) -> None:
    """Have the order made anew; the open text stays open; a callback."""
    review_state.desk(corpus_id).asked = None
