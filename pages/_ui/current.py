"""The corpus and the run that this browser tab looks at.

How to use:
    corpus = current_corpus(workspace)          # CorpusSummary or None; the sidebar's choice
    run = pick_run(runs, key="privacy.run")      # draws a picker over one run at least
`choose_corpus(id)` and `choose_run(id)` set them from a callback or before the sidebar is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from pages._ui.texts import run_name

CORPUS = "sidebar.corpus"
RUN = "_ui.run"
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
    """Return the finished run that the examination and release pages open with: the chosen one, else the newest."""
    runs = {run.id: run for run in workspace.runs.all(corpus.id) if run.state == "done"}
    chosen = st.session_state.get(RUN)
    return runs.get(str(chosen)) or max(runs.values(), key=lambda run: run.created, default=None)


def show_run(run_id: str) -> None:
    """Make a run the current one, on the Runs page too, whatever was looked at there before."""
    choose_run(run_id)
    st.session_state[RUNS] = run_id


def distinct(names: dict[str, str]) -> dict[str, str]:
    """Return the names, numbered where one stands there already: a picker tells its options by their names."""
    seen: dict[str, int] = {}
    made = {}
    for key, name in names.items():
        seen[name] = seen.get(name, 0) + 1
        made[key] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return made


def pick_run(finished: Sequence[engine.RunSummary], *, key: str) -> engine.RunSummary:
    """Draw a picker over runs, at least one, and return the chosen one."""
    runs = {run.id: run for run in finished}
    newest_first = sorted(runs, key=lambda run_id: runs[run_id].created, reverse=True)
    labels = distinct({run_id: run_name(runs[run_id]) for run_id in reversed(newest_first)})
    if st.session_state.get(key) not in runs:
        wanted = st.session_state.get(RUN)
        st.session_state[key] = wanted if wanted in runs else newest_first[0]
    chosen = st.selectbox(
        "Run",
        newest_first,
        format_func=labels.__getitem__,
        key=key,
        on_change=lambda: choose_run(st.session_state[key]),  # before the sidebar is drawn again
    )
    choose_run(chosen)
    return runs[chosen]
