"""The plan page on one screen: questions, cards, the settings of the chosen method beside them, and Start below."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import engine
from engine import JSON, JSONObject, Wanted
from pages._ui import states
from pages._ui.language import tr
from pages._ui.methods import method_cards, parameters, readable
from pages._ui.models import describe as models_describe
from pages._ui.navigation import go
from pages._ui.plan import budget as plan_budget
from pages._ui.plan import certainty, dock, lasting, presets, wizard
from pages._ui.plan import filter as plan_filter
from pages._ui.plan import labels as plan_labels
from pages._ui.plan import model as plan_model
from pages._ui.plan import pool as plan_pool
from pages._ui.plan import promise as plan_promise
from pages._ui.plan import sweep as plan_sweep
from pages._ui.plan.words import card_of
from pages._ui.texts import number, plain, seconds

OWN = (*plan_promise.OWN, *readable.OWN, *plan_pool.OWN)  # parameters that are asked for apart from the form


@st.fragment
def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw the page's body; a press in it draws it again without the rest of the page."""
    dock.leave()
    if st.session_state.pop(wizard.ANEW, False):
        st.rerun()  # the sidebar stands outside of what a press draws again
    facts = workspace.ledger.facts(corpus.id)
    drafts, runs = method_cards.Drafts(workspace, corpus, facts), workspace.runs.all(corpus.id)
    found = wizard.ask(workspace, corpus, facts)
    with st.container(key="plan-board"):
        left, right = st.columns([3, 2], gap="medium")
    with left:
        method = method_cards.choose(drafts, runs, found.recommended, partial(_keep, workspace, corpus.id), found.ways)
        several = st.container()
    below = st.container()
    with right, st.container(gap="xsmall"):
        wanted, draft = _chosen(workspace, corpus, facts, method, below, found.pools, runs)
    if wanted is None or draft is None:
        return
    with several:
        plan_sweep.draw(workspace, corpus, engine.get_method(wanted.method).spec, wanted)
    settled = partial(
        workspace.jobs.synthesize, corpus.id, wanted.method, count=wanted.count, parameters=dict(wanted.parameters),
        seed=wanted.seed, model=wanted.model,
    )  # fmt: skip
    spec = engine.get_method(wanted.method).spec
    unreviewed = workspace.plan.unreviewed(spec, corpus)
    tries_out = "generator" in spec.needs and wanted.model == plan_model.BUILTIN
    measured = lasting.last(runs, wanted.method, wanted.model)
    view = workspace.ledger.of(corpus.id) if draft.blockers else None
    asks = view is not None and (view.unknown_since is not None or bool(view.questions))
    reviews = unreviewed[0] if unreviewed else ""
    fit = certainty.to_what_is_left(workspace, corpus.id, draft) if certainty.applies(spec) and not asks else None
    dock.draw(
        draft, settled, reviews, tries_out=tries_out, measured=lasting.last_words(measured), asks=asks, fit=fit,
        pace=lasting.pace(workspace, measured), refuses=wizard.refuses(found.policy, spec.kind),
        reach=None if found.ways is None else found.ways.reach(draft.guarantee), aside=corpus.holdout_units,
    )  # fmt: skip


FEW = engine.ENOUGH_OUTPUTS  # outputs under which most uses are not judged


def _keep(workspace: engine.Workspace, corpus_id: str, method: str) -> None:
    """Remember the chosen method of a corpus; in a callback."""
    workspace.plan.remember(corpus_id, {**workspace.plan.remembered(corpus_id), "method": method})


def _chosen(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    facts: engine.Facts,
    inner: engine.MethodSpec,
    below: DeltaGenerator,
    pools: int,
    runs: Sequence[engine.RunSummary],
) -> tuple[Wanted | None, engine.Draft | None]:
    """Draw the chosen method's settings, and its details `below`; return the run they make and what it would do."""
    words = card_of(inner)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(words.name), anchor=False)
        method_cards.badge(inner.kind)
    top = st.container(gap="small")
    key = f"plan.set.{corpus.id}.{inner.id}"
    model = plan_model.choose(workspace, inner)
    settings: dict[str, JSON] = dict(plan_pool.ask(workspace, inner, key=key))
    if certainty.applies(inner):
        start = float(inner.parameters.model_fields["epsilon"].get_default())
        epsilon = certainty.ask(workspace, corpus)
        settings |= {} if epsilon == start else {"epsilon": epsilon}
    proof = st.container()
    count = _count(facts, inner, corpus.id)
    box = st.expander(tr("More settings"), icon=":material/tune:", key=f"{key}.box")
    with box:
        method = plan_filter.ask(inner, corpus.id)
        key = f"plan.set.{corpus.id}.{method.id}"
        seed = _seed(corpus.id, formal=method.kind == "dp")
        settings |= readable.ask(method, key=key)
        skip = tuple(name for name in OWN if name != "epsilon" or certainty.applies(method))
        first = presets.standard(inner).parameters
        settings |= parameters.fields(method, key=key, skip=skip, start=first)
    if "generator" in method.needs:
        models_describe.form(workspace, corpus, "plan")
    if method.kind == "dp":
        with st.expander(tr("Labels of the outputs"), icon=":material/label:", key="plan.labels.box"):
            plan_labels.draw(workspace, corpus, method)
            plan_pool.offer(method, pools)
    box = below.expander(tr("Details: source, proof, budget, cost"), icon=":material/fact_check:", key="plan.details")
    claim, money = box.columns(2, gap="large")
    with claim:
        st.markdown(
            tr("**{title}** is its name in the literature and on a data card.", title=plain(method.title))
            + f" {plain(method.summary)}"
        )
        st.caption(tr("Source: {citation}.", citation=plain(method.citation)))
    with money:
        settings |= plan_promise.knobs(workspace, corpus, method, facts, key=key)
    with top:
        presets.draw(
            workspace, corpus, facts, inner, key=key, asked=settings, count=count, skip=skip,
            pace=lasting.pace(workspace, lasting.last(runs, inner.id, plan_model.BUILTIN)),
        )  # fmt: skip
    asked = parameters.checked(method, settings)
    if asked is None:
        return None, None
    asked = {name: value for name, value in asked.items() if name in method.parameters.model_fields}
    draft = states.act(workspace.plan.draft, corpus.id, method.id, count=count, parameters=asked, model=model)
    states.flash()
    if draft is None:
        return None, None
    with proof:
        curve = plan_promise.curve(workspace, corpus, method, asked, draft.guarantee, model)
        plan_promise.sentence(workspace, corpus, method, asked, draft.guarantee, curve, model)
        _besides(workspace, method, corpus, draft)
    with claim:
        plan_promise.draw(corpus, draft.guarantee, curve)
    with money:
        _money(workspace, corpus, method, asked, count, draft)
    return Wanted(method.id, asked, count, seed, model), draft


def _count(facts: engine.Facts, method: engine.MethodSpec, corpus_id: str) -> int | None:
    """Ask how many outputs are wanted; for a method that makes one for each record, at most as many."""
    key = presets.count_key(corpus_id)
    most = facts.records if method.one_to_one else 100_000
    place = f"{key}.of"
    if st.session_state.get(place) != method.id:  # another method starts with its own standard
        if place in st.session_state or key not in st.session_state:
            st.session_state[key] = presets.standard(method).count(method, facts)
        st.session_state[place] = method.id
    st.session_state[key] = min(most, max(1, int(st.session_state.get(key) or 1)))
    count = int(
        st.number_input(
            tr("Outputs wanted"),
            min_value=1,
            max_value=max(1, most),
            step=10,
            key=key,
            persist_state="session",
            help=tr(
                "At most one for each of the {records} records that were not set aside.", records=number(facts.records)
            )
            if method.one_to_one
            else tr("How many synthetic records to keep. This number is published; filters may need to make more."),
        )
    )
    if count < FEW <= most:
        st.button(
            tr("Make {few}: about the fewest by which most uses can be judged", few=number(FEW)), key="plan.enough",
            type="tertiary", icon=":material/playlist_add:", on_click=_set, args=(key, FEW), help=_why_enough(),
        )  # fmt: skip
    return count


def _set(key: str, count: int) -> None:
    """Set the number of outputs; in a callback."""
    st.session_state[key] = count


def _why_enough() -> str:
    """Return why fewer than `FEW` outputs leave uses unjudged."""
    return tr(
        "Under about {few} outputs Utility can say “not known” of most uses: they are judged on 50 texts at "
        "the fewest, and of a method that rewrites records up to half of the texts do not count.",
        few=number(FEW),
    )


def _seed(corpus_id: str, *, formal: bool) -> int:
    """Ask for the seed; where noise protects people, say that it never touches it."""
    seed = st.number_input(
        tr("Number that fixes the draw (seed)"),
        min_value=0,
        max_value=2**31 - 1,
        value=0,
        key=f"plan.seed.{corpus_id}",
        help=tr("It fixes prompts and wording.")
        if formal
        else tr("The same corpus, settings and seed give the same outputs."),
        persist_state="session",
    )
    if formal:
        st.caption(
            tr("The seed never touches mechanism noise: that comes from the operating system and is drawn once.")
        )
    return int(seed)


def _besides(
    workspace: engine.Workspace, method: engine.MethodSpec, corpus: engine.CorpusSummary, draft: engine.Draft
) -> None:
    """Draw why the run may not start, and what else a person has to know first."""
    for blocker in draft.blockers[1:]:  # the bar below says the first
        states.refused(blocker, tr("Change this first, then start."))
    unseen = "spans" in method.needs and corpus.span_source is None
    unreviewed = workspace.plan.unreviewed(method, corpus)
    if (unseen or unreviewed) and st.button(tr("Go to review"), key="plan.review", icon=":material/rate_review:"):
        go("review")
    asked = st.session_state.get(f"plan.wizard.{corpus.id}.label", True)
    if not asked and method.one_to_one and workspace.labels.known(corpus.id).counts:
        st.caption(tr("This method writes each text from one record and gives it that record's label all the same."))
    told = () if draft.blockers else unreviewed[:1]  # the bar below says it
    for warning in draft.warnings:
        if warning in told:
            continue
        if warning == engine.NO_LABELS and not asked:  # that is what was answered
            st.caption(plain(warning))
        elif warning not in draft.plan.notes:
            st.warning(plain(warning), icon=":material/warning:")


def _money(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    asked: JSONObject,
    count: int | None,
    draft: engine.Draft,
) -> None:
    """Draw what a run does to the budget and buys, and what it costs."""
    plan_budget.draw(draft.guarantee, draft.what_if)
    plan_budget.buys(workspace, corpus, method, asked, draft.guarantee, count)
    for said in draft.advice:
        st.caption(plain(said))
    st.markdown(tr("**What it costs**"))
    plan = draft.plan
    st.markdown(
        tr(
            "{outputs} outputs, about {time} on this machine while nothing else runs, {model_calls} model calls, "
            "{tokens} tokens.",
            outputs=number(plan.outputs),
            time=seconds(plan.seconds),
            model_calls=number(plan.model_calls),
            tokens=number(plan.tokens),
        )
    )
    if plan.outputs < FEW:
        st.caption(_why_enough())
    for note in plan.notes:
        st.caption(plain(note))
