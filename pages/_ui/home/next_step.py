"""The next step of a corpus, of the one run that Home speaks of: the chosen one, else the newest finished one."""

from __future__ import annotations

import engine
from pages._ui.current import current_run, run_label
from pages._ui.parts.progress import STEP_JOBS, running_job
from pages._ui.runs.unexamined import untouched
from pages._ui.texts import run_title

SEARCH = "detect"
OF_A_RUN = ("examine", "release")


def step_of(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> str:
    """Return the next step of a corpus, a key of `texts.STEPS`; once runs are made, that of the run on Home.

    A run with a proof that nobody examined goes to its release: examining it would take one of its ways out. A run
    that the review has left behind is made again first, and one whose measurements it has left behind is examined
    again. While identifiers are looked for, whether for the first time or again, that comes before all others.
    """
    if running_job(workspace, kind=SEARCH, corpus_id=corpus.id) is not None:
        return SEARCH
    run = current_run(workspace, corpus)
    if run is None or corpus.next_step not in OF_A_RUN:
        return corpus.next_step
    if run.stale:
        return "plan"
    if run.examined_at is None:
        return "release" if untouched(workspace, run) else "examine"
    return "examine" if run.examination_stale else "release"


def at_work(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> engine.JobView | None:
    """Return the job that does the next step already, if one waits or runs; an examination of the run on Home alone."""
    step = step_of(workspace, corpus)
    run = current_run(workspace, corpus) if step == "examine" else None
    kind = STEP_JOBS.get(step)
    of_run = None if run is None else run.id
    return running_job(workspace, kind=kind, corpus_id=corpus.id, run_id=of_run) if kind else None


def called(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return what Home calls a run: its title, with its time where another finished run has the same."""
    alike = [
        one for one in workspace.runs.all(run.corpus_id) if one.state == "done" and run_title(one) == run_title(run)
    ]
    return run_title(run) if len(alike) < 2 else run_label(workspace, run)
