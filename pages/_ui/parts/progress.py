"""A job's progress, drawn again every second while it runs and not at all afterwards.

How to use:
    if job := running_job(workspace, kind="detect", corpus_id=corpus.id):
        job_progress(workspace, job.id, key="review.detect")
The page is run once more, whole, when the job ends. Cancelling asks the worker; what was finished
is kept. Nothing is computed here: the worker is another process and survives a reload.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import streamlit as st

import engine
from pages._ui.current import corpus_names
from pages._ui.language import lowered, mark, tr
from pages._ui.parts.stages import STAGES
from pages._ui.sign_in.closed import lacks
from pages._ui.states import act
from pages._ui.texts import JOBS, count_of, number, plain, seconds, share

ACTIVE = ("queued", "running")
ASKING = ("examine",)  # jobs of parts that take minutes: the one at work is lost when they stop, so that is asked first
TOLD = 0.1  # share of an examination that is done before its time left is told
SOON = 20.0  # seconds of getting ready that need no word
QUIET = ("account", "signal")  # answers a page waits for itself; their rows go as soon as they are answered
RUN = "synthesize"  # a job whose steps are known from the run before
WATCH = {
    "detect": mark("Watch the search"),
    "synthesize": mark("Watch the run"),
    "examine": mark("Watch the examination"),
}
STEP_JOBS = {"detect": "detect", "run": "synthesize", "examine": "examine"}  # next step of a corpus -> kind of its job


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


def watch(job: engine.JobView) -> str:
    """Return what leads to a job at work: what there is to watch."""
    return tr(WATCH.get(job.kind, "Watch"))


def at_work_on(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> engine.JobView | None:
    """Return the job that does a corpus' next step already, if one waits or runs; one that looks again, before all."""
    if (search := running_job(workspace, kind="detect", corpus_id=corpus.id)) is not None:
        return search
    kind = STEP_JOBS.get(corpus.next_step)
    return running_job(workspace, kind=kind, corpus_id=corpus.id) if kind else None


def still_running(workspace: engine.Workspace, job_id: str) -> engine.JobView:
    """Return a job that has not ended; run the whole page once where it has ended or is gone with its corpus."""
    job: engine.JobView | None = None
    with suppress(engine.NotFoundError):
        job = workspace.jobs.get(job_id)
    if job is None or job.state not in ACTIVE:
        st.rerun()
    return job


def fraction(job: engine.JobView) -> float:
    """Return how much of the job is done, between 0 and 1; of its step where the job tells no more."""
    if job.whole is not None:
        return job.whole.fraction
    return min(1.0, max(0.0, job.done / job.total)) if job.total else 0.0


def status_line(job: engine.JobView, took: float | None = None) -> str:
    """Return where the job is and the time left, in one line: of the job, or said to be of its step.

    took: seconds of the last job of this kind; it is told while too little is done to reckon by.
    """
    if job.state == "queued":
        return tr("Waiting for its turn")
    if job.stopping:
        return tr("Stopping after the current step")
    if job.whole is not None:
        return tr(
            "{share} · {left} · at work: {step}",
            share=share(job.whole.fraction, 0), left=_left_of(job, took), step=_at_work(job),
        )  # fmt: skip
    if not job.done:
        return ready(job)
    parts = [step(job)]
    if job.seconds_left is not None:
        parts.append(tr("{left} of this step", left=left(job.seconds_left)))
    return " · ".join(parts)


def _left_of(job: engine.JobView, took: float | None) -> str:
    """Return the time left of a job with a whole; of an examination that has hardly begun, that it is not known."""
    assert job.whole is not None
    if job.whole.over and job.seconds_left is None:
        return tr("longer than planned")
    if job.whole.over:
        return tr("{left} of this step", left=left(job.seconds_left or 0.0))
    known = job.whole.fraction - job.whole.began >= TOLD * (1.0 - job.whole.began)  # of what is done since it went on
    if job.kind not in ASKING or known:
        return left(job.whole.seconds_left)
    if took is None:
        return tr("time left not known yet")
    return tr("time left not known yet, the last one took {time}", time=seconds(took))


def last_took(workspace: engine.Workspace, job: engine.JobView) -> float | None:
    """Return how many seconds the last whole job of this kind took here; None where none ended."""
    ended = [one for one in workspace.jobs.all() if one.kind == job.kind and one.state == "done" and one.started]
    one = max((one for one in ended if one.finished), key=lambda one: one.finished or "", default=None)
    if one is None or one.started is None or one.finished is None:
        return None
    return (datetime.fromisoformat(one.finished) - datetime.fromisoformat(one.started)).total_seconds()


def ready(job: engine.JobView) -> str:
    """Return that a job is getting ready, and since when where that is longer than a person likes to wait."""
    began = None if job.started is None else datetime.fromisoformat(job.started)
    passed = 0.0 if began is None else (datetime.now(UTC) - began).total_seconds()
    if passed < SOON:
        return tr("Getting ready")
    return tr(
        "Getting ready for {time} now. Models are read first, which takes long where other work runs.",
        time=seconds(passed),
    )


def step(job: engine.JobView) -> str:
    """Return the step that a job is at, with its count."""
    name = stage_name(job.stage)
    return (
        tr("{stage} · {done} of {total}", stage=name, done=number(job.done), total=number(job.total))
        if job.total
        else name
    )


def _at_work(job: engine.JobView) -> str:
    """Return the part of the whole that is at work; of a run with its count of texts, which is what it makes."""
    if job.whole is None or (job.kind == RUN and job.total and job.stage == job.whole.title):
        return step(job)
    return stage_name(job.whole.title)


def stage_name(stage: str) -> str:
    """Return what a step is called."""
    return tr(STAGES[stage]) if stage in STAGES else plain(stage or tr("working"))


def left(value: float) -> str:
    """Return the time left in words."""
    return tr("a moment left") if value < 1.5 else tr("about {time} left", time=seconds(value))


def waits_for(workspace: engine.Workspace, job: engine.JobView) -> str:
    """Return what a waiting job waits behind, with the time of the one that is at work; nothing for others."""
    found = workspace.jobs.before(job.id)
    if not found:
        return ""
    first, others = found[0], found[1:]
    named = f"{lowered(tr(JOBS.get(first.kind, first.kind)))}{_whose(workspace, first)}"
    if first.stopping:
        named += f" ({tr('stopping')})"
    elif first.state == "running":
        time = first.whole.seconds_left if first.whole is not None else None
        named += f" ({left(time)})" if time is not None else f" ({tr('running')})"
    more = tr(", and {more_jobs} before this one", more_jobs=count_of(len(others), "more job")) if others else ""
    return tr("It waits for: {named}{more}.", named=named, more=more)


def _whose(workspace: engine.Workspace, job: engine.JobView) -> str:
    name = corpus_names(workspace).get(job.corpus_id or "", "")
    return tr(" of {name}", name=plain(name)) if name else ""


def silence(status: engine.WorkerStatus) -> str | None:
    """Return what to do about a worker that lives and does not answer, or None where there is none.

    Args:
        status: what `Workspace.worker_status` returns; a worker that is starting has no heartbeat yet.
    """
    age = status["heartbeat_age_seconds"]
    if not status["alive"] or status["answering"] or age is None:
        return None
    return tr(
        "The worker has not answered for {age}. The machine may be short of memory or was "
        "asleep. If this stays, press Quit, stop the worker, and come back: finished batches "
        "are kept.",
        age=seconds(age),
    )


def draw(workspace: engine.Workspace, job: engine.JobView, *, key: str, samples: bool, stops: bool) -> None:
    """Draw one state of a job."""
    st.markdown(f"**{tr(JOBS.get(job.kind, job.kind))}**")
    st.progress(fraction(job), text=status_line(job, _took(workspace, job)))
    if job.state == "queued" and (waiting := waits_for(workspace, job)):
        st.caption(waiting)
    if (silent := silence(workspace.jobs.worker_status())) is not None:
        st.warning(silent, icon=":material/hourglass_disabled:")
    if samples and job.sample:
        st.caption(tr("Latest outputs"))
        for text in list(job.sample)[-5:]:
            with st.container(border=True):
                st.text(text)
    if stops:
        cancel(workspace, job, key=key)


def bar(workspace: engine.Workspace, job: engine.JobView, *, key: str, title: str = "") -> None:
    """Draw how far a job is, and the button that stops it: beside the title where there is one, else below the bar."""
    beside = title and not st.session_state.get(f"{key}.cancel.{job.id}.asked")
    if beside:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}.head"):
            st.markdown(title, width="stretch")
            cancel(workspace, job, key=key)
    elif title:
        st.markdown(title)
    st.progress(fraction(job), text=status_line(job, _took(workspace, job)))
    if not beside:
        cancel(workspace, job, key=key)


def _took(workspace: engine.Workspace, job: engine.JobView) -> float | None:
    early = job.kind in ASKING and job.whole is not None and job.whole.fraction < TOLD
    return last_took(workspace, job) if early else None


def cancel(workspace: engine.Workspace, job: engine.JobView, *, key: str) -> None:
    """Draw the button that stops a job, for whom may, until it stops."""
    if not job.stopping and not lacks(engine.Right.MANAGE):
        _cancel(workspace, job, f"{key}.cancel.{job.id}")


def _cancel(workspace: engine.Workspace, job: engine.JobView, key: str) -> None:
    """Draw the button that stops a job; where minutes of work would be lost, it asks first."""
    if job.kind not in ASKING or not job.kept:
        st.button(
            tr("Cancel"), key=key, icon=":material/cancel:", on_click=act, args=(workspace.jobs.cancel, job.id),
            help=tr("Stops after the current batch. What was finished is kept."),
        )  # fmt: skip
    elif not st.session_state.get(f"{key}.asked"):
        st.button(tr("Cancel"), key=key, icon=":material/cancel:", on_click=_ask, args=(f"{key}.asked", True))
    else:
        st.markdown(
            tr(
                "{finished_parts} of {parts} would be kept, to go on with later. The part at work would "
                "be measured again.",
                finished_parts=count_of(job.kept, "finished part"),
                parts=job.whole.parts if job.whole else job.kept,
            )
        )
        with st.container(horizontal=True):
            st.button(tr("Stop it"), key=f"{key}.stop", on_click=_stop, args=(workspace, job.id, f"{key}.asked"))
            st.button(
                tr("Go on measuring"), key=f"{key}.on", type="primary", on_click=_ask, args=(f"{key}.asked", False)
            )


def _ask(key: str, wanted: bool) -> None:
    st.session_state[key] = wanted


def _stop(workspace: engine.Workspace, job_id: str, key: str) -> None:
    act(workspace.jobs.cancel, job_id)
    st.session_state.pop(key, None)


@st.fragment(run_every="1s")
def job_progress(
    workspace: engine.Workspace, job_id: str, *, key: str, samples: bool = False, cancel: bool = True, below: str = ""
) -> None:
    """Draw a job until it ends, then run the whole page once; `below` stands under it for as long as it goes on."""
    job = still_running(workspace, job_id)
    draw(workspace, job, key=key, samples=samples, stops=cancel)
    if below and not job.stopping:
        st.caption(below)
