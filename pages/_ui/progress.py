"""A job's progress, drawn again every second while it runs and not at all afterwards.

How to use:
    if job := running_job(workspace, kind="detect", corpus_id=corpus.id):
        job_progress(workspace, job.id, key="review.detect")
The page is run once more, whole, when the job ends. Cancelling asks the worker; what was finished
is kept. Nothing is computed here: the worker is another process and survives a reload.
"""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

import engine
from pages._ui.states import act
from pages._ui.texts import JOBS, plain, seconds

ACTIVE = ("queued", "running")
QUIET = ("account", "signal")  # answers a page waits for itself; their rows go as soon as they are answered
STAGES = {
    "detect": "reading texts",
    "near-duplicates": "comparing records",
    "generating": "writing texts",
    "replacing": "replacing findings",
    "training": "training, steps done",
}


def running_job(
    workspace: engine.Workspace, *, kind: str | None = None, corpus_id: str | None = None, run_id: str | None = None
) -> engine.JobView | None:
    """Return the first waiting or running job that fits, running ones first; quiet ones only where asked for."""
    fitting = [
        job
        for job in workspace.jobs.all(active_only=True)
        if (job.kind not in QUIET if kind is None else job.kind == kind)
        and (corpus_id is None or job.corpus_id == corpus_id)
        and (run_id is None or job.run_id == run_id)
    ]
    return min(fitting, key=lambda job: (job.state != "running", job.created), default=None)


def still_running(workspace: engine.Workspace, job_id: str) -> engine.JobView:
    """Return a job that has not ended; run the whole page once where it has ended or is gone with its corpus."""
    job: engine.JobView | None = None
    with suppress(engine.NotFoundError):
        job = workspace.jobs.get(job_id)
    if job is None or job.state not in ACTIVE:
        st.rerun()
    return job


def fraction(job: engine.JobView) -> float:
    """Return how much is done, between 0 and 1."""
    return min(1.0, max(0.0, job.done / job.total)) if job.total else 0.0


def status_line(job: engine.JobView) -> str:
    """Return stage, count and time left in one line."""
    if job.state == "queued":
        return "Waiting for its turn"
    if not job.done:
        return "Getting ready"
    parts = [STAGES.get(job.stage, plain(job.stage or "working"))]
    if job.total:
        parts.append(f"{job.done:,} of {job.total:,}")
    if job.seconds_left is not None:
        parts.append(f"about {seconds(job.seconds_left)} left")
    return " · ".join(parts)


def silence(status: engine.WorkerStatus) -> str | None:
    """Return what to do about a worker that lives and does not answer, or None where there is none.

    Args:
        status: what `Workspace.worker_status` returns; a worker that is starting has no heartbeat yet.
    """
    age = status["heartbeat_age_seconds"]
    if not status["alive"] or status["answering"] or age is None:
        return None
    return (
        f"The worker has not answered for {seconds(age)}. The machine may be short of memory or was asleep. "
        "If this stays, press Leave, stop the worker, and come back: finished batches are kept."
    )


def draw(workspace: engine.Workspace, job: engine.JobView, *, key: str, samples: bool, cancel: bool) -> None:
    """Draw one state of a job."""
    st.markdown(f"**{JOBS.get(job.kind, job.kind)}**")
    st.progress(fraction(job), text=status_line(job))
    if (silent := silence(workspace.jobs.worker_status())) is not None:
        st.warning(silent, icon=":material/hourglass_disabled:")
    if samples and job.sample:
        st.caption("Latest outputs")
        for text in list(job.sample)[-5:]:
            with st.container(border=True):
                st.text(text)
    if cancel:
        st.button(
            "Cancel",
            key=f"{key}.cancel.{job.id}",
            icon=":material/cancel:",
            on_click=act,
            args=(workspace.jobs.cancel, job.id),
            help="Stops after the current batch. What was finished is kept.",
        )


@st.fragment(run_every="1s")
def job_progress(
    workspace: engine.Workspace, job_id: str, *, key: str, samples: bool = False, cancel: bool = True
) -> None:
    """Draw a job until it ends, then run the whole page once."""
    job = still_running(workspace, job_id)
    draw(workspace, job, key=key, samples=samples, cancel=cancel)
