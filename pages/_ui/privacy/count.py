"""How many leaks the Privacy page shows of a run, for the pages that say it in a word.

How to use: `leaks(workspace, run)` is None where nobody examined the run.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.privacy import data, verdict

KEPT = 30  # seconds: the audit of a method, which has a say, may come from another tab


def leaks(workspace: engine.Workspace, run: engine.RunSummary) -> int | None:
    """Return how many sentences of the box on Privacy say leak; None where the run was not examined."""
    if run.examined_at is None:
        return None
    return _leaks(workspace, run, run.id, run.examined_at, run.guarantee.pending)


@st.cache_data(scope="session", show_spinner=False, max_entries=50, ttl=KEPT)
def _leaks(_workspace: engine.Workspace, _run: engine.RunSummary, run_id: str, examined_at: str, pending: bool) -> int:
    del run_id, examined_at, pending  # part of the key only
    return counted(_workspace, _run)


def counted(workspace: engine.Workspace, run: engine.RunSummary) -> int:
    """Return how many sentences say leak of an examined run, without what a session keeps."""
    (side,) = data.load(workspace, [run])
    return sum(one.level == "leak" for one in verdict.sentences(side))
