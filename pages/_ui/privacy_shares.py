"""Shares against training part, holdout and real records: the chart, and the same as a table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.analysis.measures import MEASURES
from pages._ui import examined_table, privacy_beside
from pages._ui.privacy_data import Examined
from pages._ui.texts import plain

COLUMNS = ("train", "holdout", "baseline", "excess", "none")
MISSING = "No leakage was measured in this run."


def figure(sides: Sequence[Examined]) -> None:
    """Draw shares with their intervals."""
    from engine.figures.palette import GREY
    from engine.figures.privacy import triple_bars

    figures = [triple_bars(side.findings) for side in sides]
    for made in figures:
        made.plot.update_traces(error_x_color=GREY)  # whiskers that can be seen on light and dark ground
    privacy_beside.draw(figures, [side.name for side in sides], key="privacy.shares", missing=MISSING)


def triples(sides: Sequence[Examined]) -> None:
    """Draw every measure of text and closeness as a triple."""
    for side in sides:
        if len(sides) > 1:
            st.markdown(f"**{plain(side.name)}**")
        examined_table.triples(
            [f for f in side.findings if f.name in MEASURES],
            COLUMNS,
            key=f"privacy.triples.{side.run.id}",
            alt="Privacy findings against training part, holdout and real records",
        )
    st.caption(
        "Brackets hold the 95 % interval. The holdout was never shown to any method: what stands in both columns is "
        "chance. All numbers are internal: they were computed on private text and never leave with a release."
    )
