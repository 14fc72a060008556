"""The queue: what is at work and what waits, in the order of turns, by the corpus' name."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import engine
from pages._ui.current import corpus_names
from pages._ui.parts.progress import QUIET, RUN, bar, left
from pages._ui.texts import JOBS, count_of, plain, run_title

SHOWN = 6


def draw(workspace: engine.Workspace, corpus_id: str) -> None:
    """Draw one line a job, again every few seconds while there are any; nothing where the queue is empty.

    What is at work has its bar there, but for runs of `corpus_id`: theirs stands below, with what they make.
    """
    if _jobs(workspace):
        _lines(workspace, corpus_id)


def _jobs(workspace: engine.Workspace) -> list[engine.JobView]:
    return [job for job in workspace.jobs.turns() if job.kind not in QUIET]


@st.fragment(run_every="3s")
def _lines(workspace: engine.Workspace, corpus_id: str) -> None:
    jobs = _jobs(workspace)
    if not jobs:
        return
    names, runs = corpus_names(workspace), called(workspace)
    with st.container(border=True, key="run.queue", gap="small"):
        st.markdown(f"**Queue** · {count_of(len(jobs), 'job')}")
        for number, job in enumerate(jobs[:SHOWN], 1):
            whose = f" · {plain(names[job.corpus_id])}" if job.corpus_id in names else ""
            below = job.kind == RUN and job.corpus_id == corpus_id
            if job.state != "running" or below:
                st.markdown(f"{number}. {told(job, runs)}{whose} · {_state(job)}")
                continue
            st.markdown(f"{number}. {told(job, runs)}{whose}")
            bar(workspace, job, key="run.queue")
        if len(jobs) > SHOWN:
            st.caption(f"and {count_of(len(jobs) - SHOWN, 'more job')}")
        if len(jobs) > 1:
            st.caption("Looking for identifiers and other short work goes before long work that waits.")


def called(workspace: engine.Workspace) -> dict[str, str]:
    """Return each run's own name, or its method's, by id: what a line about its job adds."""
    return {run.id: run_title(run) for run in workspace.runs.all()}


def told(job: engine.JobView, runs: Mapping[str, str]) -> str:
    """Return what a job does, and for which run."""
    name = runs.get(job.run_id or "")
    return f"{JOBS.get(job.kind, job.kind)}: {plain(name)}" if name else JOBS.get(job.kind, job.kind)


def _state(job: engine.JobView) -> str:
    if job.stopping:
        return "stopping"
    if job.state == "queued":
        return "waiting"
    time = job.whole.seconds_left if job.whole is not None else None
    return "running" if time is None else f"running, {left(time)}"
