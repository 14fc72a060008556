"""One run: progress, funnel, latest outputs, what to do next, and how to repeat it."""

from __future__ import annotations

from functools import partial
from typing import Literal

import streamlit as st

import engine
from pages._ui import states
from pages._ui.current import choose_run, show_run
from pages._ui.examined import figure as examined_figure
from pages._ui.examined import run as examined_run
from pages._ui.methods import readable
from pages._ui.methods.method_cards import badge
from pages._ui.navigation import go
from pages._ui.parts import once
from pages._ui.parts.progress import ACTIVE, running_job
from pages._ui.parts.progress import draw as draw_job
from pages._ui.plan import model as plan_model
from pages._ui.plan import promise as plan_promise
from pages._ui.plan.leaving import INSIDE
from pages._ui.privacy.count import leaks
from pages._ui.runs import blocked as run_blocked
from pages._ui.runs import bought as run_bought
from pages._ui.runs import budget as run_budget
from pages._ui.runs import endpoint as run_endpoint
from pages._ui.runs import filters as run_filters
from pages._ui.runs import loss as run_loss
from pages._ui.runs import named
from pages._ui.runs import outputs as run_outputs
from pages._ui.runs import rounds as run_rounds
from pages._ui.runs.unexamined import untouched
from pages._ui.sign_in.closed import closed, lacks, only
from pages._ui.sign_in.visitor import may
from pages._ui.texts import FILTERED, count_of, method_name, number, plain, seconds, when

SHOWN = 240  # characters of an output
UNEXAMINED = (
    "Its proof holds whatever the texts say. Under “Proof alone” it leaves without anybody looking at private text; "
    "you read and approve the records on Release."
)
SAME = (
    "With this file, `python -m engine reproduce FILE` makes the run again and says whether the same records came out. "
    "It holds settings and keyed digests, no text."
)
NOT_SAME = (
    "The file says what the run was made of. It cannot be made again to the letter: its noise came from the operating "
    "system and has no seed."
)


def draw(workspace: engine.Workspace, run: engine.RunSummary, runs: list[engine.RunSummary]) -> None:
    """Draw a run in whatever state it is."""
    if run.state in ACTIVE:
        _live(workspace, run.id)
        _facts(workspace, run, runs)
        named.edit(workspace, run)
        _script(workspace, run)
    else:
        _ended(workspace, run, runs)
    if closed("What the run noted on its way, and its outputs,"):
        run_bought.draw(workspace, run, runs)
        return
    if run.state not in ACTIVE:
        run_loss.draw(workspace, run)
    run_rounds.draw(workspace, run)
    run_filters.draw(workspace, run)
    run_blocked.draw(workspace, run)
    run_bought.draw(workspace, run, runs)


@st.fragment(run_every="1s")
def _live(workspace: engine.Workspace, run_id: str) -> None:
    """Draw progress and outputs each second; run the page once when the run ends."""
    run = workspace.runs.get(run_id)
    if run.state not in ACTIVE:
        st.rerun()
    job = workspace.jobs.get(run.job_id)
    left, right = st.columns([3, 2], gap="large")
    with left:
        draw_job(workspace, job, key="run.live", samples=False, stops=True)
        run_budget.draw(workspace, run)
        _noted(workspace, run)
        if may(engine.Right.REVEAL):
            readable.draw(workspace, run)
    if not may(engine.Right.REVEAL):
        return
    with right:
        _outputs(list(job.sample))
    run_loss.draw(workspace, run)


def _noted(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the funnel, and what else a run noted; that is for whoever may see text."""
    if not _in_a_line(run):
        _funnel(run)
    if may(engine.Right.REVEAL):
        run_endpoint.draw(workspace, run)


def _outputs(texts: list[str]) -> None:
    st.markdown("**Latest outputs**")
    if not texts:
        st.caption("None yet.")
        return
    for text in texts[-5:]:
        with st.container(border=True):
            st.text(text if len(text) <= SHOWN else f"{text[:SHOWN]} …")


def _ended(workspace: engine.Workspace, run: engine.RunSummary, runs: list[engine.RunSummary]) -> None:
    """Draw what became of a run and what to do next, what it was and where its outputs went, then the outputs."""
    if run.state == "failed":
        states.failed("This run stopped", run.error, "What was made is kept. Resume it, or plan it again with less.")
    elif run.state == "cancelled":
        st.warning("This run was cancelled. What was made until then is kept.", icon=":material/cancel:")
    if run.stale:
        states.stale("The review changed after this run started; run again to use the new decisions.")
    said = examined_run.closes(workspace, run) if run.state == "done" else ""
    if said and not examined_run.in_part(workspace, run):  # else the line below the buttons says it
        st.caption(said)
    with st.container(horizontal=True):
        if run.state in ("failed", "cancelled"):
            st.button("Resume", type="primary", icon=":material/play_arrow:", key="run.resume",
                      on_click=states.act, args=(workspace.jobs.resume, run.id),
                      **only(engine.Right.MANAGE))  # fmt: skip
        if run.state == "done" and run.stale:  # what is measured of it would be of no use for a release
            _again(workspace, run)
        if run.state == "done":
            _measure(workspace, run)
        if run.state != "done" or not run.stale:
            _again(workspace, run)
        named.edit(workspace, run)
        if st.button("Delete …", icon=":material/delete:", key="run.delete", **only(engine.Right.MANAGE)):
            _confirm_delete(workspace, run)
    if run.state == "done":
        st.markdown(standing(workspace, run))
    if _plain(run):  # nothing to draw, so nothing to stand beside
        left = right = st.container()
    else:
        left, right = st.columns(2, gap="large")
    with left:
        _facts(workspace, run, runs)
        run_budget.draw(workspace, run)
    with right:
        _noted(workspace, run)
    if may(engine.Right.REVEAL):
        run_outputs.draw(workspace, run)
    _rests(run, _under(run))
    _script(workspace, run)


def _under(run: engine.RunSummary) -> str:
    """Return what of a guarantee's sentence does not stand above it already."""
    sentence = run.guarantee.sentence
    return sentence if plan_promise.in_words(run.guarantee) else sentence.partition(". ")[2]


def _measure(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the start of an examination, or the way to what was measured, or is; first the way to what was released."""
    if run.released_at and st.button("Open the release", type="secondary" if run.stale else "primary",
                                     icon=":material/outbox:", key="run.released"):  # fmt: skip
        choose_run(run.id)
        go("release")
    if run.examined_at is not None:
        ready = "See what was measured"
    elif running_job(workspace, kind="examine", run_id=run.id) is not None:
        ready = "Watch the examination"
    elif workspace.examinations.stopped(run.id) is not None:
        ready = "Go on with the examination"
    else:
        ready = ""
    if ready:
        if st.button(
            ready,
            type="secondary" if run.stale or run.released_at else "primary",
            icon=":material/arrow_forward:",
            icon_position="right",
            key="run.measured",
        ):
            choose_run(run.id)
            go("privacy")
        return
    full, quick = (workspace.jobs.examination_seconds(run.id, models=models) for models in (True, False))
    barred, whole = lacks(engine.Right.MANAGE), untouched(workspace, run) and not run.stale
    leads = not (whole or run.stale or run.released_at)
    first = not any(one.examined_at for one in workspace.runs.all(run.corpus_id))
    main: Literal["primary", "secondary"] = "primary" if leads and not first else "secondary"
    side: Literal["primary", "secondary"] = "primary" if leads and first else "secondary"
    offered = whole and not run.released_at
    if offered and st.button("Approve and release it unexamined", type="primary", icon=":material/outbox:",
                             key="run.unexamined", help=UNEXAMINED):  # fmt: skip
        choose_run(run.id)
        go("release")
    if st.button(f"Examine this run (about {seconds(full)})", type=main, icon=":material/query_stats:",
                 key="run.examine", **only(engine.Right.MANAGE)):  # fmt: skip
        _examine(workspace, run, models=True)
    if st.button(f"Quick look (about {seconds(quick)})", type=side, icon=":material/speed:", key="run.quick",
                 disabled=barred, help=examined_run.QUICK):  # fmt: skip
        _examine(workspace, run, models=False)


def _examine(workspace: engine.Workspace, run: engine.RunSummary, *, models: bool) -> None:
    """Ask for an examination, and go where its progress stands and its findings will."""
    states.act(workspace.jobs.examine, run.id, model_attacks=models)
    choose_run(run.id)
    go("privacy")


def _plain(run: engine.RunSummary) -> bool:
    """Return whether a sentence says all: everything was kept, or the rest went for one reason."""
    others = {name for name, count in run.funnel.items() if count and name not in ("made", "kept")}
    kept = run.funnel.get("kept", run.kept)
    if not others:
        return not run.funnel or run.funnel.get("made", 0) <= kept
    return len(others) == 1 and all(name.startswith("dropped") for name in others)


def _in_a_line(run: engine.RunSummary) -> bool:
    """Return whether what became of the outputs of a run that has ended stands in the line of its facts."""
    return run.state not in ACTIVE and bool(run.funnel) and _plain(run) and may(engine.Right.REVEAL)


def _made(run: engine.RunSummary) -> str:
    """Return how many outputs were made and kept; how many were kept alone where the funnel is drawn, or is barred."""
    from engine.figures.funnel import funnel

    if _in_a_line(run):
        return funnel(run.funnel, run.count).takeaway
    return f"{count_of(run.kept, 'output')} kept."


def _funnel(run: engine.RunSummary) -> None:
    """Draw how many outputs were made, dropped, kept and flagged."""
    from engine.figures.funnel import funnel

    if not run.funnel:
        st.caption("Nothing was made yet.")
        return
    figure = funnel(run.funnel, run.count)
    if _plain(run):
        st.markdown(figure.takeaway)
        return
    examined_figure.draw(figure, key=f"run.funnel.{run.id}")


def difference(run: engine.RunSummary, runs: list[engine.RunSummary]) -> list[str]:
    """Return the parameters that differ from the previous run of the same method, in words."""
    earlier = [other for other in runs if other.method == run.method and other.created < run.created]
    if not earlier:
        return []
    before = max(earlier, key=lambda other: other.created)
    old = {**before.parameters, "outputs": before.count, "seed": before.seed}
    new = {**run.parameters, "outputs": run.count, "seed": run.seed}
    return [
        f"{name.replace('_', ' ')}: {old.get(name, 'default')} → {new.get(name, 'default')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ] + ["the review was changed between the two"] * (before.stale and not run.stale)


def times(run: engine.RunSummary) -> str:
    """Return when a run started and ended, in a sentence; whether one waits yet, the line of its job says."""
    if run.started is None:
        return f"Asked for {when(run.created)}{'' if run.state in ACTIVE else ', never started'}."
    if run.state in ACTIVE:
        return f"Started {when(run.started)}."
    began = "" if when(run.started) == when(run.created) else f", started {when(run.started)}"
    return f"Asked for {when(run.created)}{began}, {seconds(run.seconds)} of work."


def _facts(workspace: engine.Workspace, run: engine.RunSummary, runs: list[engine.RunSummary]) -> None:
    """Draw what the run promises, what was asked of it, and what people here noted of it."""
    if run.note:
        st.text(run.note)
    badge(run.guarantee.kind)
    first, dot, _ = run.guarantee.sentence.partition(". ")
    if words := plan_promise.in_words(run.guarantee):
        st.markdown(words)
        if beside := plan_promise.not_that_chance(run.guarantee.bound[1]):
            st.caption(beside)
    else:
        st.markdown(plain(f"{first}{dot}".rstrip()))
    if run.state in ACTIVE:
        _rests(run, _under(run))
    st.caption(plain(f"{times(run)} {_made(run)} {_made_with(workspace, run)}Seed {run.seed}."))
    changes = difference(run, runs)
    if changes:
        st.markdown("**Different from the run before**")
        st.markdown("\n".join(f"- {plain(change)}" for change in changes))
    elif any(other.method == run.method and other.created < run.created for other in runs):
        st.caption("The same settings as the run of this method before it.")


def _rests(run: engine.RunSummary, rest: str) -> None:
    """Draw what the promise rests on, folded."""
    with st.expander("What it rests on", icon=":material/verified_user:", key=f"run.guarantee.{run.id}"):
        st.markdown(plain(f"{rest} {literature(run)}".strip()))


def standing(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return in one line what was measured of a finished run, to whom that lets it go, and what is undecided."""
    pending = workspace.runs.approval_counts(run.id).get("pending", 0)
    waits = f" · {number(pending)} undecided" if pending else ""
    left = f"**Released** {when(run.released_at)}{_withdrawn(workspace, run)} · " if run.released_at else ""
    found = leaks(workspace, run)
    if found is None:
        return f"{left}{examined_run.in_part(workspace, run) or 'Not examined yet'}{waits}"
    policy = workspace.releases.audience(run.id).policy
    if policy is None:
        goes = "may not leave as measured"
    else:
        goes = "stays inside" if policy.id == INSIDE else f"measured within “{plain(policy.title)}”"
    many = count_of(found, "leak") if found else "no leak shown"
    old = " · the review changed since" if run.stale or run.examination_stale else ""
    return f"{left}**Examined**: {many}, {goes}{waits}{old}"


def _withdrawn(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return that every release of a run was withdrawn; empty where one stands."""
    made = [one for one in workspace.releases.all(run.corpus_id) if one.run_id == run.id]
    return ", and withdrawn" if made and all(one.revoked for one in made) else ""


def literature(run: engine.RunSummary) -> str:
    """Return what a run's method is called in the literature and on a data card."""
    return f"The method is called {run.title} in the literature and on a data card."


def _made_with(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return the method by the name on its card, and the language model where it has one write."""
    needs = next((spec.needs for spec in workspace.plan.methods() if spec.id == run.method.removeprefix(FILTERED)), ())
    model = f"Model: {plan_model.called(workspace, run.model)}. " if "generator" in needs else ""
    return f"Method: {method_name(run)}. {model}"


def _again(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    said = "and seed; its noise is drawn anew."
    if run.guarantee.noiseless:
        said = "with a new seed, since without noise the old one would give the same text."
    old = run.state == "done" and run.stale
    st.button("Run it again with today's review" if old else "Run again", icon=":material/replay:", key="run.again",
              type="primary" if old else "secondary",
              help=f"A new run with the same method, settings and model, {said}",
              on_click=_rerun, args=(workspace, run), disabled=lacks(engine.Right.MANAGE))  # fmt: skip
    once.rearm("run.again")


def _script(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw how to repeat the run, folded."""
    with st.expander("As a script", icon=":material/terminal:", key=f"run.script.{run.id}"):
        st.caption("The run's settings, and one command that repeats it.")
        st.code(workspace.runs.script(run.id), language=None, wrap_lines=True)
        if run.state == "done" and not run.stale:
            st.caption(SAME if run.guarantee.noiseless else NOT_SAME)
            st.download_button(
                "Save as a file", data=partial(workspace.recipes.write, run.id), file_name=f"{run.id}.yaml",
                mime="application/yaml", key="run.recipe", icon=":material/download:", on_click="ignore",
            )  # fmt: skip


def _rerun(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Start the same run again; a callback."""
    run_id = once.act("run.again", partial(states.act, workspace.jobs.again, run.id))
    if run_id is not None:
        show_run(run_id)


@st.dialog("Delete this run?")
def _confirm_delete(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Ask before a run goes."""
    st.markdown(f"{count_of(run.kept, 'output')} and everything measured on them are removed. Releases stay.")
    if said := run_budget.after_deletion(workspace, run):
        st.markdown(plain(said))
    if st.button(
        "Delete for good",
        icon=":material/delete:",
        key="run.delete.sure",
        on_click=states.act,
        args=(workspace.runs.delete, run.id),
        kwargs={"done": "The run was deleted."},
    ):
        st.rerun()
    if st.button("Keep it", key="run.delete.keep"):
        st.rerun()
