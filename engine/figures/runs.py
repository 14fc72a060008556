"""Figures of runs: where records went, and two or more runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from engine.examine.findings import Finding
from engine.examine.measures import MEASURES
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled, whiskers

AGAINST = ("none", "train")


def funnel(counts: Mapping[str, int]) -> Figure:
    """Return what a run made, dropped by which stage, and kept, from its funnel counts."""
    drops = {name: n for name, n in counts.items() if name.startswith("dropped")}
    made = counts.get("made", counts.get("kept", 0) + sum(drops.values()))
    kept = counts.get("kept", 0)
    names = ["made", *drops, "kept"]
    values = [made, *drops.values(), kept]
    colours = [palette.GREY, *[palette.VERMILION] * len(drops), palette.GREEN]
    labels = [name.capitalize() for name in names]
    plot = go.Figure(
        go.Bar(x=values, y=labels, orientation="h", marker={"color": colours}, text=[f"{v:,}" for v in values],
               textposition="auto", hovertemplate="%{y}: %{x:,} records<extra></extra>")
    )  # fmt: skip
    styled(plot, x="Records", y="", height=90 + 36 * len(names))
    plot.update_yaxes(autorange="reversed", type="category")
    plot.update_layout(showlegend=False)
    takeaway = f"{kept:,} of {made:,} records were kept."
    if drops:
        most = max(drops, key=lambda name: drops[name])
        takeaway += f" Most of the others were {most}."
    return Figure(
        plot, takeaway, "A dropped record is gone for good; it is in no finding.", f"Bars of counts. {takeaway}"
    )


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


def pareto(findings: Mapping[str, Sequence[Finding]], methods: Mapping[str, str], privacy: str, utility: str) -> Figure:
    """Return privacy against utility, one mark a run with both intervals; runs beaten on both are grey."""
    found = {run: (pick(rows, privacy, *AGAINST), pick(rows, utility, *AGAINST)) for run, rows in findings.items()}
    both = {run: (p, u) for run, (p, u) in found.items() if p is not None and u is not None}
    points = {}
    for run, (p, u) in both.items():
        real = pick(findings[run], utility, "real")
        points[run] = (goodness(p, None), goodness(u, None if real is None else real.value))
    beaten = dominated(points)
    plot = go.Figure()
    for run, (p, u) in both.items():
        method = methods.get(run, "")
        colour = palette.GREY if run in beaten else palette.of_method(method)
        plot.add_scatter(
            x=[u.value], y=[p.value], mode="markers+text", text=[run], textposition="top center",
            name=f"{run} · {method}",
            error_x=whiskers([u]) | {"color": colour}, error_y=whiskers([p]) | {"color": colour}, customdata=[[run]],
            marker={"size": 14, "color": colour, "symbol": palette.METHOD_SYMBOLS.get(method, "square")},
            hovertemplate="%{x:.3g}, %{y:.3g}<extra>" + run + "</extra>",
        )  # fmt: skip
    styled(plot, x=_axis(utility), y=_axis(privacy), height=420)
    best = [run for run in both if run not in beaten]
    if not both:
        takeaway = "No run has both findings."
    elif not beaten:
        takeaway = "No run beats another on both counts." if len(both) > 1 else "There is one run to show."
    else:
        takeaway = f"Not beaten on both counts: {listed(best)}."
    caveat = "Grey goes by the values alone: where bars overlap, the order could be chance."
    return Figure(plot, takeaway, caveat, f"A mark for each of {len(both)} runs. {takeaway}")


def _axis(name: str) -> str:
    measure = MEASURES[name]
    return f"{measure.title} ({measure.direction})"
