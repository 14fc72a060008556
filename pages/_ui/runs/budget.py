"""What a run with a guarantee has drawn so far, and where its reservation stands."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.ledger.budget import SPENT, planned_outputs, state_of
from pages._ui.texts import count_of, plain


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw outputs drawn, the planned number, and the reservation's state in one line."""
    if run.guarantee.kind != "dp" or not run.guarantee.drawn[0]:
        return
    drawn, planned, state = drawn_of(workspace, run)
    st.markdown(f"**Budget.** {plain(sentence(drawn, planned, state, run.guarantee.drawn[0]))}")
    if drawn < planned:
        st.progress(drawn / planned, text=f"{drawn:,} of {count_of(planned, 'noisy answer')} drawn")


def drawn_of(workspace: engine.Workspace, run: engine.RunSummary) -> tuple[int, int, str]:
    """Return how many noisy answers a run has drawn, how many it planned, and where its reservation stands."""
    lines = workspace.ledger.of(run.corpus_id).lines
    own = lines[lines["run_id"] == run.id]
    kinds = own["kind"].value_counts()
    return int(kinds.get("spend", 0)), planned_outputs(run.guarantee), state_of(kinds) if len(own) else ""


def after_deletion(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return what deleting a run leaves of its budget; empty where it has none."""
    if run.guarantee.kind != "dp" or not run.guarantee.drawn[0]:
        return ""
    drawn, planned, state = drawn_of(workspace, run)
    if not drawn:
        return "" if state.startswith("given back") else "Nothing was drawn, so its budget is given back."
    whole = drawn >= planned
    what = f"ε = {engine.upward(run.guarantee.drawn[0])} of this run" if whole else "What this run drew of its budget"
    return f"{what} stays spent: deleting brings no budget back."


def sentence(drawn: int, planned: int, state: str, epsilon: float) -> str:
    """Return what was spent for good, or what may still happen to the reservation."""
    if state.startswith("given back"):
        return "Given back whole: nothing was drawn."
    if not drawn:
        return "Reserved; nothing was drawn yet, so cancelling or deleting this run gives everything back."
    if drawn >= planned:
        return f"All budget of this run is spent, for good: ε = {engine.upward(epsilon)}."
    if state == SPENT:
        return "What was drawn is spent for good."
    return "Noisy answers were drawn, so the reservation stays. A resumed run uses them again and draws none twice."
