"""Leaks: examples first. Synthetic text with marked copies; the private side behind a reason.

Privacy posture: source text is read only after a reason was written to the audit log, is shown for
the one record asked about for a minute, and is forgotten then or when the page turns to another record.
"""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

import engine
from engine import show_measure
from pages._ui.navigation import page_only
from pages._ui.parts.highlight import LABEL_HUES, Mark, highlight, segments
from pages._ui.parts.pager import digest, offset_of, pager
from pages._ui.review import values as review_values
from pages._ui.sign_in.closed import closed
from pages._ui.states import act, notice
from pages._ui.texts import count_of, label_name, plain

SIZE = 20
SHORTEST_REASON = 10
REVEALED = "privacy.revealed"
SECONDS = 60  # how long the private side stays open
COPY_HUE = 5
NO_IDENTIFIER = (
    "Was a phrase of the trade taken for an identifier? Choose it: Review shows it with all its places, where one "
    "decision lets it stay. What was measured is out of date then."
)
COLUMNS = ["record_id", "kind", "reference", "identifier_type", "entity", "words"]


def ranked(leaks: pd.DataFrame) -> pd.DataFrame:
    """Return one row a synthetic record: longest copy, direct and other identifiers; worst first."""
    train = leaks[leaks["reference"] == "train"]
    if train.empty:
        return pd.DataFrame(columns=["record_id", "longest", "direct", "other"])
    copies = train[train["kind"] == "verbatim"]
    found = train[train["kind"] == "entity"].drop_duplicates(["record_id", "entity"])
    direct = found["identifier_type"] == "direct"
    table = pd.DataFrame(
        {
            "longest": copies.groupby("record_id")["words"].max() if "words" in copies else pd.Series(dtype=float),
            "direct": found[direct].groupby("record_id").size(),
            "other": found[~direct].groupby("record_id").size(),
        }
    )
    table = table.fillna(0).astype(int)
    table.index.name = "record_id"
    return table.sort_values(["direct", "longest", "other"], ascending=False, kind="stable").reset_index()


@st.cache_data(scope="session", show_spinner=False, max_entries=4)
def ranked_of(_workspace: engine.Workspace, run_id: str, examined_at: str) -> tuple[pd.DataFrame, int] | None:
    """Return `ranked` of an examination and of how many rows of a kind it is; kept for this session."""
    del examined_at  # part of the key only
    leaks = _workspace.examinations.table(run_id, "leaks", columns=COLUMNS, where={"reference": "train"})
    if leaks is None:
        return None
    return ranked(leaks), int(leaks["kind"].value_counts().max()) if len(leaks) else 0


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the list of records with leaks and the chosen one in full."""
    lead = excess(workspace, run.id)
    if closed("The records that repeat something"):
        if lead:
            st.markdown(lead)
        return
    known = ranked_of(workspace, run.id, str(run.examined_at))
    if known is None:
        st.caption("This examination left no table of leaks.")
        return
    records, listed = known
    if records.empty:
        st.success(
            "No record holds a known identifier of the records used in the same words, or eight of their words in a "
            "row.",
            icon=":material/check_circle:",
        )
        if lead:
            st.markdown(lead)
        st.caption("Identifiers that nobody marked, and meaning told in other words, are not looked for.")
        return
    if lead:
        st.markdown(lead)
    counted = ("" if listed < engine.LEAKS_LISTED else "At least ") + count_of(len(records), "record")
    st.markdown(
        f"{counted} of {run.kept:,} hold something that stands in the records used "
        "in the same words, identifiers or eight words in a row. Some would stand there by chance too (places, dates, "
        "stock phrases). The box above counts private values in any way of writing, and says how many are chance."
    )
    key = f"privacy.leaks.page.{run.id}"
    rows = records.iloc[offset_of(key, SIZE) : offset_of(key, SIZE) + SIZE]
    left, right = st.columns([3, 4], gap="medium")
    with left:
        chosen = _list(run.id, rows)
        pager(len(records), key=key, size=SIZE, counted=count_of(len(records), "record"))
    with right:
        if chosen is not None:
            _one(workspace, run, chosen)


def excess(workspace: engine.Workspace, run_id: str) -> str:
    """Return how many records more than chance give a private value away, in any way of writing; empty if unknown."""
    found = {f.name: f for f in workspace.examinations.findings(run_id) if f.reference == "holdout"}
    said = []
    for name, what in (("strict_pipp_excess", "the records"), ("strict_elp_excess", "the private values")):
        one = found.get(name)
        if one is not None and one.low is not None and one.high is not None:
            low, high = show_measure(name, one.low), show_measure(name, one.high)
            said.append(f"between **{low}** and **{high}** of {what}")
    if not said:
        return ""
    return (
        f"What chance does not explain, in any way of writing, lies {' and '.join(said)} (95% intervals): where 0 lies "
        "within, it may be nothing."
    )


def shared(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Say what was not counted because many people share it, and lead to it in Review; nothing where nothing was."""
    found = workspace.examinations.findings(run.id)
    counts = [f.settings.get("set_aside") for f in found if f.name == "strict_pipp" and f.reference == "train"]
    if not counts or not counts[0]:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="privacy.shared"):
        st.caption(
            f"Not counted: {count_of(int(counts[0]), 'value')} in the records of more than one person "
            "in ten, which tell nobody apart. What gives a value or identifier away leaves them out; "
            "private entities, after the paper, are counted with them.",
            width="stretch",
        )
        if st.button("See them in Review", icon=":material/rate_review:", key=f"privacy.shared.{run.id}",
                     **page_only("review")):  # fmt: skip
            review_values.look_at(noise=True)


def _list(run_id: str, rows: pd.DataFrame) -> str | None:
    ids = [str(record) for record in rows["record_id"]]
    key = f"privacy.leaks.{run_id}.{digest(ids)}"
    current = f"privacy.leak.{run_id}"

    def selected() -> None:
        chosen = st.session_state[key]["selection"]["rows"]
        if chosen and chosen[0] < len(ids):
            st.session_state[current] = ids[chosen[0]]

    st.dataframe(
        pd.DataFrame(
            {
                "Record": ids,
                "Direct": rows["direct"].to_numpy(),
                "Other": rows["other"].to_numpy(),
                "Words": rows["longest"].to_numpy(),
            }
        ),
        key=key,
        on_select=selected,
        selection_mode="single-row",
        hide_index=True,
        height=430,
        alt="Synthetic records with leaks, worst first",
        column_config={
            "Record": st.column_config.TextColumn(width=78),
            "Direct": st.column_config.NumberColumn(
                width=54, help="Direct identifiers of the records used in this record"
            ),
            "Other": st.column_config.NumberColumn(
                width=52, help="Indirect identifiers: places, dates, organisations …"
            ),
            "Words": st.column_config.NumberColumn(
                width=56, help="Longest run of words copied from one record; 0 below eight"
            ),
        },
    )
    return st.session_state[current] if st.session_state.get(current) in ids else (ids[0] if ids else None)


def of_record(workspace: engine.Workspace, run_id: str, record: str) -> pd.DataFrame:
    """Return what one synthetic record shares with the training part."""
    found = workspace.examinations.table(run_id, "leaks", where={"record_id": record, "reference": "train"})
    return pd.DataFrame() if found is None else found


def _one(workspace: engine.Workspace, run: engine.RunSummary, record: str) -> None:
    rows = workspace.runs.synthetic(run.id, ids=[record], limit=1)
    if rows.empty:
        return
    own = of_record(workspace, run.id, record)
    st.markdown("**Synthetic text**, what also stands in the records used marked")
    with st.container(border=True, height=300, key=f"privacy.text.{record}"):
        highlight(
            segments(str(rows.iloc[0]["text"]), marks(str(rows.iloc[0]["text"]), own)),
            key=f"privacy.marks.{run.id}.{record}",
            label="Synthetic record, copies marked",
        )
    with st.container(horizontal=True):
        st.button(
            "Reject this record",
            icon=":material/cancel:",
            key=f"privacy.reject.{record}",
            disabled=rows.iloc[0]["approval"] == "rejected",
            on_click=act,
            args=(workspace.runs.approve, run.id, [record], "rejected"),
            kwargs={"done": "The record is rejected: it will not be released."},
        )
        _no_identifier(run, record, str(rows.iloc[0]["text"]), own)
    _private_side(workspace, run, record, own)


def values_of(text: str, leaks: pd.DataFrame) -> dict[str, str]:
    """Return the marked values of a synthetic text, each with its type, in the order in which they stand."""
    found = leaks[leaks["kind"] == "entity"] if len(leaks) else leaks
    places = sorted(
        zip(found["start"].astype(int).tolist(), found["end"].astype(int).tolist(), found["label"].astype(str).tolist())
        if len(found)
        else []
    )
    return {" ".join(text[start:end].split()): label_name(label) for start, end, label in places}


def _no_identifier(run: engine.RunSummary, record: str, text: str, leaks: pd.DataFrame) -> None:
    """Draw the way from a mark that names nobody to its decision in Review."""
    values = values_of(text, leaks)
    if not values:
        return
    grey = page_only("review")
    value = st.menu_button(
        "No identifier", list(values), key=f"privacy.no_identifier.{run.id}.{record}", icon=":material/label_off:",
        format_func=lambda one: plain(f"{one} ({values[one]})"),
        disabled=grey.get("disabled", False), help=grey.get("help", NO_IDENTIFIER),
    )  # fmt: skip
    if value is not None:
        review_values.look_at(value)


def marks(text: str, leaks: pd.DataFrame, *, side: str = "") -> list[Mark]:
    """Return marks of a synthetic text, or with `side="source_"` of a private one; names lie on top of copies."""
    names: list[Mark] = []
    copies: list[tuple[int, int]] = []
    for row in leaks.itertuples(index=False):
        start, end = int(getattr(row, f"{side}start")), int(getattr(row, f"{side}end"))
        if row.kind == "verbatim":
            copies.append((start, end))
        else:
            label, direct = str(row.label), str(row.identifier_type) == "direct"
            names.append(Mark(start, end, label_name(label), hue=LABEL_HUES.get(label, 6), decided=direct))
    taken = sorted((mark.start, mark.end) for mark in names)
    for copy in copies:
        pieces = [p for p in without(copy, taken) if any(c.isalnum() for c in text[p[0] : p[1]])]
        names += [
            Mark(start, end, "copied words" if number == 0 else "copied", hue=COPY_HUE)
            for number, (start, end) in enumerate(pieces)
        ]
    return names


def without(passage: tuple[int, int], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is left of a passage outside the taken stretches (sorted by start)."""
    left, cursor = [], passage[0]
    for start, end in taken:
        if end <= cursor or start >= passage[1]:
            continue
        if start > cursor:
            left.append((cursor, start))
        cursor = max(cursor, end)
    if cursor < passage[1]:
        left.append((cursor, passage[1]))
    return left


def _private_side(workspace: engine.Workspace, run: engine.RunSummary, record: str, leaks: pd.DataFrame) -> None:
    sources = [str(s) for s in leaks["source_record_id"].value_counts().index]
    if not sources:
        return
    shown = st.session_state.get(REVEALED)
    if shown and time.time() >= shown[3]:
        _hide()
        shown = None
    if shown and shown[:2] == (run.id, record) and shown[2] in sources:
        source = str(shown[2])
        st.markdown(f"**Private text**, the training record that shares most (`{source}`)")
        with st.container(border=True, height=260, key=f"privacy.source.{record}"):
            text = workspace.review.record_text(run.corpus_id, source)
            shared = leaks[leaks["source_record_id"] == source]
            highlight(
                segments(text, marks(text, shared, side="source_")),
                key=f"privacy.source.marks.{run.id}.{record}",
                label="Private record, copies marked",
            )
        with st.container(horizontal=True, vertical_alignment="center", key="privacy.hide.bar"):
            st.button("Hide the private text", key="privacy.hide", on_click=_hide)
            count_down(float(shown[3]))
        return
    with st.expander("Show the private side", icon=":material/visibility_lock:", key=f"privacy.reveal.{record}"):
        st.caption(
            f"{count_of(len(sources), 'training record')} may stand behind these marks. "
            "Looking is written to the audit log with your reason. Write no names into it. "
            f"The text hides itself after {SECONDS} seconds."
        )
        st.text_input(
            "Reason",
            key="privacy.reason",
            max_chars=200,
            placeholder="for example: check whether this is a stock phrase",
        )
        st.button(
            "Show the record that shares most",
            key=f"privacy.reveal.do.{record}",
            icon=":material/visibility:",
            on_click=_reveal,
            args=(workspace, run.id, record, sources[0]),
        )


def _reveal(workspace: engine.Workspace, run_id: str, record: str, source: str) -> None:
    reason = " ".join(str(st.session_state.get("privacy.reason") or "").split())
    if len(reason) < SHORTEST_REASON:
        notice(
            f"Give a reason of at least {SHORTEST_REASON} characters; the private text stays hidden.", kind="problem"
        )
        return
    if act(workspace.examinations.note_reveal, run_id, record, source, reason) is not None:
        st.session_state[REVEALED] = (run_id, record, source, time.time() + SECONDS)


@st.fragment(run_every="1s")
def count_down(until: float) -> None:
    """Say how long the private text stays; run the page when the time is over."""
    left = until - time.time()
    if left <= 0:
        st.rerun()
    st.caption(f"Hides itself in {max(1, round(left))} s.")


def _hide() -> None:
    st.session_state.pop(REVEALED, None)
