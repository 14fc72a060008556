"""Studies on the compare page: choose one, start it, watch it, read its figures and tables.

Privacy posture: a study's tables hold numbers and names of variants; they are marked internal wherever they are drawn.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

import engine
from engine import JSON
from pages._ui import states
from pages._ui.corpus import nothing
from pages._ui.current import current_corpus, distinct
from pages._ui.examined import figure as examined_figure
from pages._ui.methods import parameters
from pages._ui.parts import once
from pages._ui.parts.progress import ACTIVE, job_progress
from pages._ui.plan import model as plan_model
from pages._ui.sign_in.closed import closed, lacks, only
from pages._ui.studies import table as study_table
from pages._ui.texts import count_of, plain, when

MODEL = "study.model"
INTERNAL = "Internal: measured on private records. None of this is part of a release."


def draw(workspace: engine.Workspace) -> None:
    """Draw the studies of the chosen corpus."""
    corpus = current_corpus(workspace)
    if corpus is None:
        nothing.draw(workspace, key="study")
        return
    st.markdown("A study runs several variants on one corpus, measures each, and sets them side by side.")
    started = workspace.studies.runs(corpus.id)
    with st.expander("Start a study", expanded=not started, icon=":material/science:", key="study.box"):
        _start(workspace, corpus)
    if not started:
        st.info("No study has been run on this corpus.", icon=":material/science:")
        return
    known = {run.id: run for run in started}
    labels = distinct({run.id: f"{run.title} · {when(run.created)}" for run in reversed(started)})
    if st.session_state.get("study.run") not in known:
        st.session_state["study.run"] = started[0].id
    chosen = known[st.selectbox("Study", list(known), key="study.run", format_func=labels.__getitem__)]
    _results(workspace, chosen)


def _start(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    specs = {spec.id: spec for spec in workspace.studies.all()}
    spec = specs[st.selectbox("What to study", list(specs), key="study.which", format_func=lambda i: specs[i].title)]
    st.markdown(plain(spec.summary))
    st.caption(plain(spec.citation))
    settings = parameters.form(spec, key=f"study.settings.{spec.id}")
    if parameters.checked(spec, settings) is None:
        return
    needs = states.act(workspace.studies.needs, spec.id, settings)
    states.flash()
    if needs is None:
        return
    if "spans" in needs and corpus.span_source is None:
        st.info("This study needs to know what identifies people: run detection on the Review page first.",
                icon=":material/fact_check:")  # fmt: skip
        return
    model = plan_model.choose_for(workspace, needs, MODEL)
    blockers = workspace.studies.blockers(corpus.id, spec.id, settings, model=model)
    for blocker in blockers:
        states.refused(blocker, "Change this first, then start.")
    st.button(
        "Start the study", type="primary", key=f"study.start.{spec.id}", icon=":material/play_arrow:",
        on_click=_begin, args=(workspace, corpus.id, spec.id, settings, model),
        disabled=bool(blockers) or lacks(engine.Right.MANAGE),
        help="Reads private records; the ledger says so. It can be cancelled and resumed.",
    )  # fmt: skip
    once.rearm("study.start")


def _begin(workspace: engine.Workspace, corpus_id: str, study_id: str, settings: dict[str, JSON], model: str) -> None:
    begin = partial(workspace.studies.start, corpus_id, study_id, settings, model=model)
    job_id = once.act("study.start", partial(states.act, begin))
    if job_id:
        st.session_state["study.run"] = job_id


def _results(workspace: engine.Workspace, run: engine.StudyRun) -> None:
    from engine import study_figures

    if run.state in ACTIVE:
        job_progress(workspace, run.id, key="study.job")
    elif run.state != "done":
        title = "The study failed" if run.state == "failed" else "The study was cancelled"
        reason = run.error or "It was stopped before its last variant."
        states.failed(title, reason, "Finished variants are kept; resuming goes on behind them.")
        st.button("Resume", key=f"study.resume.{run.id}", icon=":material/resume:",
                  on_click=states.act, args=(workspace.studies.resume, run.id),
                  **only(engine.Right.MANAGE))  # fmt: skip
    if closed("The results of a study"):
        return
    found = workspace.studies.results(run.id)
    if not found:
        return
    st.warning(INTERNAL, icon=":material/lock:")
    if run.model != plan_model.BUILTIN:
        st.caption(f"Run with {plain(plan_model.called(workspace, run.model))}.")
    if run.state != "done" and run.total:
        st.caption(f"{count_of(run.done, 'variant')} of {run.total} so far.")
    for name, figure in study_figures(run.study, found):
        examined_figure.draw(figure, key=f"study.figure.{run.id}.{name}")
    study_table.draw(found, run.id)
    if run.state not in ACTIVE:
        st.button("Delete this study", key=f"study.delete.{run.id}", icon=":material/delete:",
                  on_click=states.act, args=(workspace.studies.delete, run.id),
                  **only(engine.Right.MANAGE))  # fmt: skip
