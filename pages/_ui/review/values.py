"""The second view of the review page: one row a distinct value, for decisions in bulk."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

import engine
from engine import LABELS
from pages._ui import states
from pages._ui.language import mark, tr, translator, trn
from pages._ui.navigation import go
from pages._ui.parts.pager import digest, offset_of, pager
from pages._ui.texts import count_of, label_name, label_names, number

SIZE = 50
PAGER = "review.values.page"
NOISE = "review.values.noise"
VIEW = mark("Value by value")
STATES = {
    mark("All"): None,
    mark("Not all looked at"): "undecided",
    mark("Goes"): "accepted",
    mark("Stays"): "rejected",
    mark("Mixed"): "mixed",
}
SHOWN = {"accepted": mark("goes"), "rejected": mark("stays"), "mixed": mark("mixed")}


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw filters, the table, and what can be done with the chosen rows."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = st.multiselect(
            tr("Types"), list(LABELS), format_func=label_names(), key="review.values.labels", width=320
        )
        state = st.selectbox(
            tr("Decision"), list(STATES), format_func=translator(), key="review.values.state", width=200
        )
        search = st.text_input(tr("Value contains"), key="review.values.search", width=240)
    noise = likely_noise(workspace, corpus.id)
    if noise and st.checkbox(
        tr("Likely noise only"), key=NOISE, wrap=True,
        help=tr(
            "Values that stand, marked or not, in the records of more than one person in ten. An examination sets them "
            "aside, since they tell nobody apart: mostly phrases of the trade that were taken for identifiers. If one "
            "names somebody, such as a doctor, let it go."
        ),
    ):  # fmt: skip
        st.markdown(
            trn(
                "**{n} value** of the latest examination tells nobody apart. Where it is no identifier, let it stay.",
                "**{n} values** of the latest examination tell nobody apart. Let those stay that are no identifiers.",
                len(noise),
            )
        )
    else:
        noise = set()
    asked: dict[str, Any] = {"labels": tuple(labels), "state": STATES[state], "search": (search or "").strip() or None,
                             "within": noise or None}  # fmt: skip
    frame, total = workspace.values.table(corpus.id, offset=offset_of(PAGER, SIZE), limit=SIZE, **asked)
    if frame.empty and total:
        st.session_state.pop(PAGER, None)
        frame, total = workspace.values.table(corpus.id, offset=0, limit=SIZE, **asked)
    if frame.empty:
        st.markdown(tr("No value fits these filters."))
        return
    keys = [str(key) for key in frame["value_key"]]
    places = dict(zip(keys, frame["count"].astype(int), strict=True))
    shown = frame.assign(
        label=[label_name(label) for label in frame["label"]],
        state=[tr(SHOWN[state]) if state in SHOWN else state for state in frame["state"]],
        confidence=frame["confidence"].round(2),
    )
    table_key = f"review.values.{digest([corpus.id, *keys])}"
    event = st.dataframe(
        shown[["value", "label", "count", "records", "confidence", "state", "decided"]],
        key=table_key,
        hide_index=True,
        height=min(560, 36 + 35 * len(shown)),
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "value": st.column_config.TextColumn(tr("Value"), width=175),
            "label": st.column_config.TextColumn(tr("Type"), width=163),
            "count": st.column_config.NumberColumn(tr("Places"), width=52),
            "records": st.column_config.NumberColumn(tr("Texts"), width=48),
            "confidence": st.column_config.NumberColumn(
                tr("Confidence"),
                width=80,
                format="percent",
                help=tr("How sure the detector was, on average over the places."),
            ),
            "state": st.column_config.TextColumn(tr("Now"), width=66),
            "decided": st.column_config.NumberColumn(
                tr("Decided"), width=64, help=tr("Places a person has decided on.")
            ),
        },
        alt=tr("Distinct values with their counts and decisions"),
    )
    pager(total, key=PAGER, size=SIZE, counted=count_of(total, "value"))
    chosen = [keys[row] for row in event.selection.rows if row < len(keys)]
    _bulk(workspace, corpus.id, chosen, places)


def look_at(value: str = "", *, noise: bool = False) -> NoReturn:
    """Leave for this view with its filters set: one value, or the likely noise only."""
    st.session_state.update({
        "review.view": VIEW, "review.values.search": value, NOISE: noise, "review.values.labels": [],
        "review.values.state": next(iter(STATES)),
    })  # fmt: skip
    st.session_state.pop(PAGER, None)
    go("review")


def likely_noise(workspace: engine.Workspace, corpus_id: str) -> set[str]:
    """Return the keys of the values that the latest examination of this corpus set aside."""
    examined = [run for run in workspace.runs.all(corpus_id) if run.examined_at]
    if not examined:
        return set()
    latest = max(examined, key=lambda run: str(run.examined_at))
    table = workspace.examinations.table(latest.id, engine.SET_ASIDE, columns=["record_id", "start", "end"])
    if table is None or table.empty:
        return set()
    starts, ends = table["start"].astype(int).tolist(), table["end"].astype(int).tolist()
    places = set(zip(table["record_id"].astype(str), starts, ends, strict=True))
    return workspace.values.keys_at(corpus_id, places)


def _bulk(workspace: engine.Workspace, corpus_id: str, chosen: list[str], places: dict[str, int]) -> None:
    """Draw the decisions for the chosen rows, with how many places they concern."""
    if not chosen:
        st.caption(tr("Choose rows on the left edge of the table to decide on all their places at once."))
        return
    total = sum(places[key] for key in chosen)
    st.markdown(
        trn("**{n} value**", "**{n} values**", len(chosen))
        + " "
        + trn("in **{n} place**:", "in **{n} places**:", total)
    )
    again = st.checkbox(
        tr("Those that a person has decided, too"), key="review.values.again", wrap=True,
        help=tr("Without this, a person's decisions stay as they are."),
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            tr("They go: {n}", n=number(total)),
            key="review.values.accept",
            type="primary",
            icon=":material/check:",
            on_click=_decide,
            args=(workspace, corpus_id, chosen, "accept", again),
        )
        st.button(tr("They stay: {n}", n=number(total)), key="review.values.reject", icon=":material/close:",
                  on_click=_decide, args=(workspace, corpus_id, chosen, "reject", again))  # fmt: skip
        label = st.selectbox(
            tr("New type"), list(LABELS), format_func=label_names(), key="review.values.type", width=260
        )
        st.button(tr("Change {n}", n=number(total)), key="review.values.relabel",
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
        said = {
            "accept": trn("{n} place decided: it goes.", "{n} places decided: they go.", changed),
            "reject": trn("{n} place decided: it stays.", "{n} places decided: they stay.", changed),
            "relabel": trn(
                "{n} place changed to {type}.",
                "{n} places changed to {type}.",
                changed,
                type=label_name(label or "MISC"),
            ),
        }
        states.notice(f"{said[action]} {tr('Undo takes all of it back.')}")


def undo(workspace: engine.Workspace, corpus_id: str) -> None:
    """Take back the latest decision; a callback."""
    taken: str | None = states.act(workspace.review.undo, corpus_id)
    states.notice(taken or tr("There is nothing to take back."))
