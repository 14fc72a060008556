"""Waivers beside the rules that they are about: give one, see it, take it back; and those that hold no more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import streamlit as st

import engine
from pages._ui.states import act
from pages._ui.texts import count_of, plain

LONGEST = 300  # characters of a reason


def draw(workspace: engine.Workspace, line: engine.RuleVerdict, policy: engine.Policy, run: engine.RunSummary) -> None:
    """Draw the waiver of a line that is not met, or, where the policy allows one, the form for it."""
    if line.waived is not None:
        given = line.waived
        st.markdown(
            f":small[Waived by {plain(given.person)} on {given.given}, until {given.expires}: {plain(given.reason)}]"
        )
        st.button(
            "Take the waiver back", key=f"release.waiver.back.{given.id}", icon=":material/undo:",
            on_click=act, args=(workspace.releases.withdraw_waiver, run.id, policy.id, given.id),
        )  # fmt: skip
        return
    allowed = policy.requirements.waivers
    if allowed is None or not engine.waivable(policy, line) or run.stale or run.examination_stale:
        return
    reason, day = f"release.waive.{line.rule}.reason", f"release.waive.{line.rule}.day"
    with st.popover("Waive this rule", icon=":material/approval_delegation:", key=f"release.waive.{line.rule}"):
        st.caption(
            f"You, {plain(workspace.actor)}, let this run pass although the rule is not met. Your name, the reason and "
            "the day stand in the bundle, its card and the audit log; recipients read them. It holds for what was "
            "found now and becomes void with any other number."
        )
        st.text_area("Reason", key=reason, max_chars=LONGEST, height=90)
        today = datetime.now(UTC).date()
        st.date_input(
            "Holds until", value=None, min_value=today, max_value=today + timedelta(days=allowed.longest_days), key=day,
            help=f"At most {count_of(allowed.longest_days, 'day')}, as the policy says.",
        )  # fmt: skip
        st.button(
            "Waive it", type="primary", key=f"release.waive.{line.rule}.give", on_click=_give,
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
        why = "has expired" if one.expires < today else "was given for something else than is found now"
        st.caption(f"A waiver of “{plain(one.rule)}” by {plain(one.person)} {why}; it no longer holds.")


def _give(workspace: engine.Workspace, run_id: str, policy_id: str, rule: str, reason: str, day: str) -> None:
    """Give a waiver; a callback."""
    said, until = str(st.session_state.get(reason) or ""), st.session_state.get(day)
    expires = until.isoformat() if until else ""
    made = act(
        workspace.releases.waive, run_id, policy_id, rule, said, expires, done="The rule is waived for this run."
    )
    if made is not None:
        st.session_state[reason] = ""
