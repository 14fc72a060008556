"""What was spent in a time that the ledger lost, as a person states it; how sure an attacker becomes, beside each ε."""

from __future__ import annotations

import math

import streamlit as st

import engine
from engine import posterior
from pages._ui import acting, states
from pages._ui.sign_in.closed import lacks
from pages._ui.texts import when

BEFORE = 0.10  # how sure the attacker is beforehand
SINCE = ("Nothing was: no run with a guarantee was made on another copy", "Something was: enter it")


def spent(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw the form that enters what a restored or rolled-back ledger does not know."""
    with st.container(border=True, key="ledger.since.box"):
        st.markdown(f"**What was spent after {when(view.unknown_since)}?**")
        st.markdown(
            "This ledger was restored, copied with its folder, or put back to an older state, so it does not know what "
            "runs with a guarantee drew since, here or on another copy. Until it is answered no such run is admitted. "
            "The answer stands in the ledger under your name."
        )
        answer = st.radio(
            "What was spent", SINCE, index=None, key=f"ledger.since.answer.{corpus.id}", label_visibility="collapsed"
        )
        if answer == SINCE[0]:
            acting.ask(workspace, key="ledger.since", what="This answer")
            sure = st.checkbox(
                "I know of every copy of this workspace, and no run with a guarantee was made there or here since",
                key=f"ledger.since.sure.{corpus.id}", wrap=True,
            )  # fmt: skip
            st.button(
                "State that nothing was spent", type="primary", icon=":material/check:", key="ledger.since.nothing",
                on_click=_enter, args=(workspace, corpus.id, 0.0, 0.0), disabled=not sure or lacks(engine.Right.MANAGE),
            )  # fmt: skip
        elif answer == SINCE[1]:
            acting.ask(workspace, key="ledger.since", what="This answer")
            _amount(workspace, corpus)


def _amount(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw the fields for what was spent elsewhere."""
    st.markdown(
        "Add up the ε and the δ of those runs, from your own notes or from released data cards. Their sum is never too "
        "small, so it is counted against the limit in full."
    )
    left, right = st.columns(2)
    with left:
        epsilon = st.number_input(
            "ε spent since", min_value=0.0, max_value=1000.0, value=0.0, step=0.5,
            key=f"ledger.since.epsilon.{corpus.id}",
        )  # fmt: skip
    with right:
        delta = st.number_input(
            "δ spent since", min_value=0.0, max_value=0.01, value=0.0, step=1e-6, format="%.3g",
            key=f"ledger.since.delta.{corpus.id}",
        )  # fmt: skip
    st.button(
        "Enter this amount", type="primary", icon=":material/check:", key="ledger.since.set",
        on_click=_enter, args=(workspace, corpus.id, epsilon, delta),
        disabled=not epsilon or lacks(engine.Right.MANAGE),
    )  # fmt: skip


def sure(epsilon: float) -> str:
    """Return how sure, but for δ, who was 10% sure may become under ε, rounded up; certainty is never claimed."""
    after = math.ceil(1000 * posterior(BEFORE, epsilon) - 1e-6) / 10
    return f"at most {after:.1f}%" if after <= 99.9 else "more than 99.9%"


def _enter(workspace: engine.Workspace, corpus_id: str, epsilon: float, delta: float) -> None:
    """Count an amount as spent in the unknown time, and say so for a moment; a callback."""

    def entered() -> bool:
        workspace.ledger.declare_spent(corpus_id, epsilon, delta)
        return True

    if states.act(entered):
        said = f"ε = {epsilon:g} is counted as spent in the unknown time." if epsilon else "Nothing was spent since."
        st.toast(said, icon=":material/check_circle:")


def beside(epsilon: float | None) -> str | None:
    """Return what stands beside an ε: the certainty that it allows; None where there is no ε."""
    return f"10% → {sure(epsilon)}" if epsilon and epsilon > 0 else None


def metric(label: str, value: str, epsilon: float | None, *, note: str, under: str = "") -> None:
    """Draw an ε, written as `value`, with the certainty that it allows and a note as its help; None bounds nothing.

    Args:
        under: what stands there instead of the certainty.
    """
    allows = under or ("bounds nothing" if epsilon is None else beside(epsilon) or "10% stays 10%")
    st.metric(label, value, allows, delta_color="off", delta_arrow="off", border=True, help=note)
