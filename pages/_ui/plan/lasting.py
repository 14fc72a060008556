"""How long a run takes: what is reckoned for a machine that does nothing else, and what the last one took here.

How to use: `last(runs, method, model)` is the run to go by, and `last_words` says what it took. `pace` is what follows:
`about(pace.of(seconds))` says what a further one takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import streamlit as st

import engine
from pages._ui.language import tr, trn
from pages._ui.texts import seconds

LEAST = 1.0  # seconds: of a shorter reckoning nothing follows


class Pace(NamedTuple):
    """How a run goes here: seconds that it takes to get ready, and how many times what is reckoned its work takes."""

    ready: float = 0.0
    times: float = 1.0

    def of(self, reckoned: float) -> float:
        """Return how many seconds a run takes whose work is reckoned at so many."""
        return self.ready + reckoned * self.times


def about(value: float) -> str:
    """Return a reckoned duration in words, at the beginning of a sentence.

    Of less than a second getting ready is what is waited for, and nobody knows how long.
    """
    return tr("Some seconds to get ready") if value < 1 else tr("About {time}", time=seconds(value))


AS_RECKONED = Pace()


def last(runs: Iterable[engine.RunSummary], method: str, model: str) -> engine.RunSummary | None:
    """Return the last finished run of a method with a model; None where there is none."""
    done = [run for run in runs if run.method == method and run.model == model and run.state == "done"]
    return max((run for run in done if run.kept and run.seconds), key=lambda run: run.created, default=None)


def last_words(run: engine.RunSummary | None) -> str:
    """Return what the last run took, empty where there was none."""
    if run is None:
        return ""
    return trn("last time {time} for {n} text", "last time {time} for {n} texts", run.kept, time=seconds(run.seconds))


def pace(workspace: engine.Workspace, run: engine.RunSummary | None) -> Pace:
    """Return how a further run goes, by one that has ended; as reckoned where there is none to go by."""
    return Pace() if run is None else _pace(workspace, run, run.id)


@st.cache_data(scope="session", show_spinner=False, max_entries=200)
def _pace(_workspace: engine.Workspace, _run: engine.RunSummary, run_id: str) -> Pace:
    del run_id  # part of the key only: a finished run never changes
    return measured(_workspace, _run)


def measured(workspace: engine.Workspace, run: engine.RunSummary) -> Pace:
    """Return what a finished run says of a further one; as reckoned where nothing follows.

    A run took its reckoned work so many times; of one too short to tell, what it took beyond it was getting ready.
    """
    try:
        plan = workspace.plan.draft(
            run.corpus_id, run.method, count=run.count, parameters=dict(run.parameters), model=run.model
        ).plan
    except engine.UserError:
        return Pace()
    if plan.seconds >= LEAST:
        return Pace(times=run.seconds / plan.seconds)
    return Pace(ready=max(0.0, run.seconds - plan.seconds))
