"""Which leaks the Privacy page shows of a run, for the pages that say it in a word.

How to use: `leaks(workspace, run)` is their number, `named(workspace, run)` what they are called; both are None where
nobody examined the run.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.language import tr, trn
from pages._ui.privacy import data, verdict

KEPT = 30  # seconds: the audit of a method, which has a say, may come from another tab


def leaks(workspace: engine.Workspace, run: engine.RunSummary) -> int | None:
    """Return how many sentences of the box on Privacy say leak; None where the run was not examined."""
    found = named(workspace, run)
    return None if found is None else len(found)


def named(workspace: engine.Workspace, run: engine.RunSummary) -> tuple[str, ...] | None:
    """Return what the leaks that Privacy shows are called; None where the run was not examined."""
    if run.examined_at is None:
        return None
    return _leaks(workspace, run, run.id, run.examined_at, run.guarantee.pending)


def in_spite(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return that a gate is open in spite of leaks that Privacy shows, with their names; nothing without any."""
    found = named(workspace, run)
    if not found:
        return ""
    said = trn("**Privacy shows {n} leak of this run:**", "**Privacy shows {n} leaks of this run:**", len(found))
    which = ", ".join(f"{one[:1].lower()}{one[1:]}" for one in found)
    return f"{said} {which}. " + tr("This policy lets the text go in spite of that.")


def counted(workspace: engine.Workspace, run: engine.RunSummary) -> tuple[str, ...]:
    """Return what the leaks of an examined run are called, without what a session keeps."""
    (side,) = data.load(workspace, [run])
    return tuple(one.text.partition(":")[0] for one in verdict.sentences(side) if one.level == "leak")


@st.cache_data(scope="session", show_spinner=False, max_entries=50, ttl=KEPT)
def _leaks(
    _workspace: engine.Workspace, _run: engine.RunSummary, run_id: str, examined_at: str, pending: bool
) -> tuple[str, ...]:
    del run_id, examined_at, pending  # part of the key only
    return counted(_workspace, _run)
