"""Approve the records that nobody decided on together, below a risk, with their number first; high ones if asked."""

from __future__ import annotations

import math

import streamlit as st

import engine
from pages._ui.examined import run as examined_run
from pages._ui.language import tr, trn
from pages._ui.parts.progress import running_job
from pages._ui.parts.sliders import slider
from pages._ui.release.asking import LOW
from pages._ui.sign_in.closed import barred
from pages._ui.states import act, notice
from pages._ui.texts import decimal, number, plain

USUAL, STEP = 0.2, 0.05  # risk at which approving together begins, and its step; up to LOW no question is asked
ASKED = "release.rest.asked"  # the run and the limit whose records of high risk are asked about


def draw(
    workspace: engine.Workspace, run: engine.RunSummary, counts: dict[str, int], policy: engine.Policy
) -> None:  # fmt: skip
    """Offer to approve the rest below a risk, with the count first; all of them unread after a question."""
    if not counts["pending"]:
        return
    with st.expander(tr("Approve the rest together"), icon=":material/done_all:", key=f"release.rest.{run.id}"):
        if barred(tr("Approving records"), engine.Right.APPROVE):
            return
        busy = running_job(workspace, kind="examine", run_id=run.id) is not None
        if not (run.examined_at or busy) and policy.requirements.whole_output:  # examining it would end this policy
            st.markdown(
                trn(
                    "Under “{policy}” nothing is measured: read the records, then approve what is left, {n} record.",
                    "Under “{policy}” nothing is measured: read the records, then approve what is left, {n} records.",
                    counts["pending"],
                    policy=plain(policy.title),
                )
            )
            _unread(workspace, run, counts["pending"])
            return
        st.markdown(tr("Look at the riskiest records first. Then approve what is left below a risk you accept."))
        lowest = workspace.runs.lowest_pending_risk(run.id)
        limit = slider(tr("Risk at most"), 0.0, 1.0, begin(lowest), STEP, key=f"release.limit.{run.id}")
        fitting = workspace.runs.pending_below(run.id, limit)
        if lowest is not None:
            said = tr("The lowest risk of an undecided record is {lowest}.", lowest=decimal(lowest, 2))
            if lowest > LOW:
                said += " " + tr("None that is left is of low risk: decide on each by itself.")
            st.caption(said)
        high = _asked(workspace, run.id, limit)
        if high:
            st.warning(
                trn(
                    "**{n} record of risk above {low} goes with it.** Approve them all the same?",
                    "**{n} records of risk above {low} go with it.** Approve them all the same?",
                    high,
                    low=decimal(LOW, 2),
                ),
                icon=":material/warning:",
            )
        with st.container(horizontal=True):
            st.button(
                trn(
                    "Approve {n} undecided record with risk at most {limit}",
                    "Approve {n} undecided records with risk at most {limit}",
                    fitting,
                    limit=decimal(limit, 2),
                )
                if fitting
                else tr("No undecided record has a risk of at most {limit}", limit=decimal(limit, 2)),
                key=f"release.rest.below.{run.id}",
                disabled=not fitting,
                on_click=_approve_rest,
                args=(workspace, run.id, limit),
            )
            if high:
                st.button(
                    tr("Approve {n} all the same", n=number(fitting)),
                    key=f"release.rest.sure.{run.id}",
                    on_click=_approve_rest,
                    args=(workspace, run.id, limit, (fitting, high)),
                )
        if not run.examined_at:
            _unread(workspace, run, counts["pending"])
        st.caption(
            tr(
                "Records approved together count as decided. The audit log says that they were approved together "
                "and at which risk."
            )
            if run.examined_at
            else tr("No record has a risk yet: the examination that is at work gives each one.")
            if busy
            else tr("This run was not examined, so no record has a risk yet. Examine it on the Privacy page first.")
            if not examined_run.closes(workspace, run)
            else f"{tr('This run was not examined, so no record has a risk.')} {examined_run.closes(workspace, run)}"
        )


def _unread(workspace: engine.Workspace, run: engine.RunSummary, left: int) -> None:
    """Offer to approve all that is left of a run that nobody examined, and ask once, with their number."""
    asked = st.session_state.get(ASKED) == (run.id, None)
    if asked:
        st.warning(
            trn(
                "**{n} record that nobody decided on is approved unread.** The audit log says that it was approved "
                "with all that was left. Approve it all the same?",
                "**{n} records that nobody decided on are approved unread.** The audit log says that they were "
                "approved together. Approve them all the same?",
                left,
            ),
            icon=":material/warning:",
        )
    with st.container(horizontal=True):
        st.button(
            tr("Approve all {everything} unread", everything=number(left)),
            key=f"release.rest.all.{run.id}",
            disabled=asked,
            on_click=_approve_rest,
            args=(workspace, run.id, None),
        )
        if asked:
            st.button(
                tr("Approve {n} unread all the same", n=number(left)),
                key=f"release.rest.unread.{run.id}",
                on_click=_approve_rest,
                args=(workspace, run.id, None, (left, 0)),
            )


def begin(lowest: float | None) -> float:
    """Return the risk at which approving together begins: one that holds some record, but never a high one.

    Args:
        lowest: risk of an undecided record, in [0, 1]; None where none has one.
    """
    if lowest is None or lowest > LOW:
        return USUAL
    return min(LOW, max(USUAL, math.ceil(round(lowest / STEP, 6)) * STEP))


def _asked(workspace: engine.Workspace, run_id: str, limit: float) -> int:
    """Return of how many records of high risk the question is that stands; 0 where none does."""
    if st.session_state.get(ASKED) != (run_id, limit):
        if st.session_state.get(ASKED) != (run_id, None):
            st.session_state.pop(ASKED, None)
        return 0
    return _high(workspace, run_id, limit)


def _high(workspace: engine.Workspace, run_id: str, limit: float) -> int:
    """Return how many undecided records above the risk that needs no question, up to a limit."""
    return workspace.runs.pending_below(run_id, limit) - workspace.runs.pending_below(run_id, min(LOW, limit))


def _approve_rest(
    workspace: engine.Workspace, run_id: str, limit: float | None, answered: tuple[int, int] | None = None
) -> None:
    """Approve records together, or ask first about those of high risk among them; a callback.

    Args:
        answered: how many records, and how many of high risk, the question named; what holds by now is asked anew.
    """
    st.session_state.pop(ASKED, None)
    high = act(_high, workspace, run_id, 1.0 if limit is None else limit)
    if high is None:
        return
    if high and limit is None:
        notice(
            tr("The run was examined after this was drawn. See the risks first: nothing was approved."), kind="problem"
        )
        return
    if limit is None and answered != (workspace.runs.approval_counts(run_id)["pending"], 0):
        st.session_state[ASKED] = (run_id, None)
        return
    if high and limit is not None and answered != (workspace.runs.pending_below(run_id, limit), high):
        st.session_state[ASKED] = (run_id, limit)
        return
    done = act(workspace.runs.approve_all_pending, run_id, limit)
    if done is not None:
        notice(trn("{n} record approved together.", "{n} records approved together.", done))
