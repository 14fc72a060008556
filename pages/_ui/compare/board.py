"""The board: privacy against utility, one mark a run, intervals as bars, dominated runs greyed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

import engine
from engine import MEASURES, Finding
from pages._ui.examined import figure as examined_figure

AGAINST = ("none", "train")
PREFERRED = ("verbatim_8gram", "mauve", "js_2gram")  # what the board opens with, the first one known


def ask_and_draw(
    runs: Mapping[str, engine.RunSummary], names: Mapping[str, str], findings: Mapping[str, Sequence[Finding]]
) -> None:
    """Ask which two findings to hold against each other, then draw the board."""
    from engine.figures.runs import pareto

    choices = {group: common(findings, group) for group in ("privacy", "utility")}
    if not all(choices.values()):
        st.info("The runs share no privacy or no utility finding; examine each of them fully.", icon=":material/info:")
        return
    chosen = {}
    for column, group in zip(st.columns(2), choices, strict=True):
        first = next((name for name in PREFERRED if name in choices[group]), choices[group][0])
        chosen[group] = column.selectbox(
            f"{group.capitalize()} finding",
            choices[group],
            index=choices[group].index(first),
            format_func=lambda name: MEASURES[name].title,
            key=f"compare.board.{group}",
        )
    figure = pareto(
        {names[run][0]: rows for run, rows in findings.items()},
        {names[run][0]: runs[run].method for run in runs},
        chosen["privacy"],
        chosen["utility"],
    )
    examined_figure.draw(
        figure, key="compare.board", limits="One privacy and one utility number never tell the whole story."
    )


def common(findings: Mapping[str, Sequence[Finding]], group: str) -> list[str]:
    """Return names of findings that every run has with a finite value, in the order of the measures."""
    known = [
        {f.name for f in rows if f.group == group and f.reference in AGAINST and f.value == f.value}
        for rows in findings.values()
    ]
    shared = set.intersection(*known) if known else set()
    return [name for name in MEASURES if name in shared]
