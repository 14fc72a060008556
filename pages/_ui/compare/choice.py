"""Paid choice: let private records choose among the runs with a proof, with noise, for a line in the ledger."""

from __future__ import annotations

from functools import partial

import streamlit as st

import engine
from pages._ui import states
from pages._ui.current import current_corpus
from pages._ui.navigation import go
from pages._ui.parts import once
from pages._ui.plan import budget as plan_budget
from pages._ui.sign_in.closed import lacks
from pages._ui.texts import count_of, number, plain, run_name, seconds

METHOD, LEAST = "paid-choice", 2
WHY = (
    "Taking the best run by its findings is a choice that private records took part in, and no proof covers it. Here "
    "the records choose instead: each person ranks the runs by how near their texts come, the ranks are added up with "
    "noise, and the first one's texts become a new run. All runs with a proof take part, since leaving some out could "
    "be a choice already."
)
NOT_EXAMINED = (
    "An examined text keeps a proof that holds before it was picked, whichever way it was. For the whole proof, choose "
    "among runs that nobody has examined, and release what was chosen unexamined."
)


def offered(workspace: engine.Workspace) -> bool:
    """Return whether there are two runs to choose among, so that `draw` draws the offer."""
    corpus = current_corpus(workspace)
    return corpus is not None and len(workspace.plan.choosable(corpus.id)[0]) >= LEAST


def draw(workspace: engine.Workspace) -> None:
    """Draw the offer, folded; nothing where there are not two runs to choose among."""
    corpus = current_corpus(workspace)
    if corpus is None:
        return
    names, outputs = workspace.plan.choosable(corpus.id)
    if len(names) < LEAST:
        return
    box = st.expander(
        "Let the records choose (paid)", icon=":material/how_to_vote:", key="compare.choice", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        st.markdown(WHY)
        runs = {run.id: run for run in workspace.runs.all(corpus.id)}
        st.dataframe(
            [
                {"Run": run_name(runs[name]), "ε": number(runs[name].guarantee.epsilon), "Outputs": runs[name].kept,
                 "Examined": "yes" if runs[name].examined_at else "no"}
                for name in names
            ],
            hide_index=True, height="content", alt="The runs that the records choose among",
        )  # fmt: skip
        if any(runs[name].examined_at for name in names):
            st.caption(NOT_EXAMINED)
        left, right = st.columns(2)
        epsilon = left.slider(
            "ε of the choice", 0.1, 4.0, 0.5, 0.1, key=f"compare.choice.epsilon.{corpus.id}",
            help="What the choice itself may cost. What the runs spent is in the ledger already, and counts in the "
            "sentence of the chosen text: all of them, since all were read to choose.",
        )  # fmt: skip
        count = right.number_input(
            "Outputs", 1, outputs, min(outputs, 500), key=f"compare.choice.count.{corpus.id}.{outputs}",
            help="The first so many of each run are compared, and those of the chosen one are kept.",
        )  # fmt: skip
        settings: engine.JSONObject = {"epsilon": round(float(epsilon), 3)}
        draft = states.act(workspace.plan.draft, corpus.id, METHOD, count=int(count), parameters=settings)
        states.flash()
        if draft is None:
            return
        _say(draft)
        if st.button(
            f"Choose among {count_of(len(names), 'run')}", key="compare.choice.start", type="primary",
            icon=":material/how_to_vote:", disabled=bool(draft.blockers) or lacks(engine.Right.MANAGE),
        ):  # fmt: skip
            asked = partial(workspace.jobs.synthesize, corpus.id, METHOD, count=int(count), parameters=settings)
            if once.act("compare.choice.start", partial(states.act, asked)) is None:
                st.rerun()
            go("run")
        once.rearm("compare.choice.start")


def _say(draft: engine.Draft) -> None:
    """Draw what the choice can tell, costs and promises, and why it may not be made."""
    for line in draft.advice:
        st.markdown(plain(line))
    for warning in draft.warnings:
        if warning not in draft.plan.notes:
            st.warning(plain(warning), icon=":material/warning:")
    st.caption(plain(draft.guarantee.sentence))
    st.caption(f"About {seconds(draft.plan.seconds)} on this machine.")
    if draft.what_if is not None:
        plan_budget.both(draft.what_if)
    for blocker in draft.blockers:
        states.refused(blocker, "Ask for fewer outputs or a smaller ε, or set another limit on the ledger page.")
