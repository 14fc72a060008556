"""Questions on the plan page, remembered for each corpus, and what follows from the answers: methods and a policy.

What is fixed at import (who is protected, how many may be learned from) is not asked again; it is said.

How to use: `found = ask(workspace, corpus, facts)` before the cards are drawn; `found.recommended` are the cards.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

import engine
from engine import (
    POLICY_OF,
    Answers,
    JSONObject,
    Proposal,
    Recipients,
    Recommended,
    can_be_set_aside,
    enough_for,
    least_aside,
    policy_for,
    propose,
    recommended,
)
from pages._ui.current import current_run
from pages._ui.language import mark, tr, translator
from pages._ui.methods import method_cards
from pages._ui.navigation import go
from pages._ui.plan import certainty
from pages._ui.plan.leaving import Ways
from pages._ui.plan.words import card_of
from pages._ui.release import policy as release_policy
from pages._ui.texts import count_of, number, plain

RECIPIENTS: dict[Recipients, str] = {
    "team": mark("People who may read the original"),
    "organisation": mark("Colleagues under the same duties"),
    "researchers": mark("Researchers under an agreement"),
    "public": mark("Anyone"),
}
NOBODY, UNSAID = "", mark("No readers named yet")  # what is proposed is careful; no policy follows from it
FIRST = mark(
    "**Name the readers first:** the policy, the methods below and what has to be measured follow from who they are."
)
CAREFUL = mark("Methods are proposed as carefully as for researchers.")
BESIDE = {
    False: mark("No, they read the new text alone"),
    True: mark("Yes, beside the original"),
}
YES_NO = {True: mark("Yes"), False: mark("No")}
ABOUT = {
    "unit": mark("Who is protected"),
    "cap": mark("Records of one person"),
    "method": mark("Method"),
    "label": mark("Labels"),
    "policy": mark("Policy"),
    "review": mark("Review"),
}
OF = "plan.method.of"  # the corpus that the chosen method was chosen for
ANEW = "_ui.plan.readers"  # set where other readers were named, which the sidebar speaks of


@dataclass(frozen=True)
class Found:
    """What the answers come to."""

    recommended: tuple[Recommended, ...]
    proposal: Proposal
    pools: int  # of text made elsewhere
    policy: engine.Policy | None = None  # that holds for the readers who were named
    ways: Ways | None = None  # under which a run could leave to the readers, as proposed or named


def ask(workspace: engine.Workspace, corpus: engine.CorpusSummary, facts: engine.Facts) -> Found:
    """Draw the questions in one row and a line on what follows; return the methods that suit."""
    known = workspace.plan.remembered(corpus.id)
    specs = {spec.id: spec for spec in workspace.plan.methods()}
    pools = len(workspace.pools.all())
    answers = answered(workspace, corpus, facts, known, pools)
    _recall(corpus, known, specs)
    key = f"plan.wizard.{corpus.id}"
    named = _named(known)
    stands = {"recipients": named or NOBODY, "beside": answers.private_beside, "label": answers.label}
    for name, value in stands.items():
        st.session_state[f"{key}.{name}"] = value
    labelled = facts.labels > 0 or bool(workspace.labels.known(corpus.id).counts)

    def changed() -> None:
        readers = str(st.session_state[f"{key}.recipients"])
        said: JSONObject = {
            **({} if readers == NOBODY else {"recipients": readers}),  # no answer is assumed for a release
            "beside": bool(st.session_state[f"{key}.beside"]),
            "label": bool(st.session_state.get(f"{key}.label", answers.label)),
        }
        _follow(workspace, corpus, facts, {**workspace.plan.remembered(corpus.id), **said}, tuple(specs))

    with st.container(key="plan.wizard.box", horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            tr("Who will receive the text?"), [*([] if named else [NOBODY]), *RECIPIENTS],
            format_func=translator({NOBODY: UNSAID, **RECIPIENTS}),
            key=f"{key}.recipients", on_change=changed, width=250,
        )  # fmt: skip
        st.selectbox(
            tr("Compared with the original?"),
            list(BESIDE),
            format_func=translator(BESIDE),
            key=f"{key}.beside",
            on_change=changed,
            width=250,
            help=tr(
                "Whoever leaves records out after a look at private text chooses by private text, and no proven bound "
                "covers that choice. Reading the new text alone keeps a bound whole."
            ),
        )
        if labelled:
            st.selectbox(
                tr("Should texts carry a label?"), list(YES_NO), format_func=translator(YES_NO), key=f"{key}.label",
                on_change=changed, width=185,
            )  # fmt: skip
        proposal = propose(answers, tuple(specs))
        policies = {policy.id: policy for policy in workspace.releases.policies()}
        enough = enough_for(answers.recipients, beside=answers.private_beside)
        found = Found(
            recommended(answers, tuple(specs)), proposal, pools, policies[proposal.policy] if named else None,
            Ways(tuple(policies.values()), corpus.holdout_units, enough),
        )  # fmt: skip
        with st.popover(tr("Why these"), icon=":material/quiz:", key="plan.why"):
            proven = any(specs[one.method].kind == "dp" for one in found.recommended)
            unseen = policies.get(policy_for(answers.recipients, proven=True)) if proven else None
            other = None if unseen is None or unseen.id == proposal.policy else unseen
            _reasons(workspace, corpus, facts, found, specs, policies[proposal.policy], other, named is not None)
    if named is None:
        st.markdown(f":material/group: {tr(FIRST)}")
        st.caption(f"{release_policy.nobody_named(policies[POLICY_OF['team']])} {tr(CAREFUL)}")
    elif few := few_aside(policies[found.proposal.policy], corpus):
        st.markdown(f":orange[:material/warning: {few}]")
    return found


def refuses(policy: engine.Policy | None, kind: str) -> str:
    """Return that the policy of the readers takes no run of a method, whatever is measured; empty where it may."""
    if policy is None or kind in policy.requirements.guarantee_kinds:
        return ""
    return tr(
        "“{policy}”, which holds for these readers, takes no run of this method, whatever is measured.",
        policy=plain(policy.title),
    )


def few_aside(policy: engine.Policy, corpus: engine.CorpusSummary) -> str:
    """Return what can be done where too few are set aside for the policy of the readers; empty where enough are."""
    least = least_aside(policy)
    if least is None or corpus.holdout_units >= least:
        return ""
    holds = tr("For these readers “{policy}” holds.", policy=plain(policy.title))
    if not can_be_set_aside(least, corpus.units):
        cure = tr(
            "Of {all}, too few can be set aside for measuring to meet its limits: a run with a proof that nobody "
            "examined can be released (“Proof alone”).",
            all=count_of(corpus.units, *(("record",) if corpus.unit == "record" else ("person", "people"))),
        )  # fmt: skip
    else:
        cure = tr(
            "With {some} set aside, measuring can hardly meet its limits: load the file again with {least} or more, or "
            "release a run with a proof that nobody examined (“Proof alone”).",
            some=number(corpus.holdout_units), least=number(least),
        )  # fmt: skip
    return f"{holds} {cure}"


def answered(
    workspace: engine.Workspace, corpus: engine.CorpusSummary, facts: engine.Facts, known: JSONObject, pools: int
) -> Answers:
    """Return the answers as they stand: what was said of the corpus, else a careful start."""
    recipients = _named(known) or "researchers"
    return Answers(
        repeats=corpus.unit == "source",
        recipients=recipients,
        label=bool(known.get("label", workspace.ledger.public_facts(corpus.id).labels > 0)),
        private_beside=bool(known.get("beside", False)),
        units=facts.units,
        epsilon=certainty.held(workspace, corpus.id),
        known_kind=_known_kind(workspace, corpus.id),
        pool=pools > 0,
    )


def _named(known: JSONObject) -> Recipients | None:
    """Return who will receive the text, as a person answered; None where nobody did."""
    said = str(known.get("recipients") or "")
    return next((name for name in RECIPIENTS if name == said), None)


def _known_kind(workspace: engine.Workspace, corpus_id: str) -> bool:
    """Say whether the corpus is declared to hold what the built-in model, which a run asks by default, can write."""
    return workspace.descriptions.get(corpus_id) is not None and not workspace.first_look.unlike("builtin", corpus_id)


def _recall(corpus: engine.CorpusSummary, known: JSONObject, specs: dict[str, engine.MethodSpec]) -> None:
    """Choose the method that was last chosen for this corpus, when a session first comes to it."""
    earlier = st.session_state.get(OF)
    if earlier == corpus.id:
        return
    st.session_state[OF] = corpus.id
    if earlier is not None or method_cards.CHOICE not in st.session_state:
        st.session_state.pop(method_cards.CHOICE, None)
        if known.get("method") in specs:
            st.session_state[method_cards.CHOICE] = known["method"]


def _follow(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    facts: engine.Facts,
    said: JSONObject,
    available: tuple[str, ...],
) -> None:
    """Keep the answers, and choose what they propose where the chosen method is not among what suits them."""
    answers = answered(workspace, corpus, facts, said, len(workspace.pools.all()))
    method_cards.forget(corpus.id)
    suited = recommended(answers, available)
    if suited and st.session_state.get(method_cards.CHOICE) not in [one.method for one in suited]:
        st.session_state[method_cards.CHOICE] = method_cards.best(method_cards.Drafts(workspace, corpus, facts), suited)
    before = _named(workspace.plan.remembered(corpus.id))
    workspace.plan.remember(corpus.id, {**said, "method": str(st.session_state.get(method_cards.CHOICE) or "")})
    if _named(said) not in (None, before):
        release_policy.named_anew(workspace, corpus.id, current_run(workspace, corpus))
        st.session_state[ANEW] = True


def _reasons(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    facts: engine.Facts,
    found: Found,
    specs: dict[str, engine.MethodSpec],
    policy: engine.Policy,
    unseen: engine.Policy | None,
    named: bool,
) -> None:
    """Draw why these methods and which policy, also for a proof that nobody examined, and what was fixed at import."""
    st.markdown(tr("**Why these methods**"))
    drafts = method_cards.Drafts(workspace, corpus, facts)
    for one in found.recommended:
        said = method_cards.why(drafts, one)
        st.markdown(f"- **{plain(card_of(specs[one.method]).name)}**: {plain(said)}")
    if named:
        st.markdown(tr("**Policy for a release**: {policy}", policy=plain(policy.title)))
    else:
        st.markdown(tr("**Policy for a release**: {policy}, once these readers are named", policy=plain(policy.title)))
    if unseen is not None:
        said = tr("A run with a proof that nobody examined: “{policy}”.", policy=plain(unseen.title))
        st.markdown(f"- {said}")
    for why in found.proposal.reasons:
        if why.about in ("policy", "review", "label"):
            st.markdown(f"- {tr(ABOUT[why.about])}: {plain(why.sentence)}")
    st.markdown(tr("**Fixed at import**"))
    st.markdown(fixed(workspace, corpus, facts))
    if st.button(tr("Load the file again"), key="plan.wizard.load", icon=":material/upload_file:"):
        go("load")


def fixed(workspace: engine.Workspace, corpus: engine.CorpusSummary, facts: engine.Facts) -> str:
    """Return what was fixed at import, and what a cap beyond anybody's records costs."""
    if corpus.unit == "record":
        return tr(
            "Each record is protected by itself; {units} may be learned from. If one person has "
            "several records, load the file again and name the column that says whose they are.",
            units=number(facts.units),
        )
    cap = count_of(corpus.cap, "record")
    said = tr(
        "People are protected, with at most {cap} each; {units} may be learned from.",
        cap=cap,
        units=number(facts.units),
    )
    sizes = [int(size) for size in workspace.corpora.statistics(corpus.id).records_per_unit]
    if sizes and max(sizes) < corpus.cap:
        said += " " + (
            tr(
                "Nobody here has more than {largest}, but noise is made for the {cap} that were declared. "
                "If you would name a smaller number without this file, load it again with that; the "
                "count itself is private.",
                largest=max(sizes),
                cap=corpus.cap,
            )
        )
    return said
