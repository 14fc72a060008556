"""The policy as a check-list: rule, what was found, whether it is met, what would turn it green.

Privacy posture: shows measured values to the custodian; none of it goes into a bundle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

import engine
from engine import GATE_EXAMINE, POLICY_OF, gate_order, out_of_reach
from pages._ui.current import choose_run, run_label
from pages._ui.examined import run as examined_run
from pages._ui.language import mark, tr, trn
from pages._ui.navigation import go
from pages._ui.parts.progress import running_job
from pages._ui.release import waivers as release_waivers
from pages._ui.sign_in.visitor import may
from pages._ui.states import act
from pages._ui.texts import plain

CHOICE = "release.policy.choice"
OF = "release.policy.of"  # the corpus that the choice is for
# passed -> icon, word; the word carries the meaning, the colour only repeats it
STATES = {
    True: (":material/check_circle:", mark("met"), "green"),
    False: (":material/cancel:", mark("not met"), "red"),
    None: (":material/help:", mark("not known, counts as not met"), "orange"),
}
WAIVED = (":material/approval_delegation:", mark("not met, waived"), "orange")
HIGH = (":material/warning:", mark("measured, high"), "orange")


def named(workspace: engine.Workspace, corpus_id: str) -> str:
    """Return the policy of the readers that a person named on Plan; empty where nobody did: no answer is assumed."""
    return POLICY_OF.get(_readers(workspace.plan.remembered(corpus_id)), "")


def _readers(known: engine.JSONObject) -> str:
    """Return who will receive the text, as answered on Plan; empty where nobody did."""
    return str(known.get("recipients") or "")


def standing(workspace: engine.Workspace, corpus_id: str) -> engine.Policy:
    """Return the policy a run of this corpus is held against: as chosen here, else that of the readers on Plan.

    What was chosen is kept with the corpus, until other readers are named on Plan.
    """
    policies = {policy.id: policy for policy in workspace.releases.policies()}
    chosen = st.session_state.get(CHOICE)
    if chosen in policies and st.session_state.get(OF) in (None, corpus_id):
        return policies[chosen]
    known = workspace.plan.remembered(corpus_id)
    kept = str(known.get("policy") or "") if known.get("policy_for") == _readers(known) else ""
    wanted = (one for one in (kept, named(workspace, corpus_id)) if one in policies)
    return policies[next(wanted, next(iter(policies)))]


def whence(workspace: engine.Workspace, corpus_id: str, policy: engine.Policy) -> str:
    """Return in one sentence where the policy comes from that stands."""
    of_plan = named(workspace, corpus_id)
    if policy.id == of_plan:
        return tr("As answered on Plan.")
    other = next((one for one in workspace.releases.policies() if one.id == of_plan), None)
    if other is not None:
        return tr("On Plan other readers are named, whose policy is “{policy}”.", policy=plain(other.title))
    if policy.id == "exploratory":
        return tr(
            "Nobody has said on Plan who will receive the text, and what stands there at first is no answer: this "
            "policy is for looking inside the team."
        )
    return ""


def choose(workspace: engine.Workspace, corpus_id: str) -> engine.Policy:
    """Draw the picker and return the chosen policy; at first that of the readers who stand on Plan."""
    policies = {policy.id: policy for policy in workspace.releases.policies()}
    st.session_state[CHOICE] = standing(workspace, corpus_id).id
    st.session_state[OF] = corpus_id

    def keep() -> None:
        if may(engine.Right.MANAGE):  # else it stands for this session
            known = workspace.plan.remembered(corpus_id)
            said: engine.JSONObject = {"policy": str(st.session_state[CHOICE]), "policy_for": _readers(known)}
            act(workspace.plan.remember, corpus_id, {**known, **said})

    chosen = st.radio(
        tr("Policy"),
        list(policies),
        format_func=lambda policy_id: policies[policy_id].title,
        key=CHOICE,
        horizontal=True,
        persist_state="session",
        label_visibility="collapsed",
        on_change=keep,
    )
    policy = policies[chosen or next(iter(policies))]
    st.caption(" ".join(part for part in (plain(policy.sentence), whence(workspace, corpus_id, policy)) if part))
    return policy


def reachable(verdict: engine.Verdict, policy: engine.Policy) -> bool:
    """Return whether decisions can open the gate: the run itself breaks no rule."""
    return not any(out_of_reach(policy, line) for line in verdict.rules)


def closed_by(
    workspace: engine.Workspace, run_id: str, verdict: engine.Verdict, policy: engine.Policy
) -> tuple[str, engine.RuleVerdict]:
    """Return what keeps the gate shut in a few words, and the first rule of those that do."""
    first, *others = gate_order(policy, verdict.open_rules())
    waiting = next((line for line in verdict.rules if line.rule == "current" and line.passed is None), None)
    if waiting is not None and not out_of_reach(policy, first):
        if running_job(workspace, kind="examine", run_id=run_id) is not None:
            return tr("Being examined"), replace(waiting, remedy=tr("Wait until the examination has ended."))
        return tr("Not examined yet"), waiting
    if not others:
        return tr("Not met: “{rule}”", rule=plain(first.title)), first
    return trn(
        "Not met: “{rule}” and {n} more", "Not met: “{rule}” and {n} more", len(others), rule=plain(first.title)
    ), first


def check_list(
    workspace: engine.Workspace, verdict: engine.Verdict, policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Draw the verdict in one line, then each rule."""
    open_rules, which = verdict.open_rules(), plain(run_label(workspace, run))
    if verdict.passed:
        waived, high = len(verdict.waived_rules()), verdict.high_rules()
        stands = {"which": which, "rules": len(verdict.rules), "policy": plain(policy.title)}
        said = (
            trn(
                "**The gate is open** for the run {which}. {n} of the {rules} rules of “{policy}” was waived, the "
                "others are met.",
                "**The gate is open** for the run {which}. {n} of the {rules} rules of “{policy}” were waived, the "
                "others are met.",
                waived,
                **stands,
            )
            if waived
            else tr(
                "**The gate is open** for the run {which}. Each of the {rules} rules of “{policy}” is met.", **stands
            )
        )
        if high:
            more = trn(
                "**{n} measured value is high.** This policy only asks that they are known, so they "
                "do not close the gate. Read them before you build.",
                "**{n} measured values are high.** This policy only asks that they are known, so they "
                "do not close the gate. Read them before you build.",
                len(high),
            )
            st.warning(f"{said}\n\n{more}", icon=":material/warning:")
        else:
            st.success(said, icon=":material/lock_open:")
    else:
        st.error(
            trn(
                "**The gate is closed** for the run {which}. {n} rule of {rules} is not met.",
                "**The gate is closed** for the run {which}. {n} rules of {rules} are not met.",
                len(open_rules),
                which=which,
                rules=len(verdict.rules),
            ),
            icon=":material/lock:",
        )
    release_waivers.void(workspace, verdict, policy, run.id)
    settled = [line for line in verdict.rules if line.passed is True and not line.high and not line.waived]
    to_read = [line for line in verdict.rules if line not in settled]
    waiting = [line for line in to_read if line.passed is None and line.remedy == GATE_EXAMINE and not line.waived]
    if len(waiting) > 1:
        _waiting(workspace, waiting, policy, run)
        to_read = [line for line in to_read if line not in waiting]
    shut = next((line for line in to_read if line.rule == "guarantee" and not line.met), None)
    behind = [line for line in to_read if line is not shut] if shut and policy.requirements.whole_output else []
    if shut and behind:  # under a policy of proof alone nothing else helps a run that has none
        to_read = [shut]
    never = [line for line in to_read if out_of_reach(policy, line)]
    if never:
        _never(workspace, never, policy, run)
        to_read = [line for line in to_read if line not in never]
    if to_read:
        with st.container(border=True, key="release.checklist", gap="small"):
            place = {name: number for number, name in enumerate(line.remedy for line in to_read)}
            to_read.sort(key=lambda line: (line.met, line.passed is True, not line.high, place[line.remedy]))
            _lines(workspace, to_read, policy, run)
    if behind:
        more = trn(
            "{n} more rule is not met, and does not matter before",
            "{n} more rules are not met, and do not matter before",
            len(behind),
        )
        with st.expander(more, icon=":material/rule:", key=f"release.behind.{run.id}"):
            _lines(workspace, behind, policy, run)
    if settled:
        met = trn("{n} rule is met", "{n} rules are met", len(settled))
        with st.expander(met, icon=":material/check_circle:", key=f"release.met.{run.id}"):
            for line in settled:
                _line(workspace, line, policy, run)


def _never(
    workspace: engine.Workspace, lines: list[engine.RuleVerdict], policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Draw the rules that the run itself breaks, under the sentence that no decision here changes that."""
    with st.container(border=True, key="release.never", gap="small"):
        st.markdown(tr(":red[:material/block:] **This policy cannot be met by this run, whatever you approve.**"))
        widest = workspace.releases.audience(run.id).policy
        if widest is not None and not policy.requirements.whole_output:
            said = tr("The widest policy that its measurements meet is “{policy}”.", policy=plain(widest.title))
            st.caption(said)
        _lines(workspace, lines, policy, run)


def _lines(
    workspace: engine.Workspace, lines: Sequence[engine.RuleVerdict], policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Draw rules; what would help several of them alike stands once, below the last of these."""
    last = {line.remedy: place for place, line in enumerate(lines) if line.passed is not True}
    for place, line in enumerate(lines):
        _line(workspace, line, policy, run, helped=last.get(line.remedy, place) != place)


def _waiting(
    workspace: engine.Workspace, lines: list[engine.RuleVerdict], policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Draw the rules that nothing but an examination can answer, and the way to it, once for all of them."""
    with st.container(border=True, key="release.waiting", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            icon, word, colour = STATES[None]
            said = trn("{n} rule waits for the examination", "{n} rules wait for the examination", len(lines))
            st.markdown(f":{colour}[{icon}] **{said}** · :{colour}[{tr(word)}]", width="content")
            if st.button(
                tr("Examine the run"), icon=":material/arrow_forward:", icon_position="right",
                key=f"release.examine.{run.id}",
            ):  # fmt: skip
                choose_run(run.id)
                go("privacy")
        if examined_run.closes(run):
            st.caption(examined_run.closes(run))
        for line in lines:
            _line(workspace, line, policy, run, helped=True)


def _line(
    workspace: engine.Workspace,
    line: engine.RuleVerdict,
    policy: engine.Policy,
    run: engine.RunSummary,
    *,
    helped: bool = False,
) -> None:
    """Draw a rule and its state; what would help, but where that is said for several (`helped`)."""
    icon, word, colour = WAIVED if line.waived else HIGH if line.high else STATES[line.passed]
    with st.container(key=f"release.rule.{line.rule}", gap=None):
        st.markdown(f":{colour}[{icon}] **{plain(line.title)}** · :{colour}[{tr(word)}]")
        st.caption(plain(line.sentence))
        if line.passed is True:
            return
        if not helped:
            st.markdown(tr(":small[:material/arrow_forward: What would help: {remedy}]", remedy=plain(line.remedy)))
        release_waivers.draw(workspace, line, policy, run)
