"""Figures of usefulness: metrics beside real against real, lengths, the map of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings import Finding
from engine.examine.measures import MEASURES
from engine.examine.usefulness.metrics import METRICS
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled, whiskers

DOTS = ("next_word", "classifier_f1", *(metric.name for metric in METRICS if metric.headline))


def within_real(ours: Finding, real: Finding) -> bool:
    """Return whether the synthetic value's interval touches real against real's, or is better where that exists."""
    low, high = (ours.low if ours.low is not None else ours.value), (ours.high if ours.high is not None else ours.value)
    floor, top = (
        (real.low if real.low is not None else real.value),
        (real.high if real.high is not None else real.value),
    )
    if ours.direction == "lower is better":
        return low <= top
    if ours.direction == "higher is better":
        return high >= floor
    return low <= top and high >= floor


def utility_dots(findings: Sequence[Finding], names: Sequence[str] = DOTS) -> Figure:
    """Return a dot a metric with its interval, beside the band of real against real and unrelated text."""
    measured = [n for n in names if pick(findings, n, "train") and pick(findings, n, "real")]
    titles = [MEASURES[name].title for name in measured]
    plot = go.Figure()
    cases = (("real", "Real against real", "line-ns-open", 16), ("train", "Synthetic", "circle", 11),
             ("unrelated", "Unrelated text", "x-thin-open", 10))  # fmt: skip
    for reference, title, symbol, size in cases:
        found = [(pick(findings, name, reference), label) for name, label in zip(measured, titles, strict=True)]
        rows = [(f, label) for f, label in found if f is not None]
        if rows:
            colour = palette.REFERENCES["none" if reference == "train" else reference]
            bars = whiskers([f for f, _ in rows])
            if reference == "real":
                bars |= {"thickness": 12, "width": 0, "color": "rgba(0,158,115,0.35)"}
            plot.add_scatter(
                x=[f.value for f, _ in rows], y=[label for _, label in rows], mode="markers", name=title, error_x=bars,
                marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 2}},
                hovertemplate="%{y}: %{x:.3g}<extra>" + title + "</extra>",
            )  # fmt: skip
    styled(plot, x="Value with 95% interval", y="", height=120 + 46 * max(1, len(measured)))
    plot.update_yaxes(autorange="reversed", type="category")
    near = [n for n in measured if _near(findings, n)]
    far = [MEASURES[n].title.lower() for n in measured if n not in near]
    takeaway = f"{len(near)} of {len(measured)} measures are as good as real against real"
    takeaway += f"; apart are {listed(far)}." if far else "."
    caveat = "Each row has its own unit: compare a dot with the band of its own row, never with another row."
    return Figure(plot, takeaway, caveat, f"A dot for each of {len(measured)} measures. {takeaway}")


def _near(findings: Sequence[Finding], name: str) -> bool:
    ours, real = pick(findings, name, "train"), pick(findings, name, "real")
    return ours is not None and real is not None and within_real(ours, real)


def lengths(table: pd.DataFrame) -> Figure:
    """Return the share of records up to each length, synthetic beside private text (table `lengths`)."""
    plot = go.Figure()
    medians: dict[str, float] = {}
    for kind, dash in (("train", "dot"), ("synthetic", "solid")):
        rows = table[table["kind"] == kind].sort_values("words")
        if not len(rows):
            continue
        share = rows["records"].cumsum() / rows["records"].sum()
        medians[kind] = float(rows["words"].to_numpy()[np.searchsorted(share.to_numpy(), 0.5)])
        title = "Synthetic" if kind == "synthetic" else "Private (training part)"
        plot.add_scatter(
            x=rows["words"], y=100 * share, mode="lines", name=title,
            line={"shape": "hv", "color": palette.KINDS[kind], "dash": dash, "width": 2.5},
            hovertemplate="%{y:.0f}% have at most %{x} words<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="Length of a record (words)", y="Records of at most this length (per cent)", height=320)
    if len(medians) == 2:
        takeaway = f"Half of the synthetic records have at most {medians['synthetic']:.0f} words; "
        takeaway += f"in the private text it is {medians['train']:.0f}."
    else:
        takeaway = "There is only one side to draw."
    return Figure(plot, takeaway, "Equal lengths say nothing about equal content.", f"Two rising curves. {takeaway}")
