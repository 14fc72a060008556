"""The second reading of a spot check: one text after the other without the first reader's decisions, then differences.

Privacy posture: as in `spot`. Which texts a second person reads is not told on the first reader's pages.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import LABELS
from pages._ui.language import localised, mark, tr
from pages._ui.parts.highlight import LABEL_HUES, Mark, highlight, segments
from pages._ui.parts.pager import digest
from pages._ui.states import act, notice
from pages._ui.texts import decimal, label_name, label_names, number, plain, share

WORDS = "review.second.words"
AROUND = 120  # characters of text on both sides of a difference
MOST = 20  # differences shown at a time
READERS = {
    "first": mark("found by the first reader"),
    "second": mark("found by the second reader"),
    "withdrawn": mark("found, and taken back after the text was read"),
}
OUTCOMES = (("missed", mark("It identifies somebody")), ("none", mark("It does not")))
WHO = mark(
    "Each counts as missed until somebody says, with a reason, that it is none. Whose reading it is about, and whoever "
    "took it back, cannot say so."
)


def draw(workspace: engine.Workspace, corpus_id: str, found: engine.SpotEstimate) -> None:
    """Draw what a second person still has to read, how far both agree, and what is to be settled."""
    check = found.check
    if not check.twice:
        if check.disagreements:
            with st.container(border=True, key="review.second"):
                _differences(workspace, corpus_id)
        return
    with st.container(border=True, key="review.second"):
        st.markdown(
            tr(
                "**Second reading**: {read_twice} of {twice} texts are read by two people.",
                read_twice=number(check.read_twice),
                twice=number(check.twice),
            )
        )
        if found.agreement is not None:
            one = found.agreement
            st.markdown(
                tr(
                    "In {alike} of {texts} both found the same ({share}, 95% interval {low} to {high}).",
                    alike=number(one.alike),
                    texts=number(one.texts),
                    share=share(one.value, 0),
                    low=share(one.low, 0),
                    high=share(one.high, 0),
                )
            )
        if found.unseen is not None:
            st.caption(
                tr(
                    "Identifiers in these texts that neither saw: about {n} (95% interval {low} to {high}).",
                    n=decimal(found.unseen.value, 1),
                    low=localised(f"{found.unseen.low:,}"),
                    high=localised(f"{found.unseen.high:,}"),
                )
                + f" {engine.SECOND_ASSUMES}"
            )
        _text(workspace, corpus_id)
        _differences(workspace, corpus_id)


def _text(workspace: engine.Workspace, corpus_id: str) -> None:
    """Show the next text for the person acting, and take what is missing in it."""
    sheet = workspace.spot_checks.next_for_second(corpus_id)
    if sheet is None:
        st.caption(
            tr(
                "There is no text for you to read as the second person. Somebody who has not decided on these texts "
                "can, under their own name (Settings)."
            )
        )
        return
    if not st.toggle(
        tr("Read as the second person, {actor}", actor=plain(workspace.actor)), key="review.second.on", wrap=True,
        help=tr("You see the marks as they were when the texts were drawn, not what the first reader made of them."),
    ):  # fmt: skip
        return
    marks = [
        Mark(start, end, label_name(label), hue=LABEL_HUES.get(label, 6), fate="goes")
        for start, end, label in sheet.marked
    ]
    marks += [
        Mark(
            start,
            end,
            tr("added: {type}", type=label_name(label)),
            hue=LABEL_HUES.get(label, 6),
            decided=True,
            fate="goes",
        )
        for start, end, label in sheet.mine
    ]
    highlight(
        segments(sheet.text, marks),
        key=f"review.second.text.{sheet.record_id}.{digest([str(place) for place in sheet.mine])}",
        label=tr("Text {record}", record=sheet.record_id),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            tr("Words that identify somebody and are not marked"), key=WORDS, width=360, max_chars=400,
            help=tr("As they stand in the text. Case and line breaks do not matter; all their places are marked."),
        )  # fmt: skip
        label = st.selectbox(tr("Type"), list(LABELS), format_func=label_names(), key="review.second.label", width=220)
        st.button(
            tr("Add"), key="review.second.add", icon=":material/add:", on_click=_add,
            args=(workspace, corpus_id, sheet.record_id, label),
        )  # fmt: skip
        st.button(
            tr("Read to the end"), type="primary", key="review.second.finish", icon=":material/done_all:",
            on_click=_finish, args=(workspace, corpus_id, sheet.record_id),
        )  # fmt: skip
    for start, end, name in sheet.mine:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{label_name(name)}: {sheet.text[start:end]}")
            st.button(
                tr("Take back"), key=f"review.second.back.{sheet.record_id}.{start}.{end}",
                on_click=act, args=(workspace.spot_checks.unmark, corpus_id, sheet.record_id, start, end),
            )  # fmt: skip


def _differences(workspace: engine.Workspace, corpus_id: str) -> None:
    """Show what one reader alone found, to be settled."""
    waiting = [one for one in workspace.spot_checks.differences(corpus_id) if not one.settled]
    if not waiting:
        return
    st.markdown(
        tr("**{n}** found by one reader alone, or taken back. Somebody has to settle each:", n=number(len(waiting)))
    )
    st.caption(tr(WHO))
    for one in waiting[:MOST]:
        text = workspace.review.record_text(corpus_id, one.record_id)
        begin, end = max(0, one.start - AROUND), min(len(text), one.end + AROUND)
        mark = Mark(one.start - begin, one.end - begin, label_name(one.label), hue=LABEL_HUES.get(one.label, 6))
        place = f"{one.record_id}.{one.start}.{one.end}"
        with st.container(border=True, gap="xxsmall"):
            st.text(f"{one.record_id} · {tr(READERS[one.by])}")
            highlight(
                segments(text[begin:end], [mark]),
                key=f"review.settle.{place}",
                label=tr("Text {record}", record=one.record_id),
            )
            reason = f"review.settle.{place}.reason"
            st.text_input(
                tr("Why it does not"), key=reason, width=420, max_chars=200,
                help=tr("Stands in the audit log. Leave out the words themselves."),
            )  # fmt: skip
            with st.container(horizontal=True):
                for outcome, words in OUTCOMES:
                    st.button(
                        tr(words), key=f"review.settle.{place}.{outcome}", on_click=_settle,
                        args=(workspace, corpus_id, (one.record_id, one.start, one.end), outcome, reason),
                    )  # fmt: skip
    if len(waiting) > MOST:
        st.caption(tr("{n} more follow.", n=number(len(waiting) - MOST)))


def _add(workspace: engine.Workspace, corpus_id: str, record_id: str, label: str) -> None:
    """Note what was typed; a callback."""
    typed = str(st.session_state.get(WORDS) or "")
    if act(workspace.spot_checks.mark, corpus_id, record_id, typed, label):
        st.session_state[WORDS] = ""


def _settle(
    workspace: engine.Workspace, corpus_id: str, place: tuple[str, int, int], outcome: str, reason: str
) -> None:
    """Decide on a difference, with the reason that was typed; a callback."""
    said = str(st.session_state.get(reason) or "")
    act(workspace.spot_checks.settle, corpus_id, *place, outcome, said)


def _finish(workspace: engine.Workspace, corpus_id: str, record_id: str) -> None:
    """Note that the text was read; what is typed and not added stops it; a callback."""
    if str(st.session_state.get(WORDS) or "").strip():
        notice(tr("Words are typed and not added. Add them, or empty the field."), kind="problem")
        return
    act(workspace.spot_checks.finish, corpus_id, record_id)
