"""Which policy a run is held against, where it comes from, and what keeps its gate shut in a few words.

Privacy posture: shows measured values to the custodian; none of it goes into a bundle.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import engine
from engine import POLICY_OF, gate_order, out_of_reach, policy_for, proof_taken
from pages._ui.examined import run as examined_run
from pages._ui.language import mark, tr, trn
from pages._ui.parts.progress import running_job
from pages._ui.plan.leaving import INSIDE
from pages._ui.sign_in.visitor import may
from pages._ui.states import act
from pages._ui.texts import first_sentence, plain

CHOICE = "release.policy.choice"
OF = "release.policy.of"  # the corpus that a person made the choice for; empty where nobody did
OF_RUN = "release.policy.run"  # the run that was looked at then
FOLDED = "release.folded"  # whether records and words are shown under a policy that they cannot help
WAIT = mark("Wait until the examination has ended.")


def named(workspace: engine.Workspace, corpus_id: str) -> str:
    """Return the policy of the readers that a person named on Plan; empty where nobody did: no answer is assumed."""
    return POLICY_OF.get(_readers(workspace.plan.remembered(corpus_id)), "")


def _readers(known: engine.JSONObject) -> str:
    """Return who will receive the text, as answered on Plan; empty where nobody did."""
    return str(known.get("recipients") or "")


def preselected(workspace: engine.Workspace, corpus_id: str, run: engine.RunSummary | None) -> str:
    """Return the policy that a run is held against before a person chooses one; empty where no readers are named."""
    readers = _readers(workspace.plan.remembered(corpus_id))
    if readers not in POLICY_OF:
        return ""
    proven = run is not None and not run.stale and run.examined_at is None and proof_taken(run.guarantee)
    unseen = proven and run is not None and workspace.examinations.in_part(run.id) is None
    return policy_for(readers, proven=unseen)


def standing(workspace: engine.Workspace, corpus_id: str, run: engine.RunSummary | None = None) -> engine.Policy:
    """Return the policy a run of this corpus is held against: as chosen here, else the one that is preselected.

    What was chosen is kept with the corpus, until other readers are named on Plan. A policy that goes by a proof alone
    holds for other runs only where they have one.
    """
    policies = {policy.id: policy for policy in workspace.releases.policies()}
    wanted = (
        one for one in (_chosen(workspace, corpus_id, run), preselected(workspace, corpus_id, run)) if one in policies
    )
    return policies[next(wanted, next(iter(policies)))]


def was_chosen(workspace: engine.Workspace, corpus_id: str, run: engine.RunSummary | None = None) -> bool:
    """Return whether a person chose the policy on Release that stands, for the readers that are named on Plan."""
    return bool(_chosen(workspace, corpus_id, run))


def _chosen(workspace: engine.Workspace, corpus_id: str, run: engine.RunSummary | None) -> str:
    """Return the policy that a person chose, in this session or before it; empty where nobody did, or not for this run.

    One that goes by a proof alone was not chosen for another run that has none.
    """
    if CHOICE in st.session_state and st.session_state.get(OF) in (None, corpus_id):
        chosen, of = str(st.session_state[CHOICE]), st.session_state.get(OF_RUN)
    else:
        known = workspace.plan.remembered(corpus_id)
        chosen = str(known.get("policy") or "") if known.get("policy_for") == _readers(known) else ""
        of = known.get("policy_run")
    elsewhere = run is not None and of and of != run.id and not proof_taken(run.guarantee)
    return "" if elsewhere and _proof_alone(workspace, chosen) else chosen


def _proof_alone(workspace: engine.Workspace, policy_id: str) -> bool:
    return any(one.id == policy_id and one.requirements.whole_output for one in workspace.releases.policies())


def whence(workspace: engine.Workspace, corpus_id: str, policy: engine.Policy, run: engine.RunSummary) -> str:
    """Return in one sentence where the policy comes from that stands."""
    of_plan = named(workspace, corpus_id)
    other = next((one for one in workspace.releases.policies() if one.id == of_plan), None)
    if policy.id == of_plan:
        return tr("As answered on Plan.")
    if other is not None and policy.id == preselected(workspace, corpus_id, run):
        return tr(
            "Proposed, since this run has a proof and nobody examined it. Once it is examined, “{policy}” holds, as "
            "answered on Plan.",
            policy=plain(other.title),
        )
    if other is not None and policy.requirements.whole_output:
        return tr(
            "For the readers named on Plan “{policy}” holds, which goes by measurements.", policy=plain(other.title)
        )
    if other is not None:
        return tr("On Plan other readers are named, whose policy is “{policy}”.", policy=plain(other.title))
    if policy.id == INSIDE:
        return nobody_named(policy)
    return ""


def nobody_named(policy: engine.Policy) -> str:
    """Return what holds while nobody has said who receives the text; one sentence for every page."""
    return tr("No readers are named on Plan yet: until then “{policy}” holds, for inside.", policy=plain(policy.title))


def reach(policy: engine.Policy) -> str:
    """Return for whom a text under a policy is, in its first sentence; empty where it has none."""
    said = first_sentence(policy.sentence)
    return f"{said}." if said else ""


def choose(workspace: engine.Workspace, run: engine.RunSummary) -> engine.Policy:
    """Draw the picker and return the chosen policy; at first the one that is preselected."""
    corpus_id = run.corpus_id
    policies = {policy.id: policy for policy in workspace.releases.policies()}
    chosen_before = _chosen(workspace, corpus_id, run) in policies
    st.session_state[CHOICE] = standing(workspace, corpus_id, run).id
    st.session_state[OF] = corpus_id if chosen_before else ""

    chosen = st.radio(
        tr("Policy"),
        list(policies),
        format_func=lambda policy_id: policies[policy_id].title,
        key=CHOICE,
        horizontal=True,
        persist_state="session",
        label_visibility="collapsed",
        on_change=_keep,
        args=(workspace, corpus_id, run.id),
    )
    policy = policies[chosen or next(iter(policies))]
    st.caption(" ".join(part for part in (plain(policy.sentence), whence(workspace, corpus_id, policy, run)) if part))
    return policy


def hold_against(workspace: engine.Workspace, corpus_id: str, run_id: str, policy_id: str) -> None:
    """Choose a policy for a person who pressed its name while looking at a run."""
    st.session_state[CHOICE] = policy_id
    _keep(workspace, corpus_id, run_id)


def _keep(workspace: engine.Workspace, corpus_id: str, run_id: str) -> None:
    """Keep the chosen policy with the corpus; for whoever may not change that, it stands for this session."""
    st.session_state[OF], st.session_state[OF_RUN] = corpus_id, run_id
    if may(engine.Right.MANAGE):
        known = workspace.plan.remembered(corpus_id)
        said: engine.JSONObject = {
            "policy": str(st.session_state[CHOICE]), "policy_for": _readers(known), "policy_run": run_id
        }  # fmt: skip
        act(workspace.plan.remember, corpus_id, {**known, **said})


def named_anew(workspace: engine.Workspace, corpus_id: str, run: engine.RunSummary | None) -> None:
    """Follow the readers that were named on Plan a moment ago, whatever was chosen for others before."""
    st.session_state[OF] = st.session_state[OF_RUN] = ""
    st.session_state[CHOICE] = preselected(workspace, corpus_id, run)


def reachable(verdict: engine.Verdict, policy: engine.Policy) -> bool:
    """Return whether decisions can open the gate: the run itself breaks no rule."""
    return not any(out_of_reach(policy, line) for line in verdict.rules)


def closed_by(
    workspace: engine.Workspace, run: engine.RunSummary, verdict: engine.Verdict, policy: engine.Policy
) -> tuple[str, engine.RuleVerdict]:
    """Return what keeps the gate shut in a few words, and the first rule of those that do."""
    open_rules = gate_order(policy, verdict.open_rules())
    lacking = (line for line in open_rules if line.rule == "guarantee" and policy.requirements.whole_output)
    first = next(lacking, open_rules[0])  # as the check-list begins
    others = [line for line in open_rules if line is not first]
    waiting = next((line for line in verdict.rules if line.rule == "current" and line.passed is None), None)
    if waiting is not None and not out_of_reach(policy, first):
        if running_job(workspace, kind="examine", run_id=run.id) is not None:
            return tr("Being examined"), replace(waiting, remedy=tr(WAIT))
        return examined_run.in_part(workspace, run) or tr("Not examined yet"), waiting
    if first.rule == "unmeasured" and (part := examined_run.in_part(workspace, run)):
        return part, first
    if not others:
        return tr("Not met: “{rule}”", rule=plain(first.title)), first
    return trn(
        "Not met: “{rule}” and {n} more", "Not met: “{rule}” and {n} more", len(others), rule=plain(first.title)
    ), first
