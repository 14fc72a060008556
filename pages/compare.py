"""Compare: the board of all examined runs, two to four of them side by side, their texts; and studies."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui import states
from pages._ui.compare import beside as compare_beside
from pages._ui.compare import board as compare_board
from pages._ui.compare import choice as compare_choice
from pages._ui.compare import missing as compare_missing
from pages._ui.compare import overview as compare_overview
from pages._ui.compare import table as compare_table
from pages._ui.compare import texts as compare_texts
from pages._ui.corpus import nothing
from pages._ui.current import current_corpus, run_names
from pages._ui.examined import run as examined_run
from pages._ui.guard import guard
from pages._ui.parts import loading
from pages._ui.studies import view as study_view
from pages._ui.texts import plain

workspace = guard()
MOST = 4
VIEWS = ["Board", "Side by side", "Table", "Texts", "Studies"]  # the last: variants of a method, run in one go

st.title("Compare", anchor=False)
if current_corpus(workspace) is None:
    nothing.draw(workspace, key="compare")
    st.stop()
view = st.radio(
    "View",
    VIEWS,
    key="compare.view",
    horizontal=True,
    label_visibility="collapsed",
    persist_state="session",
)
if view == "Studies":
    study_view.draw(workspace)
    st.stop()

finished = examined_run.finished_runs(workspace, key="compare")
runs = {run.id: run for run in finished if run.examined_at}
if len(runs) < 2:
    compare_missing.draw(workspace, finished)
    compare_choice.draw(workspace)
    st.stop()

every = workspace.runs.all(next(iter(runs.values())).corpus_id)
numbers = compare_board.numbered(runs, every)  # one number and name per run in every view
labels = {run_id: name for run_id, name in run_names(every).items() if run_id in runs}  # in the picker, as everywhere


def titles(some: list[engine.RunSummary]) -> str:
    """Return what runs are called, each once, with the number of their mark on the board."""
    return ", ".join(plain(f"{numbers[run.id].number} · {labels[run.id]}") for run in some)


def out_of_date(some: list[engine.RunSummary]) -> None:
    """Name those of the runs in view that are out of date, by what has to be done anew."""
    made = [run for run in some if run.stale]
    examined = [run for run in some if run.examination_stale and not run.stale]
    said = []
    if made:
        what = "make it again and examine what comes out" if len(made) == 1 else "make them again and examine them"
        said.append(f"Made before the review changed: {titles(made)}. To compare like with like, {what}.")
    if examined:
        what = "it" if len(examined) == 1 else "them"
        said.append(
            f"Examined before the review changed: {titles(examined)}. Examine {what} again to compare like with like."
        )
    if said:
        states.stale(" ".join(said))


if view == "Board":
    out_of_date(list(runs.values()))
    compare_board.draw(workspace, runs, numbers)
    compare_choice.draw(workspace)
    st.stop()

options = list(labels)
before = st.session_state.get("compare.runs", options[:2])
picked = [run_id for run_id in before if run_id in runs]
if len(picked) < min(2, len(before)):  # the others are of another corpus or deleted: nobody took them out of the choice
    picked += [run_id for run_id in options if run_id not in picked][: 2 - len(picked)]
st.session_state["compare.runs"] = picked
chosen = st.multiselect(
    "Runs",
    options,
    key="compare.runs",
    max_selections=MOST,
    format_func=labels.__getitem__,
    persist_state="session",
    help="Two to four runs. The first one is what the others are held against.",
)
if len(chosen) < 2:
    st.info("Choose at least two runs.", icon=":material/compare:")
    st.stop()
shown = {run_id: runs[run_id] for run_id in chosen}
out_of_date(list(shown.values()))
called = compare_board.called_by(shown, numbers)
names = {run_id: f"{plain(name)} ({numbers[run_id].promise})" for run_id, name in called.items()}
if view == "Texts":
    compare_texts.draw(workspace, shown, names)
    st.stop()

with loading.waiting(loading.BOX):  # the comparison tests record by record, which takes seconds on a busy machine
    findings = {run_id: workspace.examinations.findings(run_id) for run_id in chosen}
    unread = [run_id for run_id, run in shown.items() if compare_board.untouched(run.guarantee)]
    table = compare_table.without_private(workspace.examinations.compare(chosen), unread, chosen)
attacks = {run_id: workspace.examinations.table(run_id, "attacks") for run_id in chosen}
compare_overview.draw_leaks(called, shown, findings, attacks)
for sentence in compare_table.sentences(table, names):
    st.markdown(sentence)
if view == "Side by side":
    compare_beside.draw(workspace, shown, names, findings)
else:
    context = st.toggle(
        "Show what the numbers are judged by", key="compare.context", persist_state="session", wrap=True
    )
    for group in ("privacy", "utility"):
        st.subheader(group.capitalize(), anchor=False)
        compare_table.draw(table, names, group, context=context)
    compare_table.explain()
