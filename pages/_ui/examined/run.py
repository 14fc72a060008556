"""The run that an examination page looks at, or the reason why there is nothing to see yet.

How to use:
    run, findings = examined_run.choose(workspace, key="privacy", group="privacy")
Draws the picker and every state on the way (no corpus, no run, running, failed, not examined,
stale) and stops the page where there is nothing to show.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import engine
from pages._ui import states
from pages._ui.corpus import nothing
from pages._ui.current import choose_run, current_corpus, pick_run
from pages._ui.language import mark, tr
from pages._ui.navigation import go
from pages._ui.parts.progress import job_progress, running_job
from pages._ui.sign_in.closed import only
from pages._ui.states import act
from pages._ui.texts import number, plain, run_title, seconds, when

QUICK = mark(
    "A quick look trains no models on the text: the attacks through such models and the language model's next "
    "words are missing, and can be measured later. Times are of two processor cores."
)

CLOSES = mark(
    "Examining looks at private text: afterwards this run can no longer leave under “Proof alone”, which takes a run "
    "that nobody has examined."
)


def in_part(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return how far an examination came that never ended, and what that takes from a run with a proof; else nothing.

    One sentence for every page that speaks of that state, without its full stop.
    """
    found = workspace.examinations.in_part(run.id) if run.examined_at is None else None
    if found is None:
        return ""
    proven = run.guarantee.kind == "dp"
    if not (found.kept and found.parts):
        return tr("Examined in part: it can no longer leave under “Proof alone”") if proven else tr("Examined in part")
    stands = {"kept": number(found.kept), "parts": number(found.parts)}
    if proven:
        return tr("Examined in part ({kept} of {parts}): it can no longer leave under “Proof alone”", **stands)
    return tr("Examined in part ({kept} of {parts})", **stands)


def closes(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return what the first examination of a run with a proof takes, or took, from it; empty where it takes nothing."""
    if run.guarantee.kind != "dp" or run.examined_at is not None:
        return ""
    part = in_part(workspace, run)
    return f"{part}." if part else tr(CLOSES)


def finished(workspace: engine.Workspace, *, key: str) -> engine.RunSummary:
    """Return the chosen finished run, or stop the page with what is missing."""
    runs = finished_runs(workspace, key=key)
    return pick_run(workspace, runs, key=f"{key}.run")


def finished_runs(workspace: engine.Workspace, *, key: str) -> list[engine.RunSummary]:
    """Return the corpus' finished runs, at least one, or stop the page with what is missing."""
    corpus = current_corpus(workspace)
    if corpus is None:
        nothing.draw(workspace, key=key)
        st.stop()
    runs = workspace.runs.all(corpus.id)
    if not runs:
        states.empty(
            tr("No runs yet"),
            tr("There is no synthetic text of this corpus yet. Plan a run first."),
            action=tr("Plan a run"),
            page="plan",
            key=f"{key}.plan",
        )
        st.stop()
    if not any(run.state == "done" for run in runs):
        _unfinished(workspace, runs[0], key)
        st.stop()
    return [run for run in runs if run.state == "done"]


def choose(
    workspace: engine.Workspace, *, key: str, group: str, place: DeltaGenerator | None = None
) -> tuple[engine.RunSummary, list[engine.Finding]]:
    """Return the chosen run and its findings of one group, or stop the page; `place` is where the picker stands."""
    runs = finished_runs(workspace, key=key)
    with place if place is not None else nullcontext():
        run = pick_run(workspace, runs, key=f"{key}.run")
    findings = [finding for finding in workspace.examinations.findings(run.id) if finding.group == group]
    if not findings:
        _other(workspace, runs, key, group)
    job = running_job(workspace, kind="examine", run_id=run.id)
    if job is not None:
        with st.container(border=True, key=f"{key}.progress"):
            appear = tr("The findings appear here when the examination ends. You can leave this page meanwhile.")
            job_progress(workspace, job.id, key=f"{key}.examine", below="" if findings else appear)
        if not findings:
            st.stop()
        st.caption(tr("Below are the findings of the examination before."))
        return run, findings
    failed = failed_examination(workspace, run)
    halted = stopped(workspace, run, key)
    if run.stale:
        _out_of_date(run, key)
    if not findings:
        _offer(workspace, run, key, group, again=halted)
        st.stop()
    if run.examination_stale and not run.stale:
        states.stale(
            tr(
                "The review changed after this run was examined, so these numbers describe an older state of the "
                "corpus."
            )
        )
    if failed or (run.examination_stale and not run.stale):
        _examine_button(workspace, run, key, tr("Examine again"), primary=False)
    return run, findings


def _out_of_date(run: engine.RunSummary, key: str) -> None:
    """Say that what a run was made of has changed since, and lead to where it is made again."""
    states.stale(
        tr(
            "The review changed after this run was made, and the run uses it. Make the run again, which takes the "
            "review as it is now, and examine that one."
        )
    )
    if st.button(tr("Go to the run"), icon=":material/replay:", key=f"{key}.remake.{run.id}"):
        choose_run(run.id)
        go("run")


def _other(workspace: engine.Workspace, runs: list[engine.RunSummary], key: str, group: str) -> None:
    """Offer the newest run that has findings, where the chosen one has none."""
    examined = sorted((run for run in runs if run.examined_at), key=lambda run: run.created, reverse=True)
    has = (run for run in examined if any(f.group == group for f in workspace.examinations.findings(run.id)))
    other = next(has, None)
    if other is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.other"):
        st.markdown(tr("“{name}” has findings.", name=plain(run_title(other))), width="content")
        st.button(
            tr("Show them"), key=f"{key}.other.{other.id}", icon=":material/visibility:",
            on_click=_show, args=(other.id, f"{key}.run"),
        )  # fmt: skip


def _show(run_id: str, picker: str) -> None:
    """Choose a run, in the picker too; a callback."""
    st.session_state[picker] = run_id
    choose_run(run_id)


def _unfinished(workspace: engine.Workspace, run: engine.RunSummary, key: str) -> None:
    """Say how the newest run stands when none is finished."""
    job = running_job(workspace, kind="synthesize", run_id=run.id)
    if job is not None:
        st.markdown(tr("The first run is still being made. This page fills when it is done."))
        with st.container(border=True, key=f"{key}.progress"):
            job_progress(workspace, job.id, key=f"{key}.synthesize")
        return
    if run.state == "failed":
        states.failed(tr("The newest run failed"), run.error, tr("The Runs page can resume it from its last batch."))
    else:
        st.info(
            tr("The newest run is {state}. Resume it, or start another.", state=tr(run.state)),
            icon=":material/pause_circle:",
        )
    if st.button(tr("Go to the runs"), type="primary", key=f"{key}.runs"):
        choose_run(run.id)
        go("run")


def failed_examination(workspace: engine.Workspace, run: engine.RunSummary) -> bool:
    """Say that the newest examination failed, and return whether it did."""
    jobs = [job for job in workspace.jobs.all(active_only=False) if job.kind == "examine" and job.run_id == run.id]
    newest = max(jobs, key=lambda job: job.created, default=None)
    if newest is None or newest.state != "failed" or newest.created <= (run.examined_at or ""):
        return False
    states.failed(
        tr("The last examination failed"), newest.error, tr("Start it again; the run itself is not affected.")
    )
    return True


def stopped(workspace: engine.Workspace, run: engine.RunSummary, key: str) -> bool:
    """Offer to go on with an examination that was stopped, and return whether there is one."""
    kept = workspace.examinations.stopped(run.id)
    if kept is None:
        return False
    with st.container(border=True, key=f"{key}.stopped"):
        st.subheader(
            tr("Examination stopped: {kept} of {parts} parts kept", kept=kept.kept, parts=kept.parts), anchor=False
        )
        st.markdown(
            tr(
                "Continue to measure what is missing; the findings are the same as without the stop. The parts are "
                "kept until the review, the approvals or the settings change, or the run is deleted."
            )
        )
        st.button(
            tr("Continue"), type="primary", icon=":material/play_arrow:", key=f"{key}.continue.{run.id}",
            on_click=act, args=(workspace.jobs.continue_examination, run.id), **only(engine.Right.MANAGE),
        )  # fmt: skip
        if closes(workspace, run):
            st.caption(closes(workspace, run))
    return True


def _offer(workspace: engine.Workspace, run: engine.RunSummary, key: str, group: str, *, again: bool = False) -> None:
    if again:
        with st.expander(tr("Start a new examination instead")):
            choices(workspace, run, key, primary=False)
        return
    other = bool(run.examined_at)
    with st.container(border=True, key=f"{key}.empty"):
        st.subheader(tr("Only half examined") if other else tr("Not examined yet"), anchor=False)
        what = {
            "privacy": tr("how much of the original leaks into this run"),
            "utility": tr("how well this run can stand in for the original"),
        }[group]
        since = tr(" The other half was measured on {examined_at}.", examined_at=when(run.examined_at)) if other else ""
        st.markdown(
            tr(
                "An examination measures {what}, against text the method read and text it never saw.{since}",
                what=what,
                since=since,
            )
        )
        choices(workspace, run, key, primary=not run.stale)


def choices(
    workspace: engine.Workspace, run: engine.RunSummary, key: str, *, primary: bool, explained: bool = True
) -> None:
    """Draw the two ways to examine a run, and where `explained` what the quick one leaves out."""
    full, quick = (workspace.jobs.examination_seconds(run.id, models=models) for models in (True, False))
    with st.container(horizontal=True):
        _examine_button(workspace, run, key, tr("Examine this run (about {full})", full=seconds(full)), primary=primary)
        st.button(
            tr("Quick look (about {quick})", quick=seconds(quick)),
            icon=":material/speed:",
            key=f"{key}.quick.{run.id}",
            on_click=act,
            args=(partial(workspace.jobs.examine, run.id, model_attacks=False),),
            **only(engine.Right.MANAGE),
        )
    if closes(workspace, run):
        st.caption(closes(workspace, run))
    if explained:
        st.caption(tr(QUICK))


def _examine_button(
    workspace: engine.Workspace, run: engine.RunSummary, key: str, label: str, *, primary: bool
) -> None:
    st.button(
        label,
        type="primary" if primary else "secondary",
        icon=":material/query_stats:",
        key=f"{key}.examine.{run.id}",
        on_click=act,
        args=(workspace.jobs.examine, run.id),
        **only(engine.Right.MANAGE),
    )
