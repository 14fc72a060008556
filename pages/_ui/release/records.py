"""Records to approve, in risk order: a list, one record in full, and buttons with shortcuts.

Approvals name stable record ids; the list's key holds a digest of them, so that a selection never
moves to another record when rows change.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from pages._ui.language import mark, sentence, tr, trn
from pages._ui.parts import wrapped
from pages._ui.parts.highlight import highlight, segments
from pages._ui.parts.pager import digest, offset_of, pager
from pages._ui.parts.progress import running_job
from pages._ui.privacy.leaks import marks, of_record
from pages._ui.release import asking, keys, together
from pages._ui.sign_in.closed import closed, only
from pages._ui.states import act, notice
from pages._ui.texts import count_of, number, plain

SIZE = 25
HEIGHT, TEXT = 500, 215  # pixels of the table, and of its text at least
ASKED = "release.asked"  # run and record of high risk whose approval is asked about
LINES = 80  # characters of a text that its three lines in the table hold, however the words break
SHOWN = "▸ "  # before the decision on the record that stands beside the table
STALE = mark(
    "This run is out of date. It must be made again, and then its own records are decided on: a decision here would "
    "not count there."
)
RISK = mark("0 to 1: how much this record's own findings stand out. Not a probability.")
DECISIONS = {"pending": mark("undecided"), "approved": mark("approved"), "rejected": mark("rejected")}
ICONS = {
    "pending": ":material/radio_button_unchecked:",
    "approved": ":material/check_circle:",
    "rejected": ":material/cancel:",
}


def draw(
    workspace: engine.Workspace, run: engine.RunSummary, counts: dict[str, int], policy: engine.Policy, *,
    helps: bool = True,
) -> None:  # fmt: skip
    """Draw the station for one run under a policy; `helps`: whether approving can open the gate."""
    total = sum(counts.values())
    st.markdown(
        tr(
            "**{approved}** approved · **{rejected}** rejected · **{pending}** undecided, of {records}.",
            approved=number(counts["approved"]),
            rejected=number(counts["rejected"]),
            pending=number(counts["pending"]),
            records=count_of(total, "record"),
        )
        + " "
        + _order(workspace, run)
    )
    if total == 0:
        st.info(tr("This run kept no record, so there is nothing to release."), icon=":material/info:")
        return
    if closed(tr("The outputs of this run")):
        return
    if run.stale:
        st.caption(tr(STALE))
    equal = _originals(workspace, run)
    if not run.stale:
        together.draw(workspace, run, counts, policy)
    key = f"release.page.{run.id}"
    rows = workspace.runs.synthetic(
        run.id, offset=offset_of(key, SIZE), limit=SIZE, order="position" if run.stale else "risk"
    )
    if run.stale:  # what was measured is of a review that has changed since
        rows = rows.assign(risk=float("nan"))
    ids = [str(record) for record in rows["record_id"]]
    chosen = _current(run.id, ids)
    if st.session_state.get(ASKED) != (run.id, chosen):
        st.session_state.pop(ASKED, None)
    left, right = st.columns([7, 5], gap="small")
    with left:
        _table(run.id, rows, ids, chosen)
        pager(total, key=key, size=SIZE, counted=count_of(total, "record"))
    with right:
        if chosen is not None:
            if chosen in equal:
                st.error(
                    tr("This record equals a record of the corpus. It cannot leave."), icon=":material/content_copy:"
                )
            _one(workspace, run, rows.iloc[ids.index(chosen)], ids, helps and not run.stale)


def _order(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return in which order the records stand, and why."""
    if run.stale:
        return tr("In the order of the run: the risks are of the review as it was before.")
    if run.examination_stale:
        return tr("Riskiest first, as measured before the review changed.")
    if run.examined_at:
        return tr("Riskiest first.")
    if running_job(workspace, kind="examine", run_id=run.id) is not None:
        return tr("In the order of the run: the examination that is at work gives each record a risk.")
    return tr("In the order of the run: without an examination no record has a risk.")


def _originals(workspace: engine.Workspace, run: engine.RunSummary) -> frozenset[str]:
    """Return the records that are originals, and offer to reject them together; none after a proof."""
    found = None if run.guarantee.kind == "dp" else workspace.examinations.table(run.id, "originals")
    ids = [] if found is None else [str(record) for record in found["record_id"]]
    if not ids:
        return frozenset()
    still = workspace.runs.synthetic(run.id, ids=ids)
    open_ids = [str(record) for record in still.loc[still["approval"] != "rejected", "record_id"]]
    if open_ids:
        is_one = len(open_ids) == 1
        st.warning(
            trn(
                "**{n} record is an original**, in the same or another spelling. Under no policy may they leave.",
                "**{n} records are originals**, in the same or another spelling. Under no policy may they leave.",
                len(open_ids),
            ),
            icon=":material/content_copy:",
        )
        st.button(
            tr("Reject it") if is_one else tr("Reject these {n}", n=number(len(open_ids))),
            key=f"release.originals.{run.id}",
            on_click=act,
            args=(workspace.runs.approve, run.id, open_ids, "rejected"),
            **({"disabled": True} if run.stale else only(engine.Right.APPROVE)),
        )
    return frozenset(ids)


def _current(run_id: str, ids: list[str]) -> str | None:
    """Return the record shown in full: the chosen one if it is on this page, else the first."""
    chosen = st.session_state.get(f"release.record.{run_id}")
    return chosen if chosen in ids else (ids[0] if ids else None)


def _show(run_id: str, record_id: str) -> None:
    st.session_state[f"release.record.{run_id}"] = record_id


def _table(run_id: str, rows: pd.DataFrame, ids: list[str], chosen: str | None) -> None:
    """Draw the records of a page; an arrow stands where the one is that is shown in full."""
    key = f"release.rows.{run_id}.{digest(ids)}"

    def selected() -> None:
        ticked = st.session_state[key]["selection"]["rows"]
        if ticked and ticked[0] < len(ids):
            _show(run_id, ids[ticked[0]])

    shown = pd.DataFrame(
        {
            "Decision": [
                f"{SHOWN if record == chosen else ''}{tr(DECISIONS[state])}"
                for record, state in zip(ids, rows["approval"], strict=True)
            ],
            "Risk": rows["risk"].astype("float64"),
            "Text": [_beginning(str(text)) for text in rows["text"]],
        }
    )
    if shown["Risk"].isna().all():
        shown = shown.drop(columns="Risk")
    st.dataframe(
        shown,
        key=key,
        on_select=selected,
        selection_mode="single-row",
        hide_index=True,
        height=HEIGHT,
        row_height=wrapped.ROW,
        alt=tr("Synthetic records of this run with their decision"),
        column_config={
            "Decision": st.column_config.TextColumn(tr("Decision"), width=90),
            "Risk": st.column_config.NumberColumn(
                tr("Risk"),
                format="%.2f",
                width=50,
                help=tr(RISK),
            ),
            "Text": st.column_config.TextColumn(tr("Text"), width=TEXT),
        },
    )


def _beginning(text: str) -> str:
    """Return as much of a text, on one line, as its row shows whole."""
    line = " ".join(text[: 2 * LINES].split())
    return line if len(line) <= LINES else f"{line[:LINES].rstrip()} …"


def _one(workspace: engine.Workspace, run: engine.RunSummary, row: pd.Series, ids: list[str], helps: bool) -> None:
    """Draw one record in full with its decision buttons; approving is the next step where it `helps`."""
    record = str(row["record_id"])
    place = ids.index(record)
    risk = "" if pd.isna(row["risk"]) else f" · {tr('risk {risk}', risk=number(float(row['risk'])))}"
    label = "" if pd.isna(row["label"]) else f" · {plain(row['label'])}"
    st.markdown(
        f"{ICONS[row['approval']]} **{sentence(tr(DECISIONS[row['approval']]))}**{risk}{label}",
        help=tr(RISK) if risk else None,
    )
    text = str(row["text"])
    marked = marks(text, of_record(workspace, run.id, record))
    with st.container(border=True, height=370, key=f"release.text.{record}"):
        highlight(
            segments(text, marked),
            key=f"release.marks.{run.id}.{record}",
            label=tr("Synthetic record, copies marked"),
        )
    st.caption(
        tr("Marked words stand in the originals too. Of the others that was not found, which proves nothing.")
        if run.examined_at
        else tr("Nothing is marked yet: what stands in the originals too is known after an examination.")
    )
    asks = not run.stale and str(row["approval"]) != "approved" and asking.asks_first(float(row["risk"]))
    asked = asks and st.session_state.get(ASKED) == (run.id, record)
    if asked:
        st.warning(asking.question(float(row["risk"]), len(marked)), icon=":material/warning:")
    with st.container(horizontal=True, gap="xsmall"):  # in one line beside the table
        for label, state, shortcut, kind in (
            (mark("Approve"), "approved", "A", "primary" if helps else "secondary"),
            (mark("Reject"), "rejected", "X", "secondary"),
            (mark("Undecide"), "pending", "U", "tertiary"),
        ):
            sure = asked and state == "approved"
            st.button(
                tr("Approve it all the same") if sure else tr(label),
                key=_key("sure" if sure else state, run.id, record),
                type="secondary" if sure else kind,  # type: ignore[arg-type]
                shortcut=shortcut,
                disabled=run.stale or row["approval"] == state,
                on_click=_decide,
                args=(workspace, run.id, row, state, ids),
                kwargs={"asks": asks and not asked},
            )
        st.button(
            tr("Next"),
            key=_key("next", run.id, record),
            shortcut="J",
            disabled=place + 1 >= len(ids),
            on_click=_show,
            args=(run.id, ids[min(place + 1, len(ids) - 1)]),
        )
        st.button(
            tr("Previous"),
            key=_key("previous", run.id, record),
            shortcut="K",
            disabled=place == 0,
            on_click=_show,
            args=(run.id, ids[max(place - 1, 0)]),
        )
    keys.draw(record, closed=tr(STALE) if run.stale else "")
    if not run.stale:
        st.caption(tr("Approving or rejecting moves on to the next record of this page."))


def _key(action: str, run_id: str, record: str) -> str:
    """Return a button's key. It names run and record, since runs number theirs alike: a press is of what was seen."""
    return f"release.{action}.{run_id}.{record}"


def _decide(
    workspace: engine.Workspace, run_id: str, row: pd.Series, state: str, ids: list[str], *, asks: bool = False
) -> None:
    """Decide on the record that is shown, or ask first whether it is to be approved; a callback.

    A second key on a record that was decided was meant for the next one, which was not on the screen yet; and of
    two keys at once nobody knows which came first: neither counts. Nor does one on a record that is another by now.
    """
    record = str(row["record_id"])
    shown = st.session_state.get(f"release.record.{run_id}")
    late = shown in ids and shown != record  # one of another page is not shown here: the first of this page is
    if late or sum(bool(st.session_state.get(_key(one, run_id, record))) for one in (*DECISIONS, "sure")) > 1:
        notice(tr("A key came before the next record was shown, and was not counted."), kind="problem")
        return
    st.session_state.pop(ASKED, None)
    why = act(asking.changed, workspace, run_id, row, state)
    if why is None:
        return
    if why:
        notice(why, kind="problem")
    if state == "approved" and (asks or why):
        st.session_state[ASKED] = (run_id, record)
        _show(run_id, record)  # also where another one is the riskiest by now
    elif not why and act(workspace.runs.approve, run_id, [record], state) is not None and state != "pending":
        place = ids.index(record)
        _show(run_id, ids[min(place + 1, len(ids) - 1)])
