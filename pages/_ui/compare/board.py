"""The board: every examined run as a point, privacy against use; a click opens one, ticks put runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

import engine
from engine import MEASURES, Finding, stands_out, too_wide
from pages._ui.compare import choice, leave, overview, rests
from pages._ui.current import choose_run
from pages._ui.navigation import go
from pages._ui.texts import GUARANTEES, count_of, method_name, number, plain, run_title, when

if TYPE_CHECKING:
    from streamlit.typing import PlotlyState

    from engine.figures.board import BoardRun

WHOLE = 400  # pixels in which the name of a finding is read whole
AGAINST = ("none", "train", "holdout")
# What the board opens with: the first one that enough runs have, and that tells something of each of them. Of use,
# these stand only where no headline measure tells two runs apart.
PRIVACY = ("strict_pipp_excess", "verbatim_8gram_excess", "near_copies_08_excess")
OF_ALL = "verbatim_8gram"  # of all that was used: first where a verdict of Privacy rests on it, or no other is there
UTILITY = ("next_word", "kid", "mauve", "js_2gram")
SELECTION = (
    "Only for the policy “Proof alone”: picking a run by these numbers is a choice that private records took part in, "
    "and its proof then holds only as before it was picked. To keep the whole proof, leave that run unexamined"
)
BELOW = ", decide by its own text, or let the records choose for a part of the budget (below)."
ALONE = " and decide by its own text."


def draw(workspace: engine.Workspace, runs: Mapping[str, engine.RunSummary], numbers: Mapping[str, BoardRun]) -> None:
    """Draw the board of all examined runs, the picked run, and the table to tick runs in; `numbers` as `numbered`."""
    from engine.figures.board import board, compared

    findings = {run_id: workspace.examinations.findings(run_id) for run_id in runs}
    answers = st.container()
    chosen = _ask(findings)
    if chosen is None:
        st.info("No run has both a privacy and a utility finding; examine them fully.", icon=":material/info:")
        return
    attacks = {run_id: workspace.examinations.table(run_id, "attacks") for run_id in runs}
    names = called_by(runs, numbers)
    with answers:
        first = st.container()
        leaks = overview.draw_leaks(names, runs, findings, attacks)
    old = [run_id for run_id, run in runs.items() if run.stale or run.examination_stale]
    if readers := overview.asked(workspace, runs):
        with first:
            leave.draw(names, readers, old, leaks, _out_of_the_team(workspace))
    labelled = {
        run_id: replace(one, leaks=in_all(leaks[run_id], is_old=run_id in old)) for run_id, one in numbers.items()
    }
    figure = board(labelled, findings, chosen["privacy"], chosen["utility"])
    event = st.plotly_chart(
        figure.plot, key="compare.board", on_select="rerun", selection_mode="points", alt=figure.alt,
        config={"displayModeBar": False},
    )  # fmt: skip
    st.caption(
        plain(f"{figure.takeaway} {figure.caveat} One privacy and one utility number never tell the whole story.")
    )
    if two := rests.sentence({run: f"{one.number}" for run, one in numbers.items()}, findings, chosen["privacy"]):
        st.caption(plain(two))
    left_out = len(runs) - sum(len(trace.customdata) for trace in figure.plot.data if trace.customdata is not None)
    if left_out:
        st.caption(f"{count_of(left_out, 'run')} without one of the two findings {'is' if left_out == 1 else 'are'} "
                   "not drawn; the table below holds all.")  # fmt: skip
    picked = picked_run(event)
    if picked is not None and picked in runs:
        _card(runs[picked], numbers[picked])
    equal, cut = compared(findings, chosen["privacy"], chosen["utility"])
    overview.draw(runs, numbers, findings, chosen, equal, cut, attacks, readers)
    if any(run.guarantee.kind == "dp" and run.guarantee.epsilon for run in runs.values()):
        st.caption(SELECTION + (BELOW if choice.offered(workspace) else ALONE))


def _out_of_the_team(workspace: engine.Workspace) -> list[str]:
    """Return the titles of the policies that `engine.Audience` knows and that lead out of the team."""
    known = {policy.id: policy.title for policy in workspace.releases.policies()}
    return [known[name] for name in reversed(engine.WIDEST_FIRST) if name in known and name != leave.INSIDE]


def numbered(runs: Mapping[str, engine.RunSummary], every: Sequence[engine.RunSummary]) -> dict[str, BoardRun]:
    """Return the runs as the board draws them, numbered from the oldest of all runs of the corpus."""
    from engine.figures.board import BoardRun

    place = {run.id: number for number, run in enumerate(sorted(every, key=lambda run: run.created), 1)}
    return {
        run_id: BoardRun(place[run_id], method_name(run), run.method, promise(run.guarantee), untouched(run.guarantee))
        for run_id, run in runs.items()
    }


def called_by(runs: Mapping[str, engine.RunSummary], numbers: Mapping[str, BoardRun]) -> dict[str, str]:
    """Return what runs are called in sentences of every view: the number of their mark on the board, and their name."""
    return {run_id: f"{numbers[run_id].number} · {run_title(run)}" for run_id, run in runs.items()}


def in_all(leaks: int, *, is_old: bool = False) -> str:
    """Return in few words how many leaks Privacy shows of a run: the one number on the axis is not all of them.

    Args:
        is_old: whether its findings are out of date: where they show no leak they say nothing.
    """
    return count_of(leaks, "leak") if leaks else overview.OUT_OF_DATE if is_old else overview.UNSEEN


def promise(guarantee: engine.Guarantee) -> str:
    """Return the few words that say what is proven: "ε 4", or what stands in its place."""
    if guarantee.kind == "dp" and guarantee.epsilon is not None:
        return f"ε {engine.upward(guarantee.epsilon)}"
    return "noisy choice" if guarantee.kind == "selection-only" else "nothing proven"


def untouched(guarantee: engine.Guarantee) -> bool:
    """Return whether no private record was read: every match with one is chance."""
    return guarantee.kind == "dp" and guarantee.epsilon == 0


def common(findings: Mapping[str, Sequence[Finding]], group: str) -> list[str]:
    """Return names of findings that at least half of the runs have, and at least two, in the order of the measures."""
    counts: dict[str, int] = {}
    for rows in findings.values():
        for name in {f.name for f in rows if f.group == group and f.reference in AGAINST and f.value == f.value}:
            counts[name] = counts.get(name, 0) + 1
    return [name for name in MEASURES if counts.get(name, 0) >= max(2, len(findings) / 2)]


def picked_run(event: PlotlyState) -> str | None:
    """Return the id of the run whose point was clicked."""
    points = (event.get("selection", {}) if event else {}).get("points", [])
    ids = points[0].get("customdata") if points else None
    return str(ids[0]) if ids else None


def _ask(findings: Mapping[str, Sequence[Finding]]) -> dict[str, str] | None:
    """Ask which two findings to hold against each other; None where there is no choice."""
    from engine.figures.board import called

    choices = {group: common(findings, group) for group in ("privacy", "utility")}
    if not all(choices.values()):
        return None
    chosen: dict[str, str] = {}
    row = st.grid(2, min_column_width=WHOLE)
    for group, preferred in zip(choices, (PRIVACY, UTILITY), strict=True):
        known = [name for name in preferred if name in choices[group]]
        if group == "privacy" and OF_ALL in choices[group] and (not known or rests.resting(findings, OF_ALL)):
            known = [OF_ALL]
        told = [name for name in known if _told(findings, name)]
        first = max(told or known, key=partial(_leaking, findings), default=choices[group][0])
        if group == "utility":
            first = clearest(findings, chosen["privacy"], choices[group], first)
        key = f"compare.board.{group}"
        if st.session_state.get(key) not in choices[group]:
            st.session_state[key] = first
        chosen[group] = row.selectbox(
            f"{group.capitalize()} finding", choices[group], key=key, format_func=partial(called, findings),
            persist_state="session", help="What to hold the runs against each other by; the table lists all.",
        )  # fmt: skip
    return chosen


def _leaking(findings: Mapping[str, Sequence[Finding]], name: str) -> int:
    """Return how many runs leak by what a privacy finding counts."""
    return sum(stands_out(rows, name.removesuffix("_excess")) == "leak" for rows in findings.values())


def clearest(findings: Mapping[str, Sequence[Finding]], privacy: str, names: Sequence[str], otherwise: str) -> str:
    """Return the headline measure of use that tells most runs of the board apart, the widest of equal ones.

    Args:
        findings: run id -> what was found. privacy: the board's other finding. names: measures to choose among.
        otherwise: what is returned where none tells two runs apart.
    """
    from engine.figures.board import separation
    from engine.figures.utility import DOTS

    found = {name: separation(findings, privacy, name) for name in names if name in DOTS}
    best = max(found, key=lambda name: found[name], default=otherwise)
    return best if best in found and found[best][0] > 0 else otherwise


def _told(findings: Mapping[str, Sequence[Finding]], name: str) -> bool:
    """Return whether no run's interval of a finding is so wide that it compares nothing; one above 0 shows a leak."""
    rows = [f for found in findings.values() for f in found if f.name == name and f.reference in AGAINST]
    return not any(too_wide(f.name, f.low, f.high) and not (f.low is not None and f.low > 0) for f in rows)


def _card(run: engine.RunSummary, drawn: BoardRun) -> None:
    """Draw the picked run with the ways on from it."""
    with st.container(border=True, key="compare.picked"):
        st.markdown(f"**Run {drawn.number}** · {plain(run_title(run))} · {plain(drawn.promise)}")
        st.caption(f"{number(run.kept)} outputs · {when(run.created)} · {GUARANTEES[run.guarantee.kind][3]}")
        with st.container(horizontal=True):
            for label, page in (("Privacy", "privacy"), ("Utility", "utility"), ("Run", "run")):
                if st.button(f"Open in {label}", key=f"compare.open.{page}", icon=":material/open_in_new:"):
                    choose_run(run.id)
                    go(page)
