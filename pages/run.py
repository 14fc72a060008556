"""Runs: the queue, a run's progress and outputs, and the history."""

from __future__ import annotations

import streamlit as st

from pages._ui import states
from pages._ui.corpus import nothing
from pages._ui.current import RUN, RUNS, choose_run, current_corpus, run_names
from pages._ui.guard import guard
from pages._ui.parts.progress import ACTIVE
from pages._ui.runs import detail as run_detail
from pages._ui.runs import history as run_history
from pages._ui.runs import queue as run_queue
from pages._ui.texts import count_of

workspace = guard()

st.title("Runs", anchor=False)
corpus = current_corpus(workspace)
if corpus is None:
    nothing.draw(workspace, key="run")
    st.stop()

run_queue.draw(workspace, corpus.id)

runs = {run.id: run for run in sorted(workspace.runs.all(corpus.id), key=lambda run: run.created, reverse=True)}
if not runs:
    states.empty(
        "No runs yet",
        "A run makes synthetic text from this corpus. Plan one first: it says what it promises and costs.",
        action="Plan a run",
        page="plan",
        key="run.none",
    )
    st.stop()

active = next((run.id for run in runs.values() if run.state in ACTIVE), None)
wished = (st.session_state.get(RUN), st.session_state.get(RUNS), active, *runs)
st.session_state[RUNS] = next(run_id for run_id in wished if run_id in runs)  # that of the sidebar and of other pages
labels = run_names(runs.values())
chosen = st.selectbox(
    "Run",
    list(runs),
    format_func=labels.__getitem__,
    key=RUNS,
    persist_state="session",
    on_change=lambda: choose_run(st.session_state[RUNS]),  # before the sidebar is drawn again
)
choose_run(chosen)
with st.expander(f"History: {count_of(len(runs), 'run')} of this corpus", icon=":material/history:", key="run.history"):
    run_history.draw(list(runs.values()))
run_detail.draw(workspace, runs[chosen], list(runs.values()))
