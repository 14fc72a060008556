"""Plan: choose a method and a budget, read what they promise, cost and buy, and start a run."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine import JSON, Wanted
from pages._ui import method_cards, once, parameters, readable, states
from pages._ui.current import current_corpus, show_run
from pages._ui.guard import guard
from pages._ui.models import describe as models_describe
from pages._ui.navigation import go
from pages._ui.plan import budget as plan_budget
from pages._ui.plan import filter as plan_filter
from pages._ui.plan import labels as plan_labels
from pages._ui.plan import model as plan_model
from pages._ui.plan import pool as plan_pool
from pages._ui.plan import promise as plan_promise
from pages._ui.plan import sweep as plan_sweep
from pages._ui.plan import wizard as plan_wizard
from pages._ui.texts import count_of, number, plain, seconds

workspace = guard()

st.title("Plan", anchor=False)
corpus = current_corpus(workspace)
if corpus is None:
    states.empty("No corpus yet", "Load a file or try a sample first.", action="Load", page="load", key="plan.empty")
    st.stop()

facts = workspace.ledger.facts(corpus.id)
plan_wizard.draw(workspace, corpus, facts)
method = method_cards.choose(workspace, corpus)
left, right = st.columns([1, 1], gap="large")

with left:
    st.subheader("How much, and how", anchor=False)
    method = plan_filter.ask(method, corpus.id)
    model = plan_model.choose(workspace, method)
    if "generator" in method.needs:
        models_describe.form(workspace, corpus, "plan")
    if method.one_to_one:
        count = None
        st.markdown(f"One output for each of the {number(facts.records)} records that were not set aside.")
    else:
        count = int(
            st.number_input(
                "Outputs wanted",
                min_value=1,
                max_value=100_000,
                value=min(500, facts.units),
                step=50,
                key=f"plan.count.{corpus.id}",
                help="How many synthetic records to keep. This number is published; filters may need to make more.",
            )
        )
    formal = method.kind == "dp"
    seed = int(
        st.number_input(
            "Number that fixes the draw (seed)",
            min_value=0,
            max_value=2**31 - 1,
            value=0,
            key=f"plan.seed.{corpus.id}",
            help="It fixes prompts and wording. It never touches mechanism noise, which this machine draws anew."
            if formal
            else "The same corpus, settings and seed give the same outputs.",
        )
    )
    if formal:
        st.caption("The seed never touches mechanism noise: that comes from the operating system and is drawn once.")
    plan_labels.draw(workspace, corpus, method)
    key, own = f"plan.set.{corpus.id}.{method.id}", (*plan_promise.OWN, *readable.OWN, *plan_pool.OWN)
    settings: dict[str, JSON] = {**readable.ask(method, key=key), **plan_pool.ask(workspace, method, key=key)}
    settings |= parameters.form(method, key=key, skip=own)

with right:
    st.subheader("What it promises", anchor=False)
    settings |= plan_promise.knobs(method, facts, key=f"plan.set.{corpus.id}.{method.id}")
    asked = parameters.checked(method, settings)
    if asked is None:
        st.stop()
    answer = states.act(workspace.plan.draft, corpus.id, method.id, count=count, parameters=asked, model=model)
    states.flash()
    if answer is None:
        st.stop()
    guarantee, plan = answer.guarantee, answer.plan
    plan_promise.draw(workspace, corpus, method, asked, guarantee)

with left:
    plan_budget.draw(guarantee, answer.what_if)
    plan_budget.buys(workspace, corpus, method, asked, guarantee, count)
    st.subheader("What it costs", anchor=False)
    with st.grid(2, min_column_width=130):
        st.metric("Outputs", number(plan.outputs), border=True)
        st.metric("Time on this machine", seconds(plan.seconds), border=True)
        st.metric("Model calls", number(plan.model_calls), border=True)
        st.metric("Tokens", number(plan.tokens), border=True)
    for note in plan.notes:
        st.caption(plain(note))
    for warning in answer.warnings:
        if warning not in plan.notes:
            st.warning(plain(warning), icon=":material/warning:")
    for sentence in answer.advice:
        st.info(plain(sentence), icon=":material/lightbulb:")
    for blocker in answer.blockers:
        states.refused(blocker, "Change this first, then start.")
    if "spans" in method.needs and corpus.span_source is None and st.button("Go to review", key="plan.review"):
        go("review")

    if st.button(
        f"Start: {count_of(plan.outputs, 'output')}",
        type="primary",
        icon=":material/play_arrow:",
        key="plan.start",
        disabled=bool(answer.blockers) or guarantee.pending,
        width="stretch",
    ):
        settled = partial(
            workspace.jobs.synthesize, corpus.id, method.id, count=count, parameters=asked, seed=seed, model=model
        )
        run_id = once.act("plan.start", partial(states.act, settled))
        if run_id is None:
            st.rerun()
        show_run(run_id)
        go("run")
    once.rearm("plan.start")
    plan_sweep.draw(workspace, corpus, method, Wanted(method.id, asked, count, seed, model))
