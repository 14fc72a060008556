"""One row a corpus on the first page: stations, next step, rename and delete."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.current import choose_corpus, choose_run, corpus_names, current_run
from pages._ui.home import next_step
from pages._ui.home.first_steps import BEGUN
from pages._ui.navigation import go, page_only
from pages._ui.parts.progress import watch
from pages._ui.sign_in.closed import barred
from pages._ui.states import act
from pages._ui.texts import STEPS, UNIT_PLURALS, UNITS, count_of, number, plain, when

HALF = 350  # pixels that three stations take at least
ICONS = {True: ":material/check_circle:", None: f":orange[{BEGUN}]", False: ":material/radio_button_unchecked:"}


def stations(
    corpus: engine.CorpusSummary, runs: list[engine.RunSummary], *, undecided: int
) -> list[tuple[str, bool | None, str]]:
    """Return name, whether it is reached, None where in part, and date or count of each station.

    Args:
        undecided: findings of the corpus that nobody decided on.
    """
    done = [run for run in runs if run.state == "done"]
    of = f"of {count_of(len(done), 'run')}"
    examined = sum(run.examined_at is not None for run in done)
    released = sum(run.released_at is not None for run in done)
    found = corpus.detected_at is not None or corpus.span_source == "gold"
    reviewed = count_of(corpus.reviewed, "finding") + " decided" if found else "–"
    return [
        ("Loaded", True, when(corpus.created)),
        ("Searched", found, when(corpus.detected_at) if corpus.detected_at else "came with the file" if found else "–"),
        (
            "Review begun" if undecided or not corpus.reviewed else "Reviewed",
            corpus.reviewed > 0 and (None if undecided else True),
            reviewed,
        ),
        ("Made", bool(done), count_of(len(done), "run") if done else "–"),
        ("Examined", bool(examined), f"{examined} {of}" if examined else "–"),
        ("Released", bool(released), f"{released} {of}" if released else "–"),
    ]


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary, name: str, *, leads: bool = True) -> None:
    """Draw one row; its next step is the screen's first button where it `leads`."""
    runs = workspace.runs.all(corpus.id)
    with st.container(border=True, key=f"home.corpus.{corpus.id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(
                f"**{plain(name)}**  \n:small[{count_of(corpus.records, 'record')} · "
                f"protected: {UNITS[corpus.unit][0]} · {number(corpus.holdout_units)} of {number(corpus.units)} "
                f"{UNIT_PLURALS[corpus.unit]} set aside]",
                width="content",
            )
            with st.container(horizontal=True, width="content"):
                _next_step(workspace, corpus, leads=leads)
                _more(workspace, corpus)
        undecided = workspace.review.progress(corpus.id)["undecided"] if corpus.reviewed else 0
        known = stations(corpus, runs, undecided=undecided)
        with st.grid(2, min_column_width=HALF, gap="small"):  # six in a line, or three and three
            for half in (known[:3], known[3:]):
                with st.container(), st.grid(3, min_column_width=100, gap="small"):
                    for name, reached, note in half:
                        st.markdown(f"{ICONS[reached]} {name}  \n:small[{plain(note)}]")
        for warning in corpus.warnings:
            st.caption(f":material/warning: {plain(warning)}")


def _next_step(workspace: engine.Workspace, corpus: engine.CorpusSummary, *, leads: bool) -> None:
    label, page = STEPS[next_step.step_of(workspace, corpus)]
    job = next_step.at_work(workspace, corpus)
    if st.button(
        label if job is None else watch(job), type="primary" if leads else "secondary", key=f"home.next.{corpus.id}",
        icon=":material/arrow_forward:", icon_position="right", **page_only(page),
    ):  # fmt: skip
        choose_corpus(corpus.id)
        run = current_run(workspace, corpus)
        if run is not None:
            choose_run(run.id)
        go(page)


def _more(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    with st.popover("More", key=f"home.more.{corpus.id}"):
        if barred("Renaming or deleting it", engine.Right.MANAGE):
            return
        st.text_input("Name", value=corpus.name, key=f"home.name.{corpus.id}", max_chars=120)
        st.button("Rename", key=f"home.rename.{corpus.id}", on_click=_rename, args=(workspace, corpus.id))
        if st.button("Delete …", key=f"home.delete.{corpus.id}", icon=":material/delete:"):
            _confirm_delete(workspace, corpus)


def _rename(workspace: engine.Workspace, corpus_id: str) -> None:
    act(workspace.corpora.rename, corpus_id, str(st.session_state[f"home.name.{corpus_id}"]))


@st.dialog("Delete this corpus?")
def _confirm_delete(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Ask before a corpus goes."""
    st.markdown(
        f"**{plain(corpus_names(workspace)[corpus.id])}**: its text, findings, decisions, "
        f"{count_of(corpus.runs, 'run')} and outputs are removed from the disk. A line without text stays "
        "in the audit log. What was spent of these people's privacy budget stays spent, also when the file is loaded "
        "again. Exported files are not touched."
    )
    if st.button(
        "Delete for good",
        type="primary",
        key=f"home.delete.sure.{corpus.id}",
        on_click=act,
        args=(workspace.corpora.delete, corpus.id),
        kwargs={"done": "The corpus was deleted."},
    ):
        st.rerun()
    if st.button("Keep it", key=f"home.delete.keep.{corpus.id}"):
        st.rerun()
