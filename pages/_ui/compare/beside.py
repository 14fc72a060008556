"""Two to four runs side by side: what matters first on one axis, then any figure with equal axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

import engine
from engine import Finding
from pages._ui.compare import rests
from pages._ui.compare.table import short
from pages._ui.texts import plain

if TYPE_CHECKING:
    from engine.figures import Figure

WHOLE = 430  # pixels in which a figure's names and legend are read whole
FIGURES = {
    "dots": "Measures beside real text",
    "shares": "Leaks and copies against chance",
    "closeness": "Closeness to real records",
    "lengths": "Lengths of records",
    "likeness": "Likeness of texts among themselves",
    "map": "Map of texts",
    "funnel": "Where the outputs went",
    "attacks": "Membership attacks",
}


def draw(
    workspace: engine.Workspace,
    runs: Mapping[str, engine.RunSummary],
    names: Mapping[str, str],
    findings: Mapping[str, Sequence[Finding]],
) -> None:
    """Draw what matters first for all runs, then one figure a run with the axes of all."""
    from engine.figures.beside import PRIVACY, UTILITY, beside, lacking, shared

    called = {names[run]: findings[run] for run in runs}
    methods = {names[run]: one.method for run, one in runs.items()}
    titles = ("Privacy", "Use")
    drawn_first = [beside(called, shared(called, known), methods) for known in (PRIVACY, UTILITY)]
    for column, title, first in zip(st.columns(2), titles, drawn_first, strict=True):
        column.subheader(title, anchor=False)
        column.markdown(plain(first.takeaway))
    for column, title, first in zip(st.columns(2), titles, drawn_first, strict=True):  # both begin at one height
        column.plotly_chart(first.plot, key=f"compare.beside.{title}", alt=first.alt, config={"displayModeBar": False})
    without = [said for known in (PRIVACY, UTILITY) if (said := lacking(called, known))]
    numbers = {run: short(name) for run, name in names.items()}
    two = [said for name in shared(called, PRIVACY) if (said := rests.sentence(numbers, findings, name))]
    for caveat in dict.fromkeys([*two, *without, *(first.caveat for first in drawn_first)]):
        st.caption(plain(caveat))
    st.subheader("Any figure, on equal axes", anchor=False)
    which = st.selectbox(
        "Figure", list(FIGURES), key="compare.figure", format_func=FIGURES.__getitem__, persist_state="session",
        label_visibility="collapsed",
    )  # fmt: skip
    drawn = {run: _figure(workspace, runs[run], findings[run], which) for run in runs}
    _equal([figure for figure in drawn.values() if figure is not None])
    place = st.grid(2, min_column_width=WHOLE)  # one below the other where two would be squeezed
    for run, figure in drawn.items():
        with place.container():
            st.markdown(f"**{plain(names[run])}**")
            if figure is None:
                st.caption("This run's examination has nothing to draw here; examine it again.")
            else:
                st.plotly_chart(
                    figure.plot, key=f"compare.figure.{which}.{run}", alt=figure.alt, config={"displayModeBar": False}
                )
                st.caption(plain(f"{figure.takeaway} {figure.caveat}"))


def _equal(figures: Sequence[Figure]) -> None:
    from engine.figures.equal import equal_axes, equal_heights

    plots = [figure.plot for figure in figures]
    equal_axes(plots)
    equal_heights(plots)


def _figure(
    workspace: engine.Workspace, run: engine.RunSummary, findings: Sequence[Finding], which: str
) -> Figure | None:
    """Return a run's figure, or None where its examination lacks what it needs."""
    from engine import figures
    from engine.figures.privacy.membership import areas

    def table(name: str, make: Callable[..., Figure], *more: object) -> Figure | None:
        rows = workspace.examinations.table(run.id, name)
        return None if rows is None or rows.empty else make(rows, *more)

    made: dict[str, Callable[[], Figure | None]] = {
        "dots": lambda: figures.utility_dots(findings),
        "shares": lambda: figures.leak_shares(findings),
        "closeness": lambda: table("nearest_quantiles", figures.closeness, findings),
        "lengths": lambda: table("lengths", figures.lengths),
        "likeness": lambda: table("likeness", figures.likeness),
        "map": lambda: table("map", figures.text_map),
        "funnel": lambda: figures.funnel(run.funnel),
        "attacks": lambda: table("attacks", areas),
    }
    return made[which]()
