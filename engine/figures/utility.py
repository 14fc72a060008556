"""Figures of usefulness: metrics beside real against real, lengths, the map of texts."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.losses import Loss, loss_of
from engine.examine.findings.uses import TICK, WARN, too_few, use_table
from engine.examine.measures import MEASURES, show
from engine.examine.usefulness.metrics import METRICS
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled

Beside = Literal["close", "apart", "unknown"]
BESIDE: tuple[Beside, ...] = ("close", "apart", "unknown")
LEFT, RIGHT = -0.05, 1.2  # ends of the axis of losses, as shares of the way
WORST = 3  # of the measures apart from real text, so many are named
NO_TEXT = ("next_word", "classifier_f1")  # their way ends at guessing, not at other text
DOTS = ("next_word", "classifier_f1", *(metric.name for metric in METRICS if metric.headline))


def beside_real(findings: Sequence[Finding], name: str) -> Beside | None:
    """Return where a measure of the synthetic text lies, None where it or real against real was not measured.

    "close": its interval reaches real against real's, or lies on its better side. "apart": it does not. "unknown": it
    reaches that of unrelated text as well, or unrelated text reaches real against real's, so that the measure tells the
    two apart as little as no measurement would.
    """
    ours, real = pick(findings, name, "train", "none"), pick(findings, name, "real", "baseline")
    if ours is None or real is None:
        return None
    if not _reaches(ours, real):
        return "apart"
    unrelated = pick(findings, name, "unrelated")
    if unrelated is not None and (_reaches(unrelated, ours) or _reaches(unrelated, real)):
        return "unknown"
    return "close"


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
    """Return a dot a measure: which part of the way from real to unrelated text was lost, with its interval.

    All measures stand on one axis, that of the verdict: left is better, and its limits are drawn. A measure by which
    unrelated text does no worse than real text has no such way, and is named instead. Where no use could be judged for
    want of texts, the limits are grey and the chart says so across.
    """
    few = too_few(use_table(findings))
    measured = [n for n in names if pick(findings, n, "train") and pick(findings, n, "real")]
    rows = [(name, loss) for name in measured if (loss := loss_of(findings, name)) is not None]
    plot = go.Figure()
    if rows:
        titles = [MEASURES[name].title for name, _ in rows]
        if _settled(rows):
            _limits(plot, judged=not few)
        if few:
            plot.add_annotation(x=0.5, xref="paper", y=1, yref="paper", yanchor="bottom", text=f"<b>{few}</b>",
                                showarrow=False, font_size=12)  # fmt: skip
        bands = [100 * _spread(findings, name, loss) for name, loss in rows]
        plot.add_scatter(
            x=[0.0] * len(rows), y=titles, mode="markers", name="Real against real",
            marker={"color": palette.REFERENCES["real"], "symbol": "line-ns-open", "size": 16, "line": {"width": 2}},
            error_x={"array": bands, "thickness": 12, "width": 0, "color": "rgba(0,158,115,0.35)"},
            hovertemplate=[f"{_raw(findings, name, 'real')}<extra>Real against real</extra>" for name, _ in rows],
        )  # fmt: skip
        plot.add_scatter(
            x=[None],
            y=titles[:1],
            mode="markers",
            name="Its 95% interval (bar)",
            hoverinfo="skip",
            marker={"color": "rgba(0,158,115,0.35)", "symbol": "square", "size": 14},
        )
        unsettled = {name for name, _ in rows if beside_real(findings, name) == "unknown"}
        drawn = [min(RIGHT, max(LEFT, loss.value)) for _, loss in rows]
        ends = list(zip(rows, drawn, strict=True))
        plot.add_scatter(
            x=[100 * value for value in drawn], y=titles, mode="markers", name="Synthetic",
            marker={"color": palette.REFERENCES["none"], "size": 11, "line": {"width": 2},
                    "symbol": ["circle-open" if name in unsettled else "circle" for name, _ in rows]},
            error_x={
                "array": [100 * max(0.0, min(RIGHT, loss.high) - at) for (_, loss), at in ends],
                "arrayminus": [100 * max(0.0, at - max(LEFT, loss.low)) for (_, loss), at in ends],
                "thickness": 1.5,
                "width": 4,
            },
            hovertemplate=[
                f"{100 * loss.value:.0f}% lost; {_raw(findings, name, 'train')}<br>{_explained(name)}"
                "<extra>Synthetic</extra>"
                for name, loss in rows
            ],
        )  # fmt: skip
        far = [name for name, _ in rows if pick(findings, name, "unrelated") and name not in NO_TEXT]
        if far:
            plot.add_scatter(
                x=[100.0] * len(far), y=[MEASURES[name].title for name in far], mode="markers", name="Unrelated text",
                marker={"color": palette.REFERENCES["unrelated"], "symbol": "x-thin-open", "size": 10,
                        "line": {"width": 2}},
                hovertemplate=[f"{_raw(findings, name, 'unrelated')}<extra>Unrelated text</extra>" for name in far],
            )  # fmt: skip
    axis = "Lost against real text (0% = as real, 100% = as unrelated text)<br>with 95% interval; left is better"
    styled(plot, x=axis, y="", height=140 + 42 * max(1, len(rows)))
    plot.update_layout(legend_y=1.02 + 24 / (100 + 42 * max(1, len(rows))))  # above the words of the limits
    plot.update_xaxes(range=[100 * LEFT, 100 * (RIGHT + 0.03)], ticksuffix="%")
    plot.update_yaxes(autorange="reversed", type="category")
    worst = [name for name, _ in sorted(rows, key=lambda row: -row[1].value)]
    takeaway = _takeaway({name: beside_real(findings, name) for name in measured}, worst)
    if rows and not _settled(rows):
        takeaway = f"Too uncertain to say: every interval reaches from one verdict into another. {takeaway}"
    if rows and few:
        takeaway = f"{few}. {takeaway}"
    caveat = (
        "Left: as good as real text. Right: no better than unrelated text, or for a classifier than guessing; where "
        "unrelated text gives no measure, the share of real text's value. What lies further out is drawn at the edge. "
        "A hollow dot is too uncertain to tell. The numbers themselves stand in tables; hold the pointer over a dot "
        "for what it means."
    )
    without = [MEASURES[name].title.lower() for name in measured if name not in dict(rows)]
    if without:
        caveat += f" Not drawn, since real text itself leaves no such way: {listed(without)}."
    return Figure(plot, takeaway, caveat, f"A dot for each of {len(rows)} measures. {takeaway}")


def _settled(rows: Sequence[tuple[str, Loss]]) -> bool:
    """Return whether the interval of any measure lies within one verdict, so that its limits say something."""
    return any(loss.high <= TICK or loss.low > WARN or TICK < loss.low <= loss.high <= WARN for _, loss in rows)


def _limits(plot: go.Figure, *, judged: bool) -> None:
    """Draw up to which loss a text suits a use, and up to which with care; grey and unnamed where none is judged."""
    for start, end, colour in ((LEFT, TICK, "0,158,115"), (TICK, WARN, "230,159,0")):
        colour = colour if judged else "138,151,156"
        plot.add_vrect(x0=100 * start, x1=100 * end, fillcolor=f"rgba({colour},0.08)", line_width=0, layer="below")
    if not judged:
        return
    for at, words in (
        ((LEFT + TICK) / 2, "suits"),
        ((TICK + WARN) / 2, "with care"),
        ((WARN + 1) / 2, "does not suit"),
    ):
        plot.add_annotation(x=100 * at, y=1, yref="paper", yanchor="bottom", text=words, showarrow=False, font_size=12)


def _spread(findings: Sequence[Finding], name: str, loss: Loss) -> float:
    """Return how far real text lies from real text, as a share of the same way as a loss."""
    ours, real = pick(findings, name, "train"), pick(findings, name, "real")
    if ours is None or real is None or real.low is None or real.high is None:
        return 0.0
    moved, half = abs(ours.value - real.value), max(real.high - real.value, real.value - real.low)
    return min(RIGHT, half * abs(loss.value) / moved) if moved else 0.0


def _explained(name: str) -> str:
    """Return what a measure means, broken into lines that a hover box holds."""
    return "<br>".join(textwrap.wrap(MEASURES[name].means, 60))


def _raw(findings: Sequence[Finding], name: str, reference: Reference) -> str:
    found = pick(findings, name, reference)
    return f"{MEASURES[name].title}: {'not measured' if found is None else show(name, found.value)}"


def _takeaway(places: Mapping[str, Beside | None], worst: Sequence[str]) -> str:
    """Return how many measures reach real text, and the worst of those apart; `worst`: measures, most lost first."""
    named = {place: [n for n, p in places.items() if p == place] for place in BESIDE}
    close = len(named["close"])
    if not places:
        return "No measure stands beside real text."
    if len(places) == 1:
        takeaway = f"The main measure {'cannot be told from' if close else 'does not come up to'} real text."
    else:
        told = f"{close} cannot be told from real text" if close else "none comes up to real text"
        takeaway = f"Of the {len(places)} main measures {told}."
    apart = sorted(named["apart"], key=lambda name: worst.index(name) if name in worst else len(worst))
    if apart:
        few = listed([MEASURES[name].title.lower() for name in apart[:WORST]])
        takeaway += f" {'Worst' if len(apart) > 1 else 'Apart'}: {few}."
    if named["unknown"]:
        few = listed([MEASURES[name].title.lower() for name in named["unknown"]])
        takeaway += f" Too uncertain to tell from unrelated text either: {few}."
    return takeaway


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
    return Figure(
        plot,
        takeaway,
        "Equal lengths say nothing about equal content. Words are those that measures count: “T38.5” is two of them.",
        f"Two rising curves. {takeaway}",
    )


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
