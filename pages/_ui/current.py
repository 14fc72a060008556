"""The corpus and the run that this browser tab looks at.

How to use:
    corpus = current_corpus(workspace)          # CorpusSummary or None; the sidebar's choice
    run = pick_run(workspace, runs, key="privacy.run")      # draws a picker over one run at least
    labels = run_names(workspace.runs.all(corpus.id))       # what a picker calls them; `corpus_names` likewise
    which = run_label(workspace, run)                       # what every picker calls this one
`choose_corpus(id)` and `choose_run(id)` set them from a callback or before the sidebar is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

import engine
from pages._ui.language import tr
from pages._ui.texts import run_name

CORPUS = "sidebar.corpus"
RUN = "_ui.run"
SEEN = "_ui.run.seen"  # the run that was open where nobody chose one
RUNS = "run.choice"  # the picker of the Runs page


def choose_corpus(corpus_id: str) -> None:
    """Make a corpus the current one; call it in a callback, or let it act on the next run."""
    st.session_state["_ui.next_corpus"] = corpus_id


def corpora(workspace: engine.Workspace) -> list[engine.CorpusSummary]:
    """Return all corpora, newest first."""
    return sorted(workspace.corpora.all(), key=lambda corpus: corpus.created, reverse=True)


def current_corpus(workspace: engine.Workspace) -> engine.CorpusSummary | None:
    """Return the chosen corpus, the newest one at first, or None in an empty workspace."""
    chosen = st.session_state.get(CORPUS)
    if not chosen:
        return None
    try:
        return workspace.corpora.get(chosen)
    except engine.NotFoundError:
        return None


def choose_run(run_id: str) -> None:
    """Make a run the one that the examination and release pages open with."""
    st.session_state[RUN] = run_id


def current_run(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> engine.RunSummary | None:
    """Return the finished run that the examination and release pages open with.

    The chosen one, else the one that was open before (see `open_run`), else the newest.
    """
    runs = {run.id: run for run in workspace.runs.all(corpus.id) if run.state == "done"}
    known = (runs.get(str(st.session_state.get(key))) for key in (RUN, SEEN))
    return next(filter(None, known), None) or max(runs.values(), key=lambda run: run.created, default=None)


def open_run(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> engine.RunSummary | None:
    """Return the current run and keep to it: a run that somebody else ends meanwhile takes nobody's place."""
    run = current_run(workspace, corpus)
    if run is not None:
        st.session_state[SEEN] = run.id
    return run


def show_run(run_id: str) -> None:
    """Make a run the current one, on the Runs page too, whatever was looked at there before."""
    choose_run(run_id)
    st.session_state[RUNS] = run_id


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names, numbered where one stands there already: a picker tells its options by their names."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for key, name in names.items():
        called, place = name, 1
        while called in taken:
            place += 1
            called = f"{name} ({place})"
        taken.add(called)
        made[key] = called
    return made


def run_names(runs: Iterable[engine.RunSummary]) -> dict[str, str]:
    """Return what pickers call the runs by id, newest first; no two of one corpus alike, the older one unnumbered.

    Give all runs of a corpus, also where a picker offers only some: so a run is called the same on every page.
    """
    oldest_first = sorted(runs, key=lambda run: run.created)
    by_corpus: dict[str, dict[str, str]] = {}
    for run in oldest_first:
        by_corpus.setdefault(run.corpus_id, {})[run.id] = run_name(run)
    called = {run_id: name for names in by_corpus.values() for run_id, name in distinct(names).items()}
    return {run.id: called[run.id] for run in reversed(oldest_first)}


def run_label(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return what every picker calls a run; a sentence that speaks of one run says it, so that it can be found."""
    return run_names(workspace.runs.all(run.corpus_id)).get(run.id, run_name(run))


def corpus_names(workspace: engine.Workspace, known: Sequence[engine.CorpusSummary] | None = None) -> dict[str, str]:
    """Return what the corpora are called by id, newest first, no two alike: a file may be loaded twice.

    known: all of them, where they were read a moment ago.
    """
    newest_first = corpora(workspace) if known is None else known
    called = distinct({corpus.id: corpus.name for corpus in reversed(newest_first)})
    return {corpus.id: called[corpus.id] for corpus in newest_first}


def pick_run(workspace: engine.Workspace, finished: Sequence[engine.RunSummary], *, key: str) -> engine.RunSummary:
    """Draw a picker over runs of one corpus, at least one, and return the chosen one."""
    runs = {run.id: run for run in finished}
    labels = run_names(workspace.runs.all(finished[0].corpus_id))
    newest_first = [run_id for run_id in labels if run_id in runs]
    if st.session_state.get(key) not in runs:
        wanted = st.session_state.get(RUN)
        st.session_state[key] = wanted if wanted in runs else newest_first[0]
    chosen = st.selectbox(
        tr("Run"),
        newest_first,
        format_func=labels.__getitem__,
        key=key,
        on_change=lambda: choose_run(st.session_state[key]),  # before the sidebar is drawn again
    )
    choose_run(chosen)
    return runs[chosen]
