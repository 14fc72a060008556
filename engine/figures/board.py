"""The board: every examined run of a corpus as a point, privacy against use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from engine.examine.findings import Finding
from engine.examine.measures import MEASURES
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled, whiskers

AGAINST = ("none", "train", "holdout")  # the references under which a finding speaks about the run itself
HEIGHT = 460
SIDES = ("top right", "bottom right", "top center", "bottom center")  # so that words of close marks seldom meet


@dataclass(frozen=True)
class BoardRun:
    """A run on the board.

    Args:
        number: what it is called on the board, from 1 on.
        title: of its method, for legend and hover. method: its id, for colour and shape.
        promise: the few words beside its mark, such as "ε 4".
    """

    number: int
    title: str
    method: str
    promise: str


def own(findings: Sequence[Finding], name: str) -> Finding | None:
    """Return the run's own value of a finding, or None where it was not measured."""
    return pick(findings, name, *AGAINST)


def goodness(finding: Finding, real: float | None) -> float:
    """Return a number that is larger where a finding is better or safer."""
    if finding.direction == "closer to real is better":
        return -abs(finding.value - (finding.value if real is None else real))
    return finding.value if finding.direction == "higher is better" else -finding.value


def dominated(points: Mapping[str, tuple[float, float]]) -> set[str]:
    """Return the runs that another is at least as good as on both axes, and better on one."""
    return {
        run
        for run, (a, b) in points.items()
        if any(c >= a and d >= b and (c > a or d > b) for other, (c, d) in points.items() if other != run)
    }


def board(
    runs: Mapping[str, BoardRun], findings: Mapping[str, Sequence[Finding]], privacy: str, utility: str
) -> Figure:
    """Return privacy against utility, one mark a run with both intervals; runs beaten on both are grey.

    Args:
        runs: run id -> how it is drawn. findings: run id -> what was found; a run without one of the two is left out.
        privacy, utility: names of findings. Points carry their run's id in `customdata`.
    """
    both: dict[str, tuple[Finding, Finding]] = {}
    for run in runs:
        p, u = own(findings.get(run, ()), privacy), own(findings.get(run, ()), utility)
        if p is not None and u is not None:
            both[run] = (p, u)
    real = {run: pick(findings[run], utility, "real") for run in both}
    points = {}
    for run, (p, u) in both.items():
        level = real[run]
        points[run] = (goodness(p, None), goodness(u, None if level is None else level.value))
    beaten = dominated(points)
    plot = go.Figure()
    _levels(plot, privacy, [found.value for found in real.values() if found is not None])
    for method in dict.fromkeys(runs[run].method for run in both):
        _marks(plot, {run: pair for run, pair in both.items() if runs[run].method == method}, runs, beaten)
    styled(plot, x=_axis(utility), y=_axis(privacy), height=HEIGHT)
    plot.update_layout(clickmode="event+select", hovermode="closest")
    takeaway = _takeaway(runs, list(both), beaten)
    caveat = "Grey goes by the values alone: where bars overlap, the order could be chance."
    return Figure(plot, takeaway, caveat, f"A mark for each of {len(both)} runs. {takeaway}")


def _marks(
    plot: go.Figure, found: Mapping[str, tuple[Finding, Finding]], runs: Mapping[str, BoardRun], beaten: set[str]
) -> None:
    """Add the runs of one method: one entry of the legend, grey where another run is better on both."""
    known = [runs[run] for run in found]
    own_colour = palette.of_method(known[0].method)
    colours = [palette.GREY if run in beaten else own_colour for run in found]
    for colour in dict.fromkeys(colours):  # bars of one trace have one colour
        rows = [run for run, its in zip(found, colours, strict=True) if its == colour]
        p, u = [found[run][0] for run in rows], [found[run][1] for run in rows]
        plot.add_scatter(
            x=[f.value for f in u], y=[f.value for f in p], mode="markers+text",
            text=[f"{runs[run].number} · {runs[run].promise}" for run in rows],
            textposition=[SIDES[runs[run].number % len(SIDES)] for run in rows],
            error_x=whiskers(u) | {"color": colour, "width": 3}, error_y=whiskers(p) | {"color": colour, "width": 3},
            customdata=[[run] for run in rows], name=known[0].title + (" (beaten)" if colour == palette.GREY else ""),
            marker={"size": 14, "color": colour, "symbol": palette.symbol_of(known[0].method)},
            hovertemplate="Run %{text}<br>%{x:.3g}, %{y:.3g}<extra>" + known[0].title + "</extra>",
        )  # fmt: skip


def _levels(plot: go.Figure, privacy: str, real: Sequence[float]) -> None:
    """Add what the axes are read by: chance for an excess, and what real text scores against real text."""
    if privacy.endswith("_excess"):
        plot.add_hline(y=0, line={"dash": "dot", "width": 1, "color": palette.GREY}, annotation_text="chance",
                       annotation_position="bottom left")  # fmt: skip
    if real:
        middle = sorted(real)[len(real) // 2]
        plot.add_vline(x=middle, line={"dash": "dash", "width": 1, "color": palette.REFERENCES["real"]},
                       annotation_text="real against real", annotation_position="top")  # fmt: skip


def _takeaway(runs: Mapping[str, BoardRun], drawn: Sequence[str], beaten: set[str]) -> str:
    if not drawn:
        return "No run has both findings."
    if len(drawn) == 1:
        return "There is one run to show."
    if not beaten:
        return "No run beats another on both counts."
    return f"Not beaten on both counts: {listed([f'run {runs[run].number}' for run in drawn if run not in beaten])}."


def _axis(name: str) -> str:
    measure = MEASURES[name]
    return f"{measure.title} ({measure.direction})"
