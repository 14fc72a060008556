"""The way to a first release as a list that ticks itself: each line is read from what was done in the workspace.

How to use: `first_steps.draw(workspace, corpus, names)`; the list is about one corpus. It folds
once something was released or a person put it away, and can be opened again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

import engine
from engine import headline, use_table
from pages._ui.corpus import samples
from pages._ui.current import choose_corpus, current_run, show_run
from pages._ui.home import next_step
from pages._ui.navigation import go, page_only
from pages._ui.parts.progress import STEP_JOBS, WATCH, running_job
from pages._ui.release import policy as release_policy
from pages._ui.runs.unexamined import CAUTION, untouched
from pages._ui.states import act
from pages._ui.texts import JOBS, count_of, number, plain, run_title

MADE_UP = "The made-up support tickets, whose identifiers come marked, or a file of your own."
MEASURES = "Measures what leaks and what it is good for. Begin with the quick look."
SETTING, AWAY = "first steps", "put away"
DONE, OPEN, BUSY = ":material/check_circle:", ":material/radio_button_unchecked:", ":material/progress_activity:"
AGAIN = "being looked for again …"
REMAKE = "The review has changed since the run was made: nothing of it can be released."
REMEASURE = "The review has changed since the run was measured: what stands on Privacy is out of date."
BEGUN, HELD = ":material/clock_loader_40:", ":material/visibility:"
DO = {"detect": "Look for them", "review": "Review", "run": "Choose a method", "examine": "Examine",
      "approve": "Approve", "release": "Build"}  # fmt: skip
NEEDS = {"review": "detect", "examine": "run", "approve": "run", "release": "approve"}  # a proof leaves unexamined
BREAKS = "What was measured breaks rules of the policy for its readers, whatever is approved."
INSIDE, ONLY, NOBODY = "exploratory", "for inside eyes only", "may not leave, for anybody"
BUNDLE = "The policy's gate, one question, and a bundle to hand on."
ENDS = "Nothing is proven of this run: after its release no total of privacy loss (ε) can be promised any more."


@dataclass(frozen=True)
class Step:
    """One line: what to do, why, whether it is done, what the workspace has of it, and the page where it is done.

    `begun` is half done; `see` is what leads to a line that is done; `held`: done, and its text may leave to nobody;
    `do` is what leads to a line that is to be done again.
    """

    id: str
    title: str
    why: str
    done: bool
    has: str
    page: str
    busy: bool = False
    begun: bool = False
    see: str = ""
    held: bool = False
    do: str = ""


def steps(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> list[Step]:
    """Return the lines for a corpus, or for a workspace without one."""
    run = current_run(workspace, corpus) if corpus else None
    counts = workspace.runs.approval_counts(run.id) if run else {}
    approved = counts.get("approved", 0)
    found = corpus is not None and (corpus.detected_at is not None or corpus.span_source is not None)
    busy = _busy(workspace, corpus, run)
    whole = run is not None and untouched(workspace, run)
    read = corpus is not None and (corpus.reviewed > 0 or workspace.review.progress(corpus.id)["reviewed"] > 0)
    released = corpus is not None and corpus.released > 0
    old = run is not None and run.stale and not released
    behind = run is not None and run.examination_stale and not released
    measured = _result(workspace, run) if run and run.examined_at and not old and not behind else ""
    barred = measured.startswith((ONLY, NOBODY)) and corpus is not None and _for_others(workspace, corpus, run)
    again = found and "detect" in busy
    source = AGAIN if again else _found(workspace, corpus) if found and corpus else ""
    return [
        Step("load", "Load text", MADE_UP, corpus is not None,
             count_of(corpus.records, "record") if corpus else "", "load"),
        Step("detect", "Look for identifiers", "Names, numbers, places: whatever points at a person.",
             found and not again,
             source, "review", "detect" in busy),
        Step("review", "Review what was found", "Decide that one finding goes or stays, or read one text whole.", read,
             _decided(workspace, corpus) if read and corpus else "", "review",
             begun=bool(read and corpus and workspace.review.progress(corpus.id)["undecided"])),
        Step("run", "Make synthetic text",
             REMAKE if old else "Press a card, then Start. A quick look is enough for a first time.",
             run is not None and not old, count_of(run.kept, "record") if run else "",
             "run" if "synthesize" in busy else "plan", "synthesize" in busy, do="Make it again" if old else ""),
        Step("examine", "Examine it", REMEASURE if behind and not old else CAUTION if whole else MEASURES,
             bool(run and run.examined_at) and not old and not behind, measured, "privacy", "examine" in busy,
             see="Privacy", held=measured.startswith((ONLY, NOBODY)), do="Examine again" if behind else ""),
        Step("approve", "Approve records",
             BREAKS if barred else "Read a few, then approve one by one or those of low risk together.",
             approved > 0 or released, _approved(counts), "release", begun=bool(approved and counts.get("pending")),
             do="See why it cannot leave" if barred else ""),
        Step("release", "Build the release", _costs(workspace, run, inside=measured.startswith(ONLY)), released,
             count_of(corpus.released, "release") if released and corpus else "", "release"),
    ]  # fmt: skip


def _result(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return for whom an examined run may be and how many uses it suits."""
    policy = workspace.releases.audience(run.id).policy
    if policy is None:
        readers = NOBODY
    elif policy.id == INSIDE:
        readers = ONLY
    else:
        readers = f"may go to {policy.sentence.split('. ')[0].removeprefix('For ').rstrip('.')}"
    suits = headline(use_table(workspace.examinations.findings(run.id))).rstrip(".")
    return f"{readers}; {suits[:1].lower()}{suits[1:]}"


def _for_others(workspace: engine.Workspace, corpus: engine.CorpusSummary, run: engine.RunSummary | None) -> bool:
    """Return whether the policy that a run is held against lets text leave the team."""
    return release_policy.standing(workspace, corpus.id, run).id != INSIDE


def _approved(counts: dict[str, int]) -> str:
    """Return how far the decisions on records have come, empty where none is approved."""
    approved, rejected, pending = (counts.get(name, 0) for name in ("approved", "rejected", "pending"))
    if not approved:
        return ""
    beside = f", {number(rejected)} rejected" if rejected else ""
    return f"{number(approved)} of {number(approved + rejected + pending)} approved{beside}"


def _costs(workspace: engine.Workspace, run: engine.RunSummary | None, *, inside: bool) -> str:
    """Return what building a release is, and of a run without a proof whom it is for and what it ends."""
    if run is None or run.guarantee.kind == "dp":
        return BUNDLE
    ends = workspace.releases.makes_unbounded(run.id)
    return f"{f'{ONLY.capitalize()}. ' if inside else ''}{ENDS if ends else BUNDLE}"


def _found(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> str:
    """Return how many findings there are, and whether they came with the file."""
    many = count_of(corpus.reviewed + workspace.review.progress(corpus.id)["undecided"], "finding")
    return many if corpus.detected_at is not None else f"{many}, with the file"


def _decided(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> str:
    """Return how far a review has come: a first decision is a beginning."""
    left = workspace.review.progress(corpus.id)["undecided"]
    if not left:
        return f"all {count_of(corpus.reviewed, 'finding')} decided"
    return f"begun, {number(corpus.reviewed)} of {count_of(corpus.reviewed + left, 'finding')} decided"


def _busy(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, run: engine.RunSummary | None) -> set[str]:
    """Return the kinds of this corpus' jobs that wait or run; an examination counts where it is of the run told of."""
    if corpus is None:
        return set()
    of_run = {"examine": run.id} if run is not None else {}
    return {kind for kind in STEP_JOBS.values()
            if running_job(workspace, kind=kind, corpus_id=corpus.id, run_id=of_run.get(kind)) is not None
            }  # fmt: skip


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, names: Mapping[str, str]) -> bool:
    """Draw the list, folded where something was released already or it was put away; return whether it lies open."""
    lines = steps(workspace, corpus)
    done = sum(line.done for line in lines)
    begun = sum(line.done and line.begun for line in lines) if done < len(lines) else 0
    away = workspace.settings.get(SETTING) == AWAY
    folded = away or done == len(lines) or any(one.released for one in workspace.corpora.all())
    run = current_run(workspace, corpus) if corpus else None
    about = f" with {plain(names[corpus.id])}" if corpus else ""
    of_run = f", run “{plain(next_step.called(workspace, run))}”" if run else ""
    counted = f"{done - begun} of {len(lines)} done{f', {begun} in part' if begun else ''}"
    title = f"**Your first release{about}**{of_run}: {counted}"
    # The key tells folded from open, so that the browser does not keep the state of the one for the other.
    with st.expander(title, expanded=not folded, icon=":material/checklist:", key=f"home.steps.{folded}"):
        if not done:
            st.caption("Ten minutes with a made-up sample. Each line ticks itself when it is done.")
        following = _following(lines, next_step.step_of(workspace, corpus) if corpus else "")
        with st.container(gap="xsmall"):
            for line in lines:
                ready = NEEDS.get(line.id) is None or any(one.done for one in lines if one.id == NEEDS[line.id])
                _line(workspace, corpus, line, line is following, ready=ready)
        if following is None:
            st.markdown(
                "You have been through every step once; the files are on the Release page, under Releases of this run."
            )
        elif not away:
            st.button("Put this list away", key="home.steps.away", type="tertiary", icon=":material/close:",
                      on_click=act, args=(workspace.settings.set, SETTING, AWAY), **page_only("load"))  # fmt: skip
    return not folded


def _following(lines: list[Step], step: str) -> Step | None:
    """Return the line that comes next: one at work, else the one of the corpus' next step, else the first open one."""
    open_ones = [line for line in lines if not line.done]
    wanted = {"plan": ("run",), "release": ("approve", "release")}.get(step, (step,))
    ordered = [line for line in open_ones if line.busy] + [line for line in open_ones if line.id in wanted] + open_ones
    return next(iter(ordered), None)


def _at_work(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, line: Step) -> str:
    """Return which job of a line is at work, by its run's name where it has one."""
    kind = STEP_JOBS[line.id]
    job = running_job(workspace, kind=kind, corpus_id=corpus.id) if corpus else None
    run = None if job is None or job.run_id is None else workspace.runs.get(job.run_id)
    return f"{JOBS[kind]}{f': {run_title(run)}' if run else ''} …"


def _line(
    workspace: engine.Workspace, corpus: engine.CorpusSummary | None, line: Step, following: bool, *, ready: bool
) -> None:
    """Draw one line: its state and name, what it is for, and the way to it, grey before it is `ready`."""
    done = f":orange[{HELD}]" if line.held else f":green[{DONE}]"
    icon = f":orange[{BEGUN}]" if line.begun else done if line.done else BUSY if line.busy else OPEN
    busy = line.has or _at_work(workspace, corpus, line) if line.busy else ""
    said = line.has if line.done else busy or line.why
    words = f"{icon} {line.title if line.done else f'**{line.title}**'} · :small[{plain(said)}]"
    if line.done and not line.see:
        st.markdown(words)
        return
    left, right = st.columns([3, 2] if line.id == "load" or line.busy else [4, 1], vertical_alignment="center")
    left.markdown(words)
    with right.container(horizontal=True, horizontal_alignment="right", key=f"home.step.{line.id}"):
        if line.id == "load":
            first = next(one.title for one in workspace.corpora.samples() if one.id == samples.FIRST)
            st.button(f"Start with {first[0].lower()}{first[1:]}", type="primary", key="home.step.sample",
                      on_click=samples.try_sample, args=(workspace, samples.FIRST),
                      **page_only("load"))  # fmt: skip
            if st.button("Load your own", icon=":material/upload_file:", key="home.load", **page_only("load")):
                go("load")
        elif st.button(WATCH[STEP_JOBS[line.id]] if line.busy else line.see if line.done else line.do or DO[line.id],
                       key=f"home.step.{'see' if line.done else 'go'}.{line.id}",
                       disabled=corpus is None or not (ready or line.busy) or bool(page_only(line.page)),
                       type="primary" if following else "tertiary",
                       icon=":material/arrow_forward:", icon_position="right"):  # fmt: skip
            _leave(workspace, corpus, line)


def _leave(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, line: Step) -> None:
    """Go to a line's page with its corpus, and its run where there is one."""
    if corpus is not None:
        choose_corpus(corpus.id)
        run = current_run(workspace, corpus)
        if run is not None:
            show_run(run.id)
    go(line.page)
