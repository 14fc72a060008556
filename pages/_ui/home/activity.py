"""What happened last and what is next, in names: acts of the audit log, work that waits, decisions that are open.

Privacy posture: names of corpora and runs, counts and times; no record text is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

import engine
from pages._ui.current import choose_corpus, current_run, show_run
from pages._ui.home import next_step
from pages._ui.ledger import alike as ledger_alike
from pages._ui.ledger import names as ledger_names
from pages._ui.ledger import words
from pages._ui.navigation import go
from pages._ui.parts.progress import QUIET, bar, still_running
from pages._ui.runs import queue as run_queue
from pages._ui.texts import STEPS, count_of, number, plain, run_title, when

READ, SHOWN, CORPORA = 60, 5, 4


@dataclass
class Act:
    """One act, or several alike in a row: who, what, about what, when the last of them was, and how many."""

    at: str
    who: str
    what: str
    about: str
    times: int = 1


def acts(workspace: engine.Workspace) -> list[Act]:
    """Return the latest acts, those alike in a row as one."""
    names, found = ledger_names.read(workspace), list[Act]()
    # without the time that tells runs of a method apart: each act says when it was
    names |= {
        run.id: f"{run_title(run)}, {names.get(run.corpus_id, ledger_names.GONE['c'])}" for run in workspace.runs.all()
    }
    lines = workspace.audit.lines(limit=READ)
    if (lines["action"] == ledger_alike.SETTING).any():  # it may name a policy
        names |= words.policies(workspace)
    for line in lines.itertuples(index=False):
        what = ledger_alike.changed(str(line.action), str(line.detail), names) or ledger_names.act(str(line.action))
        made = Act(str(line.at), ledger_names.who(str(line.actor)), what,
                   ledger_names.named(str(line.subject), names))  # fmt: skip
        last = found[-1] if found else None
        if last and (last.who, last.what, last.about) == (made.who, made.what, made.about):
            last.times += 1
        else:
            found.append(made)
    return found[:SHOWN]


def draw(workspace: engine.Workspace, known: list[engine.CorpusSummary], names: Mapping[str, str]) -> None:
    """Draw both beside each other."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("What is next", anchor=False)
        _next(workspace, known, names)
    with right:
        st.subheader("Last activity", anchor=False)
        with st.container(gap="xsmall"):
            for made in acts(workspace):
                times = f" · {made.times} times" if made.times > 1 else ""
                about = f" · {plain(made.about)}" if made.about else ""
                st.markdown(f"{plain(made.what)}{about}  \n:small[{when(made.at)} · {plain(made.who)}{times}]")
        if st.button("All of it, in the audit log", key="home.activity.all", type="tertiary"):
            go("ledger")


def _next(workspace: engine.Workspace, known: list[engine.CorpusSummary], names: Mapping[str, str]) -> None:
    runs = run_queue.called(workspace)
    jobs = [job for job in workspace.jobs.all(active_only=True) if job.kind not in QUIET]
    for job in sorted(jobs, key=lambda job: (job.state != "running", job.created))[:CORPORA]:
        of = names.get(job.corpus_id or "")
        where = f" · {plain(of)}" if of else ""
        _job(workspace, job.id, f"{run_queue.told(job, runs)}{where}")
    for corpus in known[:CORPORA]:
        _stopped(workspace, corpus)
    for corpus in known[:CORPORA]:
        _asked(workspace, corpus, names[corpus.id])
    for corpus in [corpus for corpus in known if corpus.stale][:CORPORA]:
        _again(workspace, corpus, names[corpus.id])
    # a job's line says the others
    open_ones = [corpus for corpus in known if next_step.at_work(workspace, corpus) is None]
    for corpus in open_ones[:CORPORA]:
        step = next_step.step_of(workspace, corpus)
        if step == "plan" and corpus.stale:
            continue  # the run to make again is led to above
        label, page = STEPS[step]
        waiting = _waiting(workspace, corpus, step)
        with st.container(key=f"home.then.{corpus.id}", gap=None):
            if st.button(f"{label} · {plain(names[corpus.id])}", key=f"home.then.go.{corpus.id}", type="tertiary",
                         icon=":material/arrow_forward:"):  # fmt: skip
                _leave(workspace, corpus, page)
            if waiting:
                st.caption(waiting)


@st.fragment(run_every="2s")
def _job(workspace: engine.Workspace, job_id: str, told: str) -> None:
    """Draw a job: that it waits, else how far it is and the way to stop it; run the page once when it ends."""
    job = still_running(workspace, job_id)
    if job.state != "running":
        st.markdown(f":material/schedule: {told} · :small[waiting]")
        return
    with st.container(key=f"home.job.{job_id}", gap="xsmall"):
        st.markdown(f":material/progress_activity: {told}")
        bar(workspace, job, key="home.job")


def _stopped(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Lead to the newest examination that was stopped, and say how much of it is kept."""
    for run in sorted(workspace.runs.all(corpus.id), key=lambda run: run.created, reverse=True):
        kept = workspace.examinations.stopped(run.id) if run.state == "done" else None
        if kept is None:  # also where one waits or runs: that is the newest
            continue
        label = f"Go on examining “{plain(next_step.called(workspace, run))}”"
        with st.container(key=f"home.stopped.{run.id}", gap=None):
            if st.button(label, key=f"home.stopped.go.{run.id}", type="tertiary", icon=":material/resume:"):
                choose_corpus(corpus.id)
                show_run(run.id)
                go("privacy")
            st.caption(f"{number(kept.kept)} of {count_of(kept.parts, 'part')} are kept.")
        return


def _asked(workspace: engine.Workspace, corpus: engine.CorpusSummary, name: str) -> None:
    """Say that the ledger waits for an answer: until then it admits no run with a proof."""
    view = workspace.ledger.of(corpus.id)
    if view.unknown_since is None and not view.questions:
        return
    what = "What was spent elsewhere?" if view.unknown_since is not None else "Are these people known already?"
    with st.container(key=f"home.asked.{corpus.id}", gap=None):
        if st.button(f"Answer the ledger · {plain(name)}", key=f"home.asked.go.{corpus.id}", type="tertiary",
                     icon=":material/receipt_long:"):  # fmt: skip
            _leave(workspace, corpus, "ledger")
        st.caption(f"{what} Until it is answered no run with a proof can start.")


def _again(workspace: engine.Workspace, corpus: engine.CorpusSummary, name: str) -> None:
    """Say which run the review has left behind, and lead to a new one."""
    old = [run for run in workspace.runs.all(corpus.id) if run.state == "done" and run.stale]
    which = ", ".join(f"“{plain(run_title(run))}”" for run in old[:SHOWN])
    more = " and others" if len(old) > SHOWN else ""
    which = f": {which}{more}" if which else ""
    one = len(old) < 2
    with st.container(key=f"home.stale.{corpus.id}", gap=None):
        st.warning(
            f"{'One run was' if one else count_of(len(old), 'run') + ' were'} made before you changed the review of "
            f"{plain(name)}{which}. Make {'it' if one else 'one'} again only if you want to use it.",
            icon=":material/history:",
        )
        label = f"{'Make it again' if one else 'Plan one again'} · {plain(name)}"
        if st.button(label, key=f"home.stale.go.{corpus.id}", type="tertiary", icon=":material/arrow_forward:"):
            _leave(workspace, corpus, "plan")


def _waiting(workspace: engine.Workspace, corpus: engine.CorpusSummary, step: str) -> str:
    """Return which decisions are open, in words, and of which run; empty where none is."""
    run = current_run(workspace, corpus)
    if run is not None and step in ("examine", "release", "done"):
        name = f"“{plain(next_step.called(workspace, run))}”"
        counts = workspace.runs.approval_counts(run.id)
        if run.released_at:
            made = [one for one in workspace.releases.all(corpus.id) if one.run_id == run.id]
            if made and all(one.revoked for one in made):
                return f"{name} was released {when(run.released_at)}, and that was withdrawn."
            return f"{name} was released {when(run.released_at)}: download it there, or withdraw it."
        return f"{name}: {count_of(counts['pending'], 'record')} undecided." if counts["pending"] else f"{name}."
    if step == "review":
        return f"{count_of(corpus.records, 'text')}, and no finding is decided yet."
    return ""


def _leave(workspace: engine.Workspace, corpus: engine.CorpusSummary, page: str) -> None:
    choose_corpus(corpus.id)
    run = current_run(workspace, corpus)
    if run is not None:
        show_run(run.id)
    go(page)
