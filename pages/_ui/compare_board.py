"""The board: privacy against utility, one mark a run, intervals as bars, dominated runs greyed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine.analysis.findings import Finding
from engine.analysis.measures import MEASURES

SYMBOLS = {"surrogate": "circle", "filter": "diamond"}
# One colour a method, everywhere: places in the theme's Okabe-Ito order.
COLOURS = {"surrogate": "#0072B2", "filter": "#E69F00"}
GREY = "#8A979C"


PRIVACY_AGAINST = ("none", "train", "holdout")
UTILITY_AGAINST = ("none", "train")


def ask_and_draw(runs: Mapping[str, Any], names: Mapping[str, str], findings: Mapping[str, Sequence[Finding]]) -> None:
    """Ask which two findings to hold against each other, then draw the board."""
    choices = {
        "privacy": common(findings, "privacy", PRIVACY_AGAINST),
        "utility": common(findings, "utility", UTILITY_AGAINST),
    }
    if not all(choices.values()):
        st.info("The runs share no privacy or no utility finding; examine each of them fully.", icon=":material/info:")
        return
    left, right = st.columns(2)
    chosen = {}
    for column, group in ((left, "privacy"), (right, "utility")):
        chosen[group] = column.selectbox(
            f"{group.capitalize()} finding",
            choices[group],
            format_func=lambda name: MEASURES[name].title,
            key=f"compare.board.{group}",
        )
    privacy = {run: pick(findings[run], chosen["privacy"], PRIVACY_AGAINST) for run in runs}
    utility = {run: pick(findings[run], chosen["utility"], UTILITY_AGAINST) for run in runs}
    real = {run: pick(findings[run], chosen["utility"], ("real",)) for run in runs}
    draw(
        runs,
        names,
        {run: found for run, found in privacy.items() if found is not None},
        {run: found for run, found in utility.items() if found is not None},
        {run: found.value if found is not None else None for run, found in real.items()},
    )


def common(findings: Mapping[str, Sequence[Finding]], group: str, reference: Sequence[str]) -> list[str]:
    """Return names of findings that every run has with a finite value."""
    known = [
        {f.name for f in rows if f.group == group and f.reference in reference and f.value == f.value}
        for rows in findings.values()
    ]
    common = set.intersection(*known) if known else set()
    return [name for name in MEASURES if name in common]


def pick(findings: Sequence[Finding], name: str, reference: Sequence[str]) -> Finding | None:
    """Return the finding of this name against the first of the references that has one."""
    for wanted in reference:
        for finding in findings:
            if finding.name == name and finding.reference == wanted:
                return finding
    return None


def goodness(finding: Finding, real: float | None) -> float:
    """Return a number that is larger where the finding is better."""
    if finding.direction == "closer to real is better":
        return -abs(finding.value - (real if real is not None else finding.value))
    return finding.value if finding.direction == "higher is better" else -finding.value


def dominated(points: Mapping[str, tuple[float, float]]) -> set[str]:
    """Return the runs that another run beats or equals on both axes and beats on one."""
    return {
        run
        for run, (a, b) in points.items()
        if any(c >= a and d >= b and (c > a or d > b) for other, (c, d) in points.items() if other != run)
    }


def draw(
    runs: Mapping[str, Any],
    names: Mapping[str, str],
    privacy: Mapping[str, Finding],
    utility: Mapping[str, Finding],
    real: Mapping[str, float | None],
) -> None:
    """Draw the board for one privacy and one utility finding a run."""
    import plotly.graph_objects as go

    points = {run: (goodness(privacy[run], None), goodness(utility[run], real[run])) for run in runs}
    beaten = dominated(points)
    best = [names[run] for run in runs if run not in beaten]
    takeaway = (
        f"No run beats another on both counts: {' and '.join(best)} are different bargains."
        if not beaten
        else f"{' and '.join(best)} {'is' if len(best) == 1 else 'are'} not beaten on both counts; greyed runs are."
    )
    st.markdown(takeaway)
    figure = go.Figure()
    for run, record in runs.items():
        x, y = utility[run], privacy[run]
        colour = GREY if run in beaten else COLOURS.get(record.method, "#009E73")
        figure.add_trace(
            go.Scatter(
                x=[x.value],
                y=[y.value],
                mode="markers+text",
                text=[names[run]],
                textposition="top center",
                marker={"size": 14, "symbol": SYMBOLS.get(record.method, "square"), "color": colour},
                error_x=_bar(x, colour),
                error_y=_bar(y, colour),
                name=f"{names[run]} · {record.title}",
                hovertemplate="%{x:.3g}, %{y:.3g}<extra>" + names[run] + "</extra>",
            )
        )
    first = next(iter(runs))
    figure.update_xaxes(title=_axis(utility[first]))
    figure.update_yaxes(title=_axis(privacy[first]), rangemode="tozero")
    figure.update_layout(
        height=420, margin={"l": 10, "r": 10, "t": 30, "b": 10}, legend={"orientation": "h", "y": 1.12}
    )
    st.plotly_chart(figure, key="compare.board", alt=takeaway, config={"displayModeBar": False})
    st.caption(
        "Greying goes by the values alone; where the bars overlap, the order could be chance. "
        "One privacy and one utility number never tell the whole story."
    )


def _bar(finding: Finding, colour: str) -> dict[str, Any]:
    if finding.low is None or finding.high is None:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": [finding.high - finding.value],
        "arrayminus": [finding.value - finding.low],
        "color": colour,
        "thickness": 1.5,
    }


def _axis(finding: Finding) -> str:
    measure = MEASURES.get(finding.name)
    return f"{measure.title if measure else finding.name} ({finding.direction})"
