"""Shares against training part, holdout and real records: the chart, and the same as a table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import MEASURES
from pages._ui.examined import table as examined_table
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy.data import NEW, Examined
from pages._ui.privacy.verdict import sentences
from pages._ui.texts import plain

COLUMNS = ("excess", "train", "holdout", "baseline")  # what goes beyond chance leads
ALONE = ("none", "baseline")  # what is said of the synthetic text by itself
RATE = "_tpr01"
WHOLE = "privacy.shares.whole"
MISSING = "No leakage was measured in this run."


def figure(sides: Sequence[Examined]) -> None:
    """Draw shares with their intervals, the clearest of the first run on top; say which leaks are not among them."""
    from engine.figures.privacy.privacy import clearest_first, leak_shares, stands_out

    whole = st.toggle(
        "Beside it all records used, and real records", key=WHOLE, persist_state="session", wrap=True,
        help="All of them are met more often by their number alone; what counts is as many as are set aside.",
    )  # fmt: skip
    names = clearest_first(sides[0].findings) if sides else []
    figures = [leak_shares(side.findings, names, whole=whole) for side in sides]
    privacy_beside.draw(figures, [side.name for side in sides], key="privacy.shares", missing=MISSING)
    if len(sides) == 1 and not any(stands_out(sides[0].findings, name) for name in names):
        leaks = [one for one in sentences(sides[0]) if one.level == "leak" and one.finding != "guarantee"]
        if titles := [plain(one.text.partition(":")[0]) for one in leaks]:
            st.caption(f"The leaks named above are others than these measures: {', '.join(titles)}.")


def triples(sides: Sequence[Examined]) -> None:
    """Draw every measure as a triple: what stands in the text first, then the attacks."""
    for side in sides:
        if len(sides) > 1:
            st.markdown(f"**{plain(side.name)}**")
        known = [finding for finding in side.findings if finding.name in MEASURES]
        attacks = attacks_of(side)
        beside = {f.name.removesuffix(examined_table.EXCESS) for f in known if f.reference in ("train", "holdout")}
        beside |= {f"{name}{examined_table.EXCESS}" for name in beside}
        others = [f for f in known if f.name.removesuffix(RATE) not in attacks]
        examined_table.triples([f for f in others if f.name in beside], COLUMNS, key=f"privacy.triples.{side.run.id}")
        alone = [f for f in others if f.name not in beside]
        if alone:
            st.markdown("**Of the synthetic text by itself**")
            examined_table.triples(alone, ALONE, key=f"privacy.alone.{side.run.id}", explain=False)
        if attacks:
            st.markdown(
                "**Attacks**: how often one is right of a pair, one used and one not (0.5 is chance); what is "
                "set aside is told from itself."
            )
            examined_table.triples(
                [f for f in known if f.name in attacks],
                COLUMNS,
                headings={**examined_table.HEADINGS, "baseline": "Words alone (blind)"},
                explain=False,
                key=f"privacy.attacks.triples.{side.run.id}",
            )
    st.caption(
        "Brackets hold the 95% interval. The holdout was never shown to any method: what stands in both columns is "
        "chance. All numbers are internal: they were computed on private text and never leave with a release."
    )


def attacks_of(side: Examined) -> set[str]:
    """Return names of findings that are membership attacks: those with a rate at 1% beside them, and the blind one."""
    names = {finding.name for finding in side.findings}
    return {name for name in names if f"{name}{RATE}" in names} | (names & {NEW})
