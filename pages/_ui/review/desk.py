"""The desk: queue, open text and card of the review as one component that decides in the browser.

A key acts at once on what the browser holds; the acts follow in numbered messages, each is stored once whatever is
sent twice, and what the engine refuses comes back with its reason. The next texts lie ready, so that going on needs
no answer from here.

Privacy posture: text reaches the browser in `sheets` and becomes DOM text nodes through `textContent`; what comes
back and what the browser keeps over a reload holds ids, offsets and actions alone. Notes come back as they were
written and go to the store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

import engine
from engine import LABELS, NAME_LABELS, JSONObject, as_list, as_number, as_object
from pages._ui.language.script import language
from pages._ui.parts.highlight import LABEL_HUES
from pages._ui.review import queue, spot, state
from pages._ui.review.found_by import found_by
from pages._ui.texts import label_name

AHEAD = 12  # texts that lie ready in the browser
AHEAD_CHARACTERS = 150_000
ROWS = 40
COUNTED = ("finish", "undo", "add")  # acts that may change the estimate of what was missed
SEEN = {"pressing": queue.see_pressing, "all": queue.see_all, "spot": spot.see}  # what the browser may ask to see

_SHARED = Path(__file__).resolve().parent.parent / "parts"
_OWN = Path(__file__).resolve().parent


def _read(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


_HTML = _read(_OWN / "desk.html")
_SCRIPT = _read(_SHARED / "say.js", _SHARED / "marks.js", _OWN / "desk_state.js", _OWN / "desk.js")
_COMPONENT = st.components.v2.component(
    "understudy_review_desk",
    html=_HTML,
    css=_read(_SHARED / "highlight.css", _OWN / "desk.css"),
    js=_SCRIPT,
)


@st.fragment
def draw(workspace: engine.Workspace, corpus_id: str, checked: list[str], *, above: bool = False) -> None:
    """Draw the desk on this tab's order of texts; take what the browser sends.

    Args:
        checked: the spot check's state in a few words and in a sentence (`spot.brief`), as the page was drawn.
        above: whether a line with a button stands above the desk, which is that much less tall then.
    """
    key = f"review.desk.{corpus_id}"
    mine = state.desk(corpus_id)
    _COMPONENT(
        key=key,
        data={**_data(workspace, corpus_id, mine, checked), "above": above},
        on_sync_change=lambda: _sync(workspace, corpus_id, key),
    )
    if mine.read or mine.see:
        mine.read, mine.see = False, ""
        st.rerun()  # the sidebar's estimate rests on the texts that were read; filters stand outside of the desk


def _sync(workspace: engine.Workspace, corpus_id: str, key: str) -> None:
    held = st.session_state.get(key)
    if held is not None:  # a message can arrive after the desk was left: the browser keeps it and sends it again there
        receive(workspace, corpus_id, as_object(held.get("sync")))


def receive(workspace: engine.Workspace, corpus_id: str, message: JSONObject) -> None:
    """Store the acts and notes of a message, note where the browser is and what it is to be answered; a callback."""
    mine = state.desk(corpus_id)
    mine.done, mine.trouble = [], ""
    try:
        steps = engine.read_steps(message.get("acts"))
        taken = workspace.review.take(corpus_id, steps)
        mine.done = [[one.client, one.seq, one.refused, one.span] for one in taken]
        mine.read = mine.read or any(step.action in COUNTED for step in steps)
        for note in as_list(message.get("notes")):
            record, words = (str(part) for part in as_list(note))
            workspace.review.set_note(corpus_id, record, words)
    except engine.UserError as error:
        mine.trouble = str(error)
    mine.reply = int(as_number(message.get("n")) or 0)
    went = as_number(message.get("went"))
    if went is None or went >= mine.moves:  # one that left before the browser heard of the last move tells where it was
        record_id, span, page = message.get("record"), message.get("span"), as_number(message.get("page"))
        mine.record = record_id if isinstance(record_id, str) else mine.record
        mine.span = span if isinstance(span, str) and span else None
        mine.page = None if page is None else int(page)
    mine.see = str(message.get("see") or "")
    if mine.see in SEEN:
        SEEN[mine.see]()


def _data(workspace: engine.Workspace, corpus_id: str, mine: state.Desk, checked: list[str]) -> dict[str, Any]:
    """Return what the browser needs: the texts that lie ready, the rows in sight, and the answer to its message."""
    order, current = mine.order, mine.record
    at = order.index(current) if current in order else 0
    page = at // ROWS if mine.page is None else max(0, min(mine.page, (len(order) - 1) // ROWS))
    rows = workspace.review.rows(corpus_id, order[page * ROWS : (page + 1) * ROWS])
    ahead = workspace.review.ahead(corpus_id, current, [*order[at + 1 :], *order[:at]], AHEAD)
    wanted = [*([current] if current else []), *ahead.records, *order[max(0, at - 1) : at]]
    told = [*rows["record_id"].tolist(), *([current] if current else [])]
    return {
        "corpus": corpus_id,
        "labels": {label: [label_name(label), LABEL_HUES.get(label, 6)] for label in LABELS},
        "names": sorted(NAME_LABELS),
        "who": found_by(),
        "language": language(_SCRIPT, _HTML),
        "go": {"n": mine.moves, "record": current},
        "total": len(order),
        "size": ROWS,
        "page": page,
        "rows": [
            {"id": record_id, "open": open_, "risk": risk, "reviewed": reviewed}
            for record_id, open_, risk, reviewed in zip(
                *(rows[name].tolist() for name in ("record_id", "undecided", "risk", "reviewed")),
                strict=True,
            )
        ],
        "next": ahead.records,
        "others": {record_id: ahead.others[record_id] for record_id in told if record_id in ahead.others},
        "away": not ahead.others.keys().isdisjoint(order),
        "sheets": _sheets(workspace, corpus_id, list(dict.fromkeys(wanted))),
        "alike": _alike(workspace, corpus_id, mine.span),
        "counts": workspace.review.progress(corpus_id),
        "pressing": workspace.values.pressing(corpus_id),
        "only": queue.only_pressing(),
        "spot": checked,
        "reply": mine.reply,
        "done": mine.done,
        "trouble": mine.trouble,
    }


def _sheets(workspace: engine.Workspace, corpus_id: str, wanted: list[str]) -> list[dict[str, Any]]:
    """Return texts for the browser, the current one always, those ahead while they are short together."""
    sheets: list[dict[str, Any]] = []
    characters = 0
    for sheet in workspace.review.sheets(corpus_id, wanted):
        characters += len(sheet.text)
        if sheets and characters > AHEAD_CHARACTERS:
            break
        sheets.append(_sheet(sheet))
    return sheets


def _sheet(sheet: engine.Sheet) -> dict[str, Any]:
    spans = [
        {
            "id": span.span_id, "start": span.start, "end": span.end, "label": span.label, "score": span.score,
            "who": span.recogniser, "type": span.identifier_type, "state": span.state, "decided": span.decided,
            "value": span.value_key,
        }
        for span in sheet.spans
    ]  # fmt: skip
    return {
        "id": sheet.record_id, "text": sheet.text, "spans": spans, "reviewed": sheet.reviewed, "note": sheet.note,
        "upon": sheet.upon, "free": {key: [list(place) for place in places] for key, places in sheet.free.items()},
    }  # fmt: skip


def _alike(workspace: engine.Workspace, corpus_id: str, span_id: str | None) -> dict[str, Any] | None:
    """Return how often the words of the finding in sight stand elsewhere; None where there is none any more."""
    if not span_id:
        return None
    try:
        return {"span": span_id, **workspace.review.alike(corpus_id, span_id)}
    except engine.UserError:
        return None
