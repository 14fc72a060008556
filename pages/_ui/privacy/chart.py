"""Proof and attack on one chart: members found against false alarms, or ε–δ; for one run or two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

import engine
from engine import BLIND, GENERATOR, judge_attacks
from pages._ui.plan.promise import wait
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy import studies as privacy_studies
from pages._ui.privacy.data import Examined
from pages._ui.texts import meaning, plain

if TYPE_CHECKING:
    from engine.figures.base import Figure
    from engine.figures.privacy.lbf import Drawn

VIEWS = ["Members found against false alarms", "ε–δ curves"]
MOST = 6
FIRST = 3
EMPTY = "Nothing is proven of this run and no attack is drawn, so there is nothing to hold against chance."
OLD = "No attack was carried out in this examination: examine the run again."


def draw(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    """Draw the chart in the chosen view."""
    st.subheader("What is proven, and what attacks achieved", anchor=False, help=meaning("guarantee"))
    view = st.radio("Chart", VIEWS, key="privacy.chart", horizontal=True, label_visibility="collapsed")
    for side in sides:
        if side.pending:
            wait(partial(_pending, workspace, side.run.id), key=f"privacy.wait.{side.run.id}")
    if view == VIEWS[0]:
        _trade_off(sides)
    else:
        _curves(workspace, sides)


def _pending(workspace: engine.Workspace, run_id: str) -> bool:
    return workspace.plan.run_curve(run_id).pending


def titles(sides: Sequence[Examined]) -> dict[str, str]:
    """Return the attacks that can be drawn by id, clearest first."""
    from engine.figures.privacy.membership import drawable

    found: dict[str, str] = {}
    for side in sides:
        if side.attacks is not None and side.roc is not None:
            drawn = set(drawable(side.roc, side.attacks, list(side.roc["attack"].unique())))
            found |= {
                k.attack: k.title for k in judge_attacks(side.attacks) if k.attack in drawn and k.attack not in found
            }
    return found


def kept(chosen: list[str] | None, known: list[str], default: list[str]) -> list[str]:
    """Return what was chosen before as far as it is known; the default at first and where nothing of it is left."""
    if chosen is None:
        return default
    still = [name for name in chosen if name in known]
    return still if still or not chosen else default


def pick(sides: Sequence[Examined], *, key: str, first: int = FIRST) -> list[str]:
    """Draw the choice of attacks; return their ids."""
    known = titles(sides)
    st.session_state[key] = kept(st.session_state.get(key), list(known), list(known)[:first])
    picked: list[str] = st.multiselect(
        "Attacks drawn", list(known), key=key, max_selections=MOST, format_func=lambda name: known[name],
        persist_state="session",
        help="The clearest first. An attack on too few to draw a curve stands in the table of “Membership” alone.",
    )  # fmt: skip
    return picked


def _trade_off(sides: Sequence[Examined]) -> None:
    from engine.figures.privacy.proof_attack import proof_and_roc

    shown = pick(sides, key="privacy.attacks") if titles(sides) else []
    figures: list[Figure | None] = [
        None if side.attacks is None or side.roc is None or not (shown or side.claim)
        else proof_and_roc(side.roc, side.attacks, side.claim, shown)
        for side in sides
    ]  # fmt: skip
    old = any(side.attacks is None for side in sides)
    privacy_beside.draw(figures, [side.name for side in sides], key="privacy.proof.roc", missing=OLD if old else EMPTY)


def _curves(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    from engine.figures.privacy.proof_attack import proof_and_curves

    found = [curves(workspace, side) for side in sides]
    audits = [side.audit for side in sides]
    known = list(dict.fromkeys(name for drawn, _, _ in found for name in drawn))
    if known:
        st.session_state["privacy.curves.shown"] = kept(st.session_state.get("privacy.curves.shown"), known, known)
        shown = st.multiselect("Curves drawn", known, key="privacy.curves.shown", persist_state="session")
        figures = [
            proof_and_curves({name: drawn[name] for name in shown if name in drawn}, missing, audit, quiet=quiet)
            for (drawn, missing, quiet), audit in zip(found, audits, strict=True)
        ]
        names = [side.name for side in sides]
        privacy_beside.draw(figures, names, key="privacy.proof.curves", missing=OLD)
    else:
        st.caption("There is no curve to draw yet: nothing is proven about this run and nothing was measured.")
    for side in sides:
        if len(sides) > 1:
            st.markdown(f"**{plain(side.name)}**")
        privacy_studies.offer(workspace, side.run)


def curves(workspace: engine.Workspace, side: Examined) -> tuple[dict[str, Drawn], list[str], bool]:
    """Return every ε–δ curve there is for a run, what is missing in words, and whether its attack shows nothing."""
    from engine.figures.privacy.lbf import Drawn
    from engine.figures.privacy.proof_attack import shown_curve

    drawn: dict[str, Drawn] = {}
    if side.claim is not None and not side.claim.one_point:
        drawn["claimed, of the whole text"] = Drawn(side.claim.curve, "claimed")
    studied, missing = privacy_studies.curves(workspace, side.run)
    drawn |= studied
    quiet = False
    if side.attacks is not None and side.roc is not None:
        best = next(
            (k for k in judge_attacks(side.attacks) if k.level != "unknown" and k.observes not in (BLIND, GENERATOR)),
            None,
        )
        if best is not None:
            points = side.roc[side.roc["attack"] == best.attack]
            attack = shown_curve(points)
            if attack is not None:
                drawn["clearest attack, as far as it shows anything"] = attack
            else:
                quiet = True
    return drawn, missing, quiet
