"""Figures of usefulness: metrics beside real against real, lengths, the map of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import Finding
from engine.examine.measures import MEASURES
from engine.examine.usefulness.metrics import METRICS
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled, whiskers

Beside = Literal["close", "apart", "unknown"]
BESIDE: tuple[Beside, ...] = ("close", "apart", "unknown")
DOTS = ("next_word", "classifier_f1", *(metric.name for metric in METRICS if metric.headline))


def beside_real(findings: Sequence[Finding], name: str) -> Beside | None:
    """Return where a measure of the synthetic text lies, None where it or real against real was not measured.

    "close": its interval reaches real against real's, or lies on its better side. "apart": it does not. "unknown": it
    reaches that of unrelated text as well, so that it tells the two apart as little as no measurement would.
    """
    ours, real = pick(findings, name, "train", "none"), pick(findings, name, "real", "baseline")
    if ours is None or real is None:
        return None
    if not _reaches(ours, real):
        return "apart"
    unrelated = pick(findings, name, "unrelated")
    return "unknown" if unrelated is not None and _reaches(unrelated, ours) else "close"


def _reaches(one: Finding, other: Finding) -> bool:
    """Return whether one interval touches the other, or, where a measure has a better side, lies on it."""
    (low, high), (floor, top) = _ends(one), _ends(other)
    if one.direction == "lower is better":
        return low <= top
    if one.direction == "higher is better":
        return high >= floor
    return low <= top and high >= floor


def _ends(finding: Finding) -> tuple[float, float]:
    value = finding.value
    return (finding.low if finding.low is not None else value), (finding.high if finding.high is not None else value)


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
    takeaway = _takeaway({name: beside_real(findings, name) for name in measured})
    caveat = "Each row has its own unit: compare a dot with the band of its own row, never with another row."
    return Figure(plot, takeaway, caveat, f"A dot for each of {len(measured)} measures. {takeaway}")


def _takeaway(places: Mapping[str, Beside | None]) -> str:
    named = {place: [MEASURES[n].title.lower() for n, p in places.items() if p == place] for place in BESIDE}
    takeaway = f"{len(named['close'])} of {len(places)} measures cannot be told from real against real"
    if named["apart"]:
        takeaway += f"; apart are {listed(named['apart'])}"
    if named["unknown"]:
        takeaway += f"; too uncertain to tell from unrelated text either: {listed(named['unknown'])}"
    return takeaway + "."


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


SPREADS = {"synthetic": ("Synthetic", "solid"), "private": ("Private, one half", "dot"),
           "other private": ("Private, the other half", "dash")}  # fmt: skip


def likeness(table: pd.DataFrame) -> Figure:
    """Return how alike two texts of one side are, synthetic beside both halves of private text (table `likeness`)."""
    plot = go.Figure()
    middles: dict[str, float] = {}
    for kind, (title, dash) in SPREADS.items():
        rows = table[table["kind"] == kind].sort_values("cosine")
        if not len(rows):
            continue
        middles[kind] = float(rows["cosine"].to_numpy()[np.searchsorted(rows["share"].cumsum().to_numpy(), 0.5)])
        plot.add_scatter(
            x=rows["cosine"], y=100 * rows["share"], mode="lines", name=title,
            line={"color": palette.KINDS["synthetic" if kind == "synthetic" else "private"], "dash": dash,
                  "width": 2.5},
            hovertemplate="%{y:.1f}% of pairs at about %{x:.2f}<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="Likeness of two texts (cosine of embeddings)", y="Pairs of texts (per cent)", height=320)
    takeaway = "There are too few texts to draw."
    if len(middles) == len(SPREADS):
        first, second = sorted((middles["private"], middles["other private"]))
        real = f"{first:.2f}" if first == second else f"{first:.2f} and {second:.2f}"
        takeaway = f"Half of all pairs of synthetic texts are alike by at least {middles['synthetic']:.2f}; "
        takeaway += f"in the two halves of the private text it is {real}."
    caveat = "The two private curves show how far equal sources lie apart. What texts are about is not seen here."
    return Figure(plot, takeaway, caveat, f"Three curves. {takeaway}")
