"""How long a run takes: what is reckoned for a machine that does nothing else, and what the last one took here.

How to use: `last(runs, method, model)` is the run to go by, `last_words` says what it took, `times` how many times what
was reckoned for it; `about(seconds * times)` says what a further one takes.
"""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

import engine
from pages._ui.language import tr, trn
from pages._ui.texts import seconds

LEAST = 1.0  # seconds: of a shorter reckoning nothing follows


def about(value: float) -> str:
    """Return a reckoned duration in words, at the beginning of a sentence."""
    return tr("Less than a second") if value < 1 else tr("About {time}", time=seconds(value))


def last(runs: Iterable[engine.RunSummary], method: str, model: str) -> engine.RunSummary | None:
    """Return the last finished run of a method with a model; None where there is none."""
    done = [run for run in runs if run.method == method and run.model == model and run.state == "done"]
    return max((run for run in done if run.kept and run.seconds), key=lambda run: run.created, default=None)


def last_words(run: engine.RunSummary | None) -> str:
    """Return what the last run took, empty where there was none."""
    if run is None:
        return ""
    return trn("last time {time} for {n} text", "last time {time} for {n} texts", run.kept, time=seconds(run.seconds))


def times(workspace: engine.Workspace, run: engine.RunSummary | None) -> float:
    """Return how many times what is reckoned for its settings a run took; 1 where there is none to go by."""
    return 1.0 if run is None else _times(workspace, run, run.id)


@st.cache_data(scope="session", show_spinner=False, max_entries=200)
def _times(_workspace: engine.Workspace, _run: engine.RunSummary, run_id: str) -> float:
    del run_id  # part of the key only: a finished run never changes
    return slower(_workspace, _run)


def slower(workspace: engine.Workspace, run: engine.RunSummary) -> float:
    """Return how many times what is reckoned for its settings a finished run took; 1 where that is not known."""
    try:
        plan = workspace.plan.draft(
            run.corpus_id, run.method, count=run.count, parameters=dict(run.parameters), model=run.model
        ).plan
    except engine.UserError:
        return 1.0
    return run.seconds / plan.seconds if plan.seconds >= LEAST else 1.0
