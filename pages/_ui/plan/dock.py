"""The bar at the lower edge of the plan page: what the run is worth in one line, and Start, always in view."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

import engine
from engine import SignalVerdict
from pages._ui import states
from pages._ui.current import show_run
from pages._ui.language import tr, trn
from pages._ui.navigation import go
from pages._ui.parts import once
from pages._ui.plan import lasting, leaving
from pages._ui.texts import on_page, plain, seconds, share

_FOLDER = Path(__file__).resolve().parent
_STYLE = st.components.v2.component(
    "understudy_plan_dock",
    css=(_FOLDER / "dock.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "dock.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
MOST = 0.5  # of what is left of a budget: a run that takes more is asked about
STARTED, LEAVING = "plan.started", 1.5  # what was started and when; seconds in which the page is left again
MARKS: dict[str, tuple[str, str]] = {  # level of a verdict -> icon, colour
    "enough": ("check_circle", "green"),
    "weak": ("error", "orange"),
    "noise": ("warning", "red"),
    "nothing private": ("shield", "blue"),
    "unproven": ("info", "gray"),
    "pending": ("hourglass_top", "gray"),
    "unknown": ("help", "gray"),
}


def draw(
    draft: engine.Draft,
    settled: Callable[[], str],
    reviews: str = "",
    *,
    tries_out: bool = False,
    measured: str = "",
    pace: lasting.Pace = lasting.AS_RECKONED,
    asks: bool = False,
    fit: Callable[[], None] | None = None,
    refuses: str = "",
    reach: engine.Reach | None = None,
    aside: int = 0,
) -> None:
    """Draw the verdict, what a release would end, what the run costs, and Start; ask before it takes most of a budget.

    settled: starts the run and returns its id. tries_out: the texts are written by the built-in model, which no signal
    makes a good writer. measured: what the last such run took, in words; `pace` what follows from it. asks: the
    ledger has a question open. fit: sets the run's ε to what is left of the budget, where that is in the way. refuses:
    why the readers' policy takes no such run. reach: what the run could be released under; aside: how many are set
    aside.
    """
    with st.container(key="plan-dock", gap="small"):
        _STYLE(key="plan-dock-style")
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            with st.container(gap=None):
                st.markdown(line(draft, reviews, tries_out=tries_out))
                if takes_most(draft):
                    st.markdown(f":orange[:material/account_balance_wallet: {taken(draft)}]")
                if refuses:
                    st.markdown(f":orange[:material/block: {refuses}]")
                elif said := consequence(draft):
                    st.markdown(f":orange[:material/all_inclusive: {plain(said)}]")
                if reach is not None and not draft.blockers and (policies := leaving.said(reach, aside)):
                    st.markdown(f":material/gavel: {policies}")
                st.caption(cost(draft, tries_out=tries_out, measured=measured, pace=pace))
            if asks and st.button(tr("Go to the ledger"), key="plan.ledger", icon=":material/account_balance_wallet:"):
                go("ledger")
            if fit is not None:
                st.button(
                    tr("Set to what is left"), key="plan.fit", icon=":material/vertical_align_bottom:", on_click=fit
                )
            pressed = st.button(
                trn("Start: up to {n} output", "Start: up to {n} outputs", draft.plan.outputs),
                type="primary",
                icon=":material/play_arrow:",
                key="plan.start",
                disabled=bool(draft.blockers) or draft.guarantee.pending,
            )
        if pressed and takes_most(draft):
            st.dialog(tr("Take most of what is left?"))(_sure)(draft, settled)
        elif pressed:
            _start(settled)
            _go_on()
        once.rearm("plan.start")


def _start(settled: Callable[[], str]) -> None:
    run_id = once.act("plan.start", partial(states.act, settled))
    st.session_state[STARTED] = (run_id, time.monotonic() if run_id else -math.inf)


def _go_on() -> None:
    """Show the run that was started; where none was, draw the page anew, which says why."""
    leave()
    st.rerun()


def _sure(draft: engine.Draft, settled: Callable[[], str]) -> None:
    """Ask before a run takes more than half of what is left of a budget."""
    st.markdown(plain(taken(draft)))
    if draft.verdict.level in ("weak", "noise"):
        st.markdown(verdict_line(draft.verdict))
    with st.container(horizontal=True):
        if st.button(tr("Start and spend it"), type="primary", key="plan.sure", on_click=_start, args=(settled,)):
            _go_on()
        if st.button(tr("Not yet"), key="plan.not_yet"):
            st.rerun()


def takes_most(draft: engine.Draft) -> bool:
    """Return whether a run takes more than half of what is left of the budget of the people behind a corpus."""
    found = draft.what_if
    if found is None or not found.allowed or draft.guarantee.kind != "dp" or not draft.guarantee.epsilon:
        return False
    return found.share_after - found.share_before > MOST * (1.0 - found.share_before)


def taken(draft: engine.Draft) -> str:
    """Return what a run does to the budget, in one sentence; only where it fits."""
    assert draft.what_if is not None
    return tr(
        "The budget of these people goes from {before} to {after} in use, for good.",
        before=share(draft.what_if.share_before, 0),
        after=share(draft.what_if.share_after, 0),
    )


def leave() -> None:
    """Show the run that was started a moment ago.

    A second press that comes while the page is being left would draw this page again; so it is left again.
    """
    run_id, at = st.session_state.get(STARTED, ("", -math.inf))
    if time.monotonic() - at < LEAVING:
        show_run(run_id)
        go("run")


def line(draft: engine.Draft, reviews: str = "", *, tries_out: bool = False) -> str:
    """Return the one line: why it cannot start, else that nobody reviewed, else signal against noise."""
    if draft.blockers:
        return tr(":red[:material/block: **Cannot start.**] {why}", why=plain(on_page(draft.blockers[0])))
    if reviews:
        return tr(":orange[:material/warning: **Not reviewed.**] {why}", why=plain(reviews))
    return verdict_line(draft.verdict, tries_out=tries_out)


def verdict_line(verdict: SignalVerdict, *, tries_out: bool = False) -> str:
    """Return a verdict with its mark, no tick where only a model for trying out writes; bold up to the colon."""
    icon, colour = MARKS[verdict.level]
    if tries_out and verdict.level == "enough":
        icon, colour = MARKS["unproven"]
    head, colon, rest = verdict.sentence.partition(":")
    if not colon:
        head, stop, rest = verdict.sentence.partition(".")
        colon = stop
    return f":{colour}[:material/{icon}: **{plain(head)}{colon}**] {plain(rest.strip())}"


def consequence(draft: engine.Draft) -> str:
    """Return what a release of the run would end for everyone in the data; empty where it ends nothing."""
    if draft.guarantee.kind == "dp":
        return ""
    return tr("After a release of this run no total of privacy loss can be promised to these people any more.")


def cost(
    draft: engine.Draft, *, tries_out: bool = False, measured: str = "", pace: lasting.Pace = lasting.AS_RECKONED
) -> str:
    """Return time, what the last such run took, budget and whether the model is one for trying out, in one line.

    Where there is a last run, the time goes by its pace.
    """
    time = lasting.about(pace.of(draft.plan.seconds))
    alone = (
        tr("{time} on this machine while nothing else runs, once the model is loaded", time=time)
        if draft.plan.model_calls
        else tr("{time} on this machine while nothing else runs", time=time)
    )
    parts = [alone]
    if measured:
        reckoned = pace.of(draft.plan.seconds)
        going = (
            tr("going by that some seconds to get ready")
            if reckoned < 1
            else tr("going by that about {time}", time=seconds(reckoned))
        )
        parts = [f"{measured[:1].upper()}{measured[1:]}", going]
    if draft.guarantee.kind != "dp" or draft.guarantee.epsilon == 0:
        parts.append(tr("no budget is spent"))
    elif draft.what_if is not None and draft.what_if.allowed and not takes_most(draft):
        parts.append(
            tr(
                "budget in use {before} before, {after} after",
                before=share(draft.what_if.share_before, 0),
                after=share(draft.what_if.share_after, 0),
            )
        )
    if tries_out:
        parts.append(tr("written by the built-in model, which is for trying out"))
    return "; ".join(parts) + "."
