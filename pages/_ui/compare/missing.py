"""What Compare says before two runs are examined: what is being measured, what failed, what can be examined here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from pages._ui.current import run_names
from pages._ui.examined import run as examined_run
from pages._ui.navigation import go, page_only
from pages._ui.parts.progress import job_progress, running_job
from pages._ui.texts import count_of, plain

SHOWN = 4  # runs that are offered here; the newest ones


def draw(workspace: engine.Workspace, finished: Sequence[engine.RunSummary]) -> None:
    """Draw the state of each finished run that is not examined, newest first, and the way to another run."""
    labels = run_names(workspace.runs.all(finished[0].corpus_id))
    newest_first = sorted(finished, key=lambda run: run.created, reverse=True)
    examined = sum(run.examined_at is not None for run in finished)
    waiting = [run for run in newest_first if run.examined_at is None][:SHOWN]
    at_work = {run.id: job for run in waiting if (job := running_job(workspace, kind="examine", run_id=run.id))}
    with st.container(border=True, key="compare.missing"):
        st.subheader("Two examined runs are needed", anchor=False)
        said = [f"{count_of(examined, 'run')} examined"]
        said += [f"{len(at_work)} being examined"] if at_work else []
        rest = len(finished) - examined - len(at_work)
        said += [f"{rest} finished and not examined"] if rest else []
        st.markdown(f"So far: {', '.join(said)}. The comparison appears here when there are two.")
        if len(finished) == 1 and st.button(
            "Plan another run", key="compare.plan", type="primary" if examined or at_work else "secondary",
            **page_only("plan"),
        ):  # fmt: skip
            go("plan")
    for run in waiting:
        with st.container(border=True, key=f"compare.missing.{run.id}"):
            st.markdown(f"**{plain(labels[run.id])}**")
            if run.id in at_work:
                job_progress(workspace, at_work[run.id].id, key=f"compare.examine.{run.id}")
            elif not examined_run.stopped(workspace, run, f"compare.{run.id}"):
                examined_run.failed_examination(workspace, run)
                examined_run.choices(workspace, run, "compare", primary=not at_work, explained=run is waiting[-1])
