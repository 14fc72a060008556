"""The right column of the review page: one finding's card, and what can be decided about it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from engine import LABELS, NAME_LABELS
from pages._ui import states
from pages._ui.review import queue as review_queue
from pages._ui.review import state as review_state
from pages._ui.texts import count_of, label_name, plain, share

TYPES = {"direct": "points at one person by itself", "quasi": "points at a person together with others", "none": "none"}
WHO = {"custodian": "marked by a person", "gold": "came with the file", "tagger": "built-in tagger"}


def draw(workspace: engine.Workspace, corpus_id: str, record_id: str, spans: Sequence[engine.SpanView]) -> None:
    """Draw the card of the current finding and the ways to add one."""
    if not _addition(workspace, corpus_id, record_id):
        current = review_state.current_span(corpus_id, spans)
        if current is None:
            st.markdown("**Nothing was found in this text.**")
            st.caption("If something is missing, select it in the text or type it below.")
        else:
            _card(workspace, corpus_id, record_id, spans, current)
    _next(workspace, corpus_id, record_id, spans)
    with st.expander("Something was missed", icon=":material/add:", key="review.add"):
        _typed(workspace, corpus_id, record_id)


def _card(
    workspace: engine.Workspace, corpus_id: str, record_id: str, spans: Sequence[engine.SpanView], current: str
) -> None:
    text = workspace.review.record_text(corpus_id, record_id)
    row = next(span for span in spans if span.span_id == current)
    ids = [span.span_id for span in spans]
    with st.container(border=True, key="review.card"):
        st.markdown(f"**{label_name(row.label).capitalize()}**")
        st.text(text[row.start : row.end])
        st.caption(
            f"Finding {ids.index(current) + 1} of {len(ids)} · {TYPES.get(row.identifier_type, '')}  \n"
            f"Confidence {share(row.score, 0)} · {plain(WHO.get(row.recogniser, row.recogniser))}  \n"
            f"Now: {'will be replaced' if row.state == 'accepted' else 'stays in the text'}, "
            f"{'decided by a person' if row.decided else 'not looked at'}"
        )
        step = (workspace, corpus_id, record_id, ids, current)
        places = workspace.review.unmarked_places(corpus_id, current)
        _same(places["record"], row.label, current)
        with st.grid(2, gap="xsmall", min_column_width=80):
            st.button("Accept", key=_key("accept", current), shortcut="A", type="primary", width="stretch",
                      on_click=_decide, args=(*step, "accept"))  # fmt: skip
            st.button("Reject", key=_key("reject", current), shortcut="X", width="stretch",
                      on_click=_decide, args=(*step, "reject"))  # fmt: skip
            st.button("Previous", key=_key("previous", current), shortcut="K", width="stretch",
                      on_click=_move, args=(*step[1:], -1))  # fmt: skip
            st.button("Next", key=_key("next", current), shortcut="J", width="stretch",
                      on_click=_move, args=(*step[1:], 1))  # fmt: skip
        label = st.selectbox(
            "Type",
            list(LABELS),
            index=list(LABELS).index(row.label),
            format_func=label_name,
            key=f"review.type.{current}",
        )
        st.button(
            "Change type",
            key=_key("relabel", current),
            disabled=label == row.label,
            on_click=_decide,
            args=(*step, "relabel", label),
            width="stretch",
        )
        _alike(workspace, corpus_id, current, row.label, label, places["corpus"])


def _key(action: str, span_id: str) -> str:
    """Return a button's key; it names the finding, so that a press always belongs to the card that was seen."""
    return f"review.{action}.{span_id}"


def _is_shown(corpus_id: str, record_id: str, span_id: str | None) -> bool:
    """Return whether a press on this card still counts; say so where the next card had its turn already.

    Keys can come faster than the page is drawn. A second key on a card that was decided was meant for the
    next one, which was not on the screen yet; and of two keys at once nobody knows which came first.
    """
    shown = review_state.span(corpus_id)
    late = review_state.record(corpus_id) not in (None, record_id) or (
        span_id is not None and shown not in (None, span_id)
    )
    both = span_id is not None and all(st.session_state.get(_key(name, span_id)) for name in ("accept", "reject"))
    if late or both:
        states.notice("A key came before the next finding was shown, and was not counted.", kind="problem")
    return not (late or both)


def _same_key(span_id: str) -> str:
    return f"review.same.{span_id}"


def _same(places: int, label: str, span_id: str) -> None:
    """Offer to mark the same words of this text where nothing is marked; for names it is chosen beforehand."""
    if places:
        them = "it" if places == 1 else "them"
        st.checkbox(
            f"{places:,} more {'place' if places == 1 else 'places'} in this text, not marked: mark {them} too",
            value=label in NAME_LABELS,
            key=_same_key(span_id),
            help="Counts when you accept. The same words stand there, but nothing was found; unmarked, they stay.",
            wrap=True,
        )


def _alike(workspace: engine.Workspace, corpus_id: str, span_id: str, old: str, label: str, unmarked: int) -> None:
    total = workspace.review.same_value(corpus_id, span_id) + 1
    if total == 1 and not unmarked:
        st.caption("The same words stand nowhere else.")
        return
    with st.popover(f"All like this ({total + unmarked:,})", key="review.alike", width="stretch"):
        st.markdown(f"The same words as {label_name(old)}: **{count_of(total, 'finding')}** in this corpus.")
        mark = False
        if unmarked:
            mark = st.checkbox(
                f"Mark {count_of(unmarked, 'place')} too that {'is' if unmarked == 1 else 'are'} not marked",
                value=old in NAME_LABELS,
                key=f"review.alike.mark.{span_id}",
                help="The same words stand there, but nothing was found. Counts for “Accept all”.",
                wrap=True,
            )
        for action, text in (("accept", "Accept all"), ("reject", "Reject all")):
            n = total + unmarked if mark and action == "accept" else total
            st.button(
                f"{text} {n:,}",
                key=f"review.alike.{action}",
                width="stretch",
                on_click=_decide_alike,
                args=(workspace, corpus_id, span_id, action, None, mark),
            )
        st.button(
            f"Change all {total:,} to {label_name(label)}",
            key="review.alike.relabel",
            width="stretch",
            disabled=label == old,
            on_click=_decide_alike,
            args=(workspace, corpus_id, span_id, "relabel", label, False),
        )


def _decide_alike(
    workspace: engine.Workspace, corpus_id: str, span_id: str, action: str, label: str | None, mark: bool
) -> None:
    """Decide on every place with the same words; a callback."""
    words = {"accept": "accepted", "reject": "rejected", "relabel": f"now {label_name(label or 'MISC')}"}[action]
    done = f"{{}} places: {words}."
    if states.act(workspace.review.decide_alike, corpus_id, span_id, action, label, mark=mark, done=done) is not None:
        review_state.remember(corpus_id, span_id)


def _decide(
    workspace: engine.Workspace,
    corpus_id: str,
    record_id: str,
    ids: list[str],
    current: str,
    action: str,
    label: str | None = None,
) -> None:
    """Decide on one finding, then show the next one; a callback."""
    if not _is_shown(corpus_id, record_id, current):
        return
    if action == "accept" and st.session_state.get(_same_key(current)):
        done = states.act(workspace.review.accept_same, corpus_id, current, done="{} places of this text: accepted.")
    else:
        done = states.act(workspace.review.decide, corpus_id, [current], action, label)
    if done is None:
        return
    review_state.remember(corpus_id, current)
    if action != "relabel":
        review_state.choose_span(corpus_id, review_state.neighbour(ids, current, 1) or current)


def _move(corpus_id: str, record_id: str, ids: list[str], current: str, step: int) -> None:
    """Show the neighbouring finding; past the last one, the next text; a callback."""
    if not _is_shown(corpus_id, record_id, current):
        return
    target = review_state.neighbour(ids, current, step)
    if target is None:
        review_queue.next_record(corpus_id, step)
    else:
        review_state.choose_span(corpus_id, target)


def undo(workspace: engine.Workspace, corpus_id: str) -> None:
    """Take back the latest decision and show its finding again; a callback."""
    sentence = states.act(workspace.review.undo, corpus_id)
    states.notice(sentence or "There is nothing to take back.")
    review_state.go_back(corpus_id)


def _next(workspace: engine.Workspace, corpus_id: str, record_id: str, spans: Sequence[engine.SpanView]) -> None:
    done = all(span.decided for span in spans)
    st.button(
        "Next text" if done else "Done, next",
        key=f"review.done.{record_id}",
        shortcut="N",
        icon=":material/skip_next:",
        width="stretch",
        type="primary" if done else "secondary",
        on_click=_finish,
        args=(workspace, corpus_id, record_id),
        help="Marks the findings left in this text as looked at, as they stand, and opens the next text.",
    )


def _finish(workspace: engine.Workspace, corpus_id: str, record_id: str) -> None:
    if not _is_shown(corpus_id, record_id, None):
        return
    if states.act(workspace.review.mark_reviewed, corpus_id, [record_id]) is not None:
        review_state.remember(corpus_id, None)
    review_queue.next_record(corpus_id)


def _addition(workspace: engine.Workspace, corpus_id: str, record_id: str) -> bool:
    """Draw the card of text that was just selected; return whether there is one."""
    pending = st.session_state.get(review_state.PENDING)
    if not pending or pending["record_id"] != record_id:
        return False
    text = workspace.review.record_text(corpus_id, record_id)
    with st.container(border=True, key="review.addition"):
        st.markdown("**Add this as an identifier?**")
        st.text(text[pending["start"] : pending["end"]])
        label = st.selectbox("Type", list(LABELS), format_func=label_name, key="review.addition.type")
        places = [(pending["start"], pending["end"])]
        st.button("Add", key="review.addition.add", type="primary", width="stretch",
                  on_click=_add, args=(workspace, corpus_id, record_id, places, label))  # fmt: skip
        st.button("Do not add", key="review.addition.drop", width="stretch", on_click=st.session_state.pop,
                  args=(review_state.PENDING, None))  # fmt: skip
    return True


def places_of(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return every place of an exact phrase in a text, without overlaps."""
    places, start = [], 0
    while phrase and (start := text.find(phrase, start)) >= 0:
        places.append((start, start + len(phrase)))
        start += len(phrase)
    return places


def _typed(workspace: engine.Workspace, corpus_id: str, record_id: str) -> None:
    phrase = st.text_input("Exact words", key=f"review.add.phrase.{record_id}")
    label = st.selectbox("Type", list(LABELS), format_func=label_name, key="review.add.type")
    places = places_of(workspace.review.record_text(corpus_id, record_id), phrase or "")
    if phrase:
        st.caption(f"Found in {count_of(len(places), 'place')} of this text.")
    st.button("Add", key="review.add.add", disabled=not places, width="stretch",
              on_click=_add, args=(workspace, corpus_id, record_id, places, label))  # fmt: skip


def _add(
    workspace: engine.Workspace, corpus_id: str, record_id: str, places: list[tuple[int, int]], label: str
) -> None:
    """Add one finding a place; a callback."""
    added: str | None = None
    for start, end in places:
        made = states.act(workspace.review.add_span, corpus_id, record_id, start, end, label)
        if made:
            added = str(made)
            review_state.remember(corpus_id, added)
    if added:
        review_state.choose_span(corpus_id, added)
