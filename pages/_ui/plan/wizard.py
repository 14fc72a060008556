"""Six questions on the Plan page that propose unit, cap, method and policy, and say why.

How to use: `plan_wizard.draw(workspace, corpus, facts)` before the method cards are drawn.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import engine
from engine import Answers, Proposal, Recipients, propose
from pages._ui import method_cards, states
from pages._ui.navigation import go
from pages._ui.release.policy import CHOICE as POLICY
from pages._ui.texts import GUARANTEES, UNITS, count_of, plain

RECIPIENTS: dict[Recipients, str] = {
    "team": "People who may read the original",
    "organisation": "Colleagues under the same duties of confidence",
    "researchers": "Researchers under an agreement",
    "public": "Anyone",
}
ABOUT = {"unit": "Unit", "cap": "Cap", "method": "Method", "label": "Labels", "policy": "Policy", "review": "Review"}
YES_NO = ["Yes", "No"]
EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0]


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary, facts: engine.Facts) -> None:
    """Draw the questions, folded, with the proposal beside them."""
    with st.expander("Not sure where to start? Answer six questions", icon=":material/quiz:", key="plan.wizard.box"):
        left, right = st.columns(2, gap="large")
        with left:
            answers = _questions(corpus, facts)
        with right:
            specs = {spec.id: spec for spec in workspace.plan.methods()}
            try:
                proposal = propose(answers, available=tuple(specs))
            except engine.UserError as error:
                st.warning(plain(str(error)), icon=":material/help:")
            else:
                _proposal(workspace, corpus, proposal, specs)


def _questions(corpus: engine.CorpusSummary, facts: engine.Facts) -> Answers:
    """Draw the six questions with what is known of the corpus filled in."""
    key = f"plan.wizard.{corpus.id}"
    repeats = st.radio(
        "Does one person appear in more than one record?",
        YES_NO, index=0 if corpus.unit == "source" else 1, horizontal=True, key=f"{key}.repeats",
    )  # fmt: skip
    recipients = st.radio(
        "Who will receive the text?", list(RECIPIENTS), format_func=RECIPIENTS.__getitem__, index=2,
        key=f"{key}.recipients",
    )  # fmt: skip
    label = st.radio(
        "Do records carry a label that the outputs should carry too?",
        YES_NO, index=0 if facts.labels else 1, horizontal=True, key=f"{key}.label",
    )  # fmt: skip
    beside = st.radio(
        "Will reviewers see private text beside the output?",
        YES_NO, index=1, horizontal=True, key=f"{key}.beside",
    )  # fmt: skip
    units = st.number_input(
        "How many people, or records that stand alone, may be learned from?",
        min_value=0, max_value=100_000_000, value=int(facts.units), step=100, key=f"{key}.units",
        help="Filled in from this corpus: everything that was not set aside at import.",
    )  # fmt: skip
    epsilon = st.select_slider(
        "How much may one run tell about a person at most (ε)?", EPSILONS, value=4.0, format_func="{:g}".format,
        key=f"{key}.epsilon",
        help="Smaller protects more and takes a larger corpus: how many people a method needs follows from it.",
    )  # fmt: skip
    chosen: Recipients = recipients or "researchers"
    return Answers(repeats == "Yes", chosen, label == "Yes", beside == "Yes", int(units or 0), float(epsilon))


def _proposal(
    workspace: engine.Workspace, corpus: engine.CorpusSummary, proposal: Proposal, specs: dict[str, engine.MethodSpec]
) -> None:
    """Draw what is proposed and why, with buttons that act on it."""
    policies = {policy.id: policy for policy in workspace.releases.policies()}
    spec, policy = specs[proposal.method], policies[proposal.policy]
    st.markdown("**Proposal**")
    st.markdown(
        f"- **Protect** {UNITS[proposal.unit][0]}{_capped(proposal)}\n"
        f"- **Method** {plain(spec.title)} ({GUARANTEES[spec.kind][0]})\n"
        f"- **Policy** {plain(policy.title)}"
    )
    st.markdown("**Why**")
    st.markdown("\n".join(f"- *{ABOUT[why.about]}*: {plain(why.sentence)}" for why in proposal.reasons))
    st.button(
        "Use this method and policy", icon=":material/check:", key="plan.wizard.use",
        on_click=_use, args=(proposal, spec.title, policy.title),
    )  # fmt: skip
    _others(proposal, specs, policy.title)
    noisy = spec.kind == "dp"  # elsewhere the cap changes no promise
    if proposal.unit != corpus.unit or (noisy and proposal.cap != corpus.cap):
        own = f"{UNITS[corpus.unit][0]}{_capped(corpus)}"
        st.info(
            f"This corpus protects {own}. Unit and cap are fixed when a file is loaded: load the file again with "
            "the proposed ones. Budget already spent on these people stays spent.",
            icon=":material/upload_file:",
        )
        if st.button("Load the file again", key="plan.wizard.load"):
            go("load")


def _others(proposal: Proposal, specs: dict[str, engine.MethodSpec], policy: str) -> None:
    """Draw what else suits the answers, each with its reason and a button."""
    if not proposal.others:
        return
    st.markdown("**Also suited**")
    for name, why in proposal.others:
        title = specs[name].title
        st.markdown(f"- **{plain(title)}**: {plain(why)}")
        st.button(
            f"Use {title} instead", icon=":material/swap_horiz:", key=f"plan.wizard.other.{name}",
            on_click=_use, args=(replace(proposal, method=name), title, policy),
        )  # fmt: skip


def _capped(item: Proposal | engine.CorpusSummary) -> str:
    return f", at most {count_of(item.cap, 'record')} each" if item.unit == "source" else ""


def _use(proposal: Proposal, method: str, policy: str) -> None:
    """Choose the proposed method and policy; a callback."""
    st.session_state[method_cards.CHOICE] = proposal.method
    st.session_state[POLICY] = proposal.policy
    states.notice(f"{method} is chosen, and {policy} as the policy for a release.")
