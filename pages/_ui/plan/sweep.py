"""Several runs in one go: budgets and repeats of the planned method, with what they cost together."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

import engine
from engine import JSONObject, Wanted, sweep_grid
from pages._ui import states
from pages._ui.language import tr, trn
from pages._ui.navigation import go
from pages._ui.parts import once
from pages._ui.plan import budget as plan_budget
from pages._ui.plan.promise import wait
from pages._ui.plan.words import card_of
from pages._ui.texts import number, plain, seconds

MOST_REPEATS = 10
REFERENCE = "public"


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary, method: engine.MethodSpec, base: Wanted) -> None:
    """Draw the form, the plan and the button, folded."""
    key = f"plan.sweep.{corpus.id}.{method.id}"
    box = st.expander(tr("Several runs in one go"), icon=":material/stacks:", key="plan.sweep.box", on_change="rerun")
    if not box.open:
        return
    with box:
        st.caption(
            tr(
                "Runs that are decided on now, together: all of them are reserved and queued, or none. Compare "
                "shows them on one board."
            )
        )
        wanted = _asked(workspace, method, base, key)
        if wanted is None:
            return
        draft = states.act(workspace.plan.sweep, corpus.id, wanted)
        states.flash()
        if draft is None:
            return
        _plan(draft)
        if draft.pending:
            wait(lambda: workspace.plan.sweep(corpus.id, wanted).pending, key=f"{key}.wait")
        examine = st.toggle(
            tr("Examine each when it is done"), value=True, key=f"{key}.examine", wrap=True,
            help=tr("An examined run is released with a proof that holds for it before it was picked."),
        )  # fmt: skip
        if st.button(
            trn("Start {n} run", "Start {n} runs", len(wanted)), key="plan.sweep.start",
            icon=":material/playlist_play:", disabled=bool(draft.blockers) or draft.pending, width="stretch",
        ):  # fmt: skip
            settled = partial(workspace.jobs.sweep, corpus.id, wanted, examine=examine)
            if once.act("plan.sweep.start", partial(states.act, settled)) is None:
                st.rerun()
            go("run")
        once.rearm("plan.sweep.start")


def _asked(workspace: engine.Workspace, method: engine.MethodSpec, base: Wanted, key: str) -> list[Wanted] | None:
    """Ask for budgets, repeats and further methods; None where the answers make no plan."""
    formal = method.kind == "dp" and "epsilon" in method.parameters.model_fields
    epsilons: list[float] = []
    others: list[str] = []
    reference = False
    if formal:
        words = st.text_input(
            tr("Budgets ε, separated by commas"), value=_first(base.parameters), key=f"{key}.epsilons",
            help=tr("One run a value; each spends its own budget."),
        )  # fmt: skip
        try:
            epsilons = [float(part) for part in words.replace(";", ",").split(",") if part.strip()]
        except ValueError:
            st.warning(tr("Budgets are numbers, such as 1, 2, 4."), icon=":material/help:")
            return None
        known = [spec for spec in workspace.plan.methods() if _budgeted(spec) and spec.id != method.id]
        titles = {spec.id: plain(card_of(spec).name) for spec in known}
        others = st.multiselect(
            tr("Also by these methods"), list(titles), key=f"{key}.others", format_func=titles.__getitem__,
            help=tr("At the same budgets, with their own default settings."),
        )  # fmt: skip
        reference = st.toggle(
            tr("And without any private text (ε = 0)"), value=method.id != REFERENCE, key=f"{key}.reference", wrap=True,
            help=tr("What the same number of outputs is worth where nothing private is read; it costs no budget."),
        )  # fmt: skip
    repeats = st.number_input(
        tr("Runs of each setting"), 1, MOST_REPEATS, 1, key=f"{key}.repeats",
        help=tr("Repeats show how much of a difference is the luck of one draw. Each spends budget of its own."),
    )  # fmt: skip
    try:
        return sweep_grid(base, epsilons, int(repeats), others, reference)
    except engine.UserError as error:
        st.warning(plain(str(error)), icon=":material/help:")
        return None


def _budgeted(spec: engine.MethodSpec) -> bool:
    return spec.kind == "dp" and "epsilon" in spec.parameters.model_fields


def _first(parameters: JSONObject) -> str:
    value = parameters.get("epsilon")
    return f"{value:g}" if isinstance(value, int | float) else "1, 2, 4"


def _plan(draft: engine.SweepDraft) -> None:
    """Draw the runs, their sum against the limit, and why they may not be started."""
    rows = [
        {
            tr("Method"): plain(card_of(engine.get_method(wanted.method).spec).name),
            "ε": number(one.guarantee.epsilon) if one.guarantee.kind == "dp" else tr("nothing proven"),
            tr("Seed"): wanted.seed,
            tr("Outputs"): one.plan.outputs,
            tr("Time"): seconds(one.plan.seconds),
        }
        for wanted, one in zip(draft.wanted, draft.drafts, strict=True)
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt=tr("The runs that would be started"), height="content")
    st.markdown(
        trn(
            "{n} run, about {time} on this machine.",
            "{n} runs, about {time} on this machine.",
            len(rows),
            time=seconds(draft.seconds),
        )
    )
    if draft.pending:
        st.caption(tr(":material/hourglass_top: The sum is known once the exact accounting is there."))
    if draft.budget is not None:
        plan_budget.both(draft.budget)
    for blocker in draft.blockers:
        states.refused(blocker, tr("Ask for fewer runs or smaller budgets, or set another limit on the ledger page."))
