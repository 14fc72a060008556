"""What a run with a guarantee has drawn so far, and where its reservation stands."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.ledger.budget import state_of
from pages._ui.texts import count_of, plain


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw outputs drawn, the planned number, and the reservation's state in one line."""
    if run.guarantee.kind != "dp" or not run.guarantee.epsilon:
        return
    lines = workspace.ledger.of(run.corpus_id).lines
    own = lines[lines["run_id"] == run.id]
    kinds = own["kind"].value_counts()
    drawn, planned = int(kinds.get("spend", 0)), planned_outputs(run.guarantee)
    st.markdown(f"**Budget.** {plain(sentence(drawn, planned, state_of(kinds) if len(own) else ''))}")
    if planned:
        st.progress(min(1.0, drawn / planned), text=f"{drawn:,} of {count_of(planned, 'mechanism output')} drawn")


def planned_outputs(guarantee: engine.Guarantee) -> int:
    """Return how many mechanism outputs the run's schedule holds."""
    return sum(event.count for event in guarantee.mechanisms)


def sentence(drawn: int, planned: int, state: str) -> str:
    """Return what may still happen to the reservation."""
    if state.startswith("given back"):
        return "Given back whole: nothing was drawn."
    if not drawn:
        return "Reserved; nothing was drawn yet, so cancelling or deleting this run gives everything back."
    if state == "settled":
        return "Settled: what was drawn is spent for good."
    return "Outputs were drawn, so the reservation stays. A resumed run uses them again and draws none twice."
