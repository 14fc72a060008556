"""Waivers beside the rules that they are about: give one, see it, take it back; and those that hold no more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import streamlit as st

import engine
from pages._ui.language import tr
from pages._ui.language.words import date_pattern
from pages._ui.sign_in.closed import barred, only
from pages._ui.states import act
from pages._ui.texts import count_of, plain

LONGEST = 300  # characters of a reason


def draw(workspace: engine.Workspace, line: engine.RuleVerdict, policy: engine.Policy, run: engine.RunSummary) -> None:
    """Draw the waiver of a line that is not met, or, where the policy allows one, the form for it."""
    if line.waived is not None:
        given = line.waived
        st.markdown(
            tr(
                ":small[Waived by {person} on {given}, until {expires}: {reason}]",
                person=plain(given.person),
                given=given.given,
                expires=given.expires,
                reason=plain(given.reason),
            )
        )
        st.button(
            tr("Take the waiver back"), key=f"release.waiver.back.{given.id}", icon=":material/undo:",
            on_click=act, args=(workspace.releases.withdraw_waiver, run.id, policy.id, given.id),
            **only(engine.Right.RELEASE),
        )  # fmt: skip
        return
    allowed = policy.requirements.waivers
    if allowed is None or not engine.waivable(policy, line) or run.stale or run.examination_stale:
        return
    reason, day = f"release.waive.{line.rule}.reason", f"release.waive.{line.rule}.day"
    with st.popover(tr("Waive this rule"), icon=":material/approval_delegation:", key=f"release.waive.{line.rule}"):
        if barred(tr("Waiving a rule"), engine.Right.RELEASE):
            return
        st.caption(
            tr(
                "You, {actor}, let this run pass although the rule is not met. Your name, the reason and "
                "the day stand in the bundle, its card and the audit log; recipients read them. It holds "
                "for what was found now and becomes void with any other number.",
                actor=plain(workspace.actor),
            )
        )
        st.text_area(tr("Reason"), key=reason, max_chars=LONGEST, height=90)
        today = datetime.now(UTC).date()
        st.date_input(
            tr("Holds until"),
            value=None,
            format=date_pattern(),
            min_value=today,
            max_value=today + timedelta(days=allowed.longest_days),
            key=day,
            help=tr("At most {days}, as the policy says.", days=count_of(allowed.longest_days, "day")),
        )
        st.button(
            tr("Waive it"), type="primary", key=f"release.waive.{line.rule}.give", on_click=_give,
            args=(workspace, run.id, policy.id, line.rule, reason, day),
        )  # fmt: skip


def void(workspace: engine.Workspace, verdict: engine.Verdict, policy: engine.Policy, run_id: str) -> None:
    """Say which waivers were given and hold no more."""
    applied = {line.waived.id for line in verdict.waived_rules() if line.waived}
    met = {line.rule for line in verdict.rules if line.passed is True}
    today = datetime.now(UTC).date().isoformat()
    for one in workspace.releases.waivers(run_id, policy.id):
        if one.id in applied or one.rule in met:
            continue
        said = (
            tr(
                "A waiver of “{rule}” by {person} has expired; it no longer holds.",
                rule=plain(one.rule),
                person=plain(one.person),
            )
            if one.expires < today
            else tr(
                "A waiver of “{rule}” by {person} was given for something else than is found now; it no longer holds.",
                rule=plain(one.rule),
                person=plain(one.person),
            )
        )
        st.caption(said)


def _give(workspace: engine.Workspace, run_id: str, policy_id: str, rule: str, reason: str, day: str) -> None:
    """Give a waiver; a callback."""
    said, until = str(st.session_state.get(reason) or ""), st.session_state.get(day)
    expires = until.isoformat() if until else ""
    made = act(
        workspace.releases.waive, run_id, policy_id, rule, said, expires, done=tr("The rule is waived for this run.")
    )
    if made is not None:
        st.session_state[reason] = ""
