"""The view for decisions by type, confidence and recogniser: counts, ten drawn texts, one act with one undo."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from engine import LABELS
from pages._ui import states
from pages._ui.language import mark, tr, translator, trn
from pages._ui.parts.highlight import LABEL_HUES, Mark, highlight, segments
from pages._ui.parts.pager import digest
from pages._ui.parts.sliders import slider
from pages._ui.review.found_by import found_by
from pages._ui.texts import count_of, label_name, label_names, number

DRAWN = 10
AROUND = 90  # characters of text on both sides of what is shown
WORDS = {"accept": mark("They go"), "reject": mark("They stay")}


def draw(workspace: engine.Workspace, corpus_id: str) -> None:
    """Draw the choice, what it holds, the buttons and the preview."""
    choice = _choice(workspace, corpus_id)
    if choice == engine.BulkChoice(again=choice.again):
        st.markdown(
            tr("Choose a type, who found it, or a range of confidence; what it holds is shown before you decide.")
        )
        _types(workspace, corpus_id)
        return
    held = workspace.bulk.count(corpus_id, choice)
    if not held.findings:
        st.markdown(
            tr("No finding fits.") if not held.left else tr("A person decided all {n} of these.", n=number(held.left))
        )
        return
    st.markdown(
        trn("**{n} finding**", "**{n} findings**", held.findings)
        + " "
        + trn(
            "in {n} text: {go} go now, {stay} stay.",
            "in {n} texts: {go} go now, {stay} stay.",
            held.records,
            go=number(held.accepted),
            stay=number(held.rejected),
        )
        + (" " * bool(held.left))
        + (
            trn(
                "{n} finding that a person decided is left alone.",
                "{n} findings that a person decided are left alone.",
                held.left,
            )
            if held.left
            else ""
        )
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        action = st.radio(
            tr("Decision"), list(WORDS), key="review.bulk.action", horizontal=True, label_visibility="collapsed",
            format_func=translator(WORDS), index=1,
        )  # fmt: skip
        st.button(
            tr("Decide {n}: they go", n=number(held.findings))
            if action == "accept"
            else tr("Decide {n}: they stay", n=number(held.findings)),
            key="review.bulk.decide", type="primary",
            on_click=_decide, args=(workspace, corpus_id, choice, action),
            help=tr("One act in the log, and one undo."),
        )  # fmt: skip
    _preview(workspace, corpus_id, choice, action, held.records)


def _choice(workspace: engine.Workspace, corpus_id: str) -> engine.BulkChoice:
    found, called = workspace.bulk.recognisers(corpus_id), found_by()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = st.multiselect(
            tr("Types"), list(LABELS), format_func=label_names(), key="review.bulk.labels", width=300
        )
        names = st.multiselect(
            tr("Found by"), list(found), format_func={
                name: f"{called.get(name, name)} ({number(count)})" for name, count in found.items()
            }.__getitem__,
            key="review.bulk.who", width=300,
        )  # fmt: skip
    with st.grid(2, min_column_width=220):
        low = slider(
            tr("Confidence from"), 0, 100, 0, 5, key="review.bulk.low", unit="%", help=tr("Counted with the bound.")
        )
        high = slider(
            tr("Confidence up to"), 0, 100, 100, 5, key="review.bulk.high", unit="%", help=tr("Counted with the bound.")
        )
    again = st.checkbox(
        tr("Those that a person has decided, too"), key="review.bulk.again", wrap=True,
        help=tr("Without this, a person's decisions stay as they are."),
    )  # fmt: skip
    return engine.BulkChoice(tuple(labels), tuple(names), low / 100, high / 100, again)


def _types(workspace: engine.Workspace, corpus_id: str) -> None:
    """Draw what was found of each type, most first; a ticked row chooses its type above."""
    counts = workspace.review.span_counts(corpus_id)["by_label_state"]
    labels = sorted(counts, key=lambda label: -(counts[label]["accepted"] + counts[label]["rejected"]))
    key = f"review.bulk.types.{digest([corpus_id, *labels])}"

    def ticked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(labels):
            st.session_state["review.bulk.labels"] = [labels[rows[0]]]

    st.dataframe(
        pd.DataFrame(
            {
                "type": [label_name(label) for label in labels],
                "found": [counts[label]["accepted"] + counts[label]["rejected"] for label in labels],
                "go": [counts[label]["accepted"] for label in labels],
                "stay": [counts[label]["rejected"] for label in labels],
                "open": [counts[label]["undecided"] for label in labels],
            }
        ),
        key=key, on_select=ticked, selection_mode="single-row", hide_index=True, height="content",
        alt=tr("What was found of each type"),
        column_config={
            "type": st.column_config.TextColumn(tr("Type"), width=200),
            "found": st.column_config.NumberColumn(tr("Findings"), width=80, format="localized"),
            "go": st.column_config.NumberColumn(tr("Go now"), width=80, format="localized"),
            "stay": st.column_config.NumberColumn(tr("Stay now"), width=80, format="localized"),
            "open": st.column_config.NumberColumn(tr("Not looked at"), width=105, format="localized"),
        },
    )  # fmt: skip


def _preview(workspace: engine.Workspace, corpus_id: str, choice: engine.BulkChoice, action: str, records: int) -> None:
    """Show drawn texts around the first finding that would be decided in each, as it would be."""
    seed = int(st.session_state.get("_ui.review.bulk.seed", 0))
    drawn = workspace.bulk.draw(corpus_id, choice, DRAWN, seed)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            trn(
                "{n} text of {records}, drawn at random, as it would be:",
                "{n} texts of {records}, drawn at random, as it would be:",
                len(drawn),
                records=number(records),
            )
        )
        st.button(tr("Draw others"), key="review.bulk.draw", on_click=_draw_others, disabled=len(drawn) == records)
    fate = "goes" if action == "accept" else "stays"
    for one in drawn:
        begin, end = max(0, one.spans[0].start - AROUND), min(len(one.text), one.spans[0].end + AROUND)
        marks = [
            Mark(
                span.start - begin, span.end - begin, label_name(span.label), hue=LABEL_HUES.get(span.label, 6),
                strength=span.score, decided=True, fate=fate,
            )
            for span in one.spans
            if span.start >= begin and span.end <= end
        ]  # fmt: skip
        with st.container(border=True, gap="xxsmall"):
            st.text(f"{one.record_id} · {count_of(len(one.spans), 'finding')}")
            highlight(
                segments(one.text[begin:end], marks),
                key=f"review.bulk.{one.record_id}.{digest([fate, *(span.span_id for span in one.spans)])}",
                label=tr("Excerpt of text {record}", record=one.record_id),
            )


def _draw_others() -> None:
    st.session_state["_ui.review.bulk.seed"] = int(st.session_state.get("_ui.review.bulk.seed", 0)) + 1


def _decide(workspace: engine.Workspace, corpus_id: str, choice: engine.BulkChoice, action: str) -> None:
    """Decide on what the choice holds; a callback."""
    done = states.act(workspace.bulk.decide, corpus_id, choice, action)
    if done:
        states.notice(
            trn(
                "{n} finding decided: they go. Undo takes all of it back.",
                "{n} findings decided: they go. Undo takes all of it back.",
                done,
            )
            if action == "accept"
            else trn(
                "{n} finding decided: they stay. Undo takes all of it back.",
                "{n} findings decided: they stay. Undo takes all of it back.",
                done,
            )
        )
