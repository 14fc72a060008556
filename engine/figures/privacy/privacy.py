"""Figures of leakage: each measure against train, holdout and baseline; closeness to the nearest record."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import UNSHARED, Finding
from engine.examine.findings.levels import rests_on_all
from engine.examine.findings.levels import stands_out as level_above
from engine.examine.measures import MEASURES, REFERENCES, show
from engine.examine.stats.intervals import wilson
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled
from engine.figures.privacy.sides import EQUAL, Look, Row, add_dots, rows_of_sides

SHARES = (
    "strict_pipp",
    "strict_pipp_direct",
    "strict_alone",
    "pipp",
    "pipp_direct",
    "elp",
    "elp_direct",
    "elp_rare",
    "verbatim_8gram",
)
SIDES = ("train", EQUAL, "holdout", "baseline")


WITH_SHARED = ("pipp", "pipp_direct", "elp", "elp_direct")
MARK = "*"
STRONG, FAINT = (palette.VERMILION, "circle"), (palette.GREY, "circle-open")
JUDGED = (palette.VERMILION, "circle-open")  # the whole training part, where a measure is judged by it


def leak_shares(findings: Sequence[Finding], names: Sequence[str] = SHARES, *, whole: bool = True) -> Figure:
    """Return dots a measure: synthetic text against train and holdout, and real unused text as baseline.

    What the holdout may be compared with is the training part cut to its size; these two are drawn in colour. The
    whole part, which is met more often by its size alone, and real records stand beside them in grey.

    Args:
        whole: draw the whole training part and real records everywhere. A measure without a part of equal size has the
            whole part in any case, and copies that are judged by it beside real records have both.
    """
    measured = [name for name in names if pick(findings, name, "train") is not None]
    cut = {name for name in measured if of_side(findings, name, EQUAL) is not None}
    judged = {name for name in WITH_SHARED if pick(findings, f"{name}_excess", "holdout") is not None}
    apart = {name for name in measured if name in judged and _judged(findings, name, "holdout") is None}
    by_all = {name for name in measured if rests_on_all(findings, name)}
    plot = go.Figure()
    for side in SIDES:
        drawn = [n for n in measured if whole or _belongs(side, equal=n in cut, by_all=n in by_all)]
        sided = [(_title(name, apart), _drawn(findings, name, side)) for name in drawn]
        if any(found is not None for _, found in sided):
            rows: list[Row] = [(t, *((f.value, f.low, f.high) if f else (None, None, None))) for t, f in sided]
            add_dots(plot, side, rows, _look(side, whole=whole, cut=bool(cut)))
    height = 76 if whole else 52
    styled(plot, x="Share (per cent), with 95% interval", y="", height=120 + height * max(1, len(measured)))
    rows_of_sides(plot)
    plot.update_yaxes(categoryorder="array", categoryarray=[_title(name, apart) for name in measured])
    above = [MEASURES[n].title.lower() for n in measured if stands_out(findings, n)]
    if not measured:
        takeaway = "No leakage was measured."
    elif above:
        against = " all that was used" if by_all.issuperset(n for n in measured if stands_out(findings, n)) else ""
        takeaway = f"More than chance: {listed(above)} stand out against{against or ' the training part'}."
    else:
        takeaway = "Nothing of this stands out from chance: every difference to unused text lies within its interval."
        if apart:
            takeaway += f" That is without what many people share, which rows with {MARK} are drawn with."
    caveat = "Intervals of 95% miss one time in twenty. "
    if cut:
        caveat += (
            "The whole training part is larger than the holdout, so it is met more: compare the holdout with the part "
            "of equal size. "
        )
    if by_all:
        caveat += (
            "Copies of the whole training part are held against those in real records: few of them fall into a cut. "
        )
    if any(_judged(findings, name, side) is not None for name in measured for side in (EQUAL, "holdout")):
        caveat += "What many people share is left out of entities and identifiers, "
        caveat += "but for dots in grey, which count it. " if whole else "as it is when they are judged. "
    if apart:  # measured by an edition that did not keep what is judged
        caveat += f"Rows with {MARK} are drawn with what many people share, and judged without it. "
    if whole:
        caveat += (
            "Real records nobody used stand in the place of the synthetic text: what they hold of the training part is "
            "what any real text of this kind holds, common values and phrases."
        )
    caveat = caveat.strip()
    return Figure(plot, takeaway, caveat, f"Dots of {len(measured)} leakage measures, a row each. {takeaway}")


def clearest_first(findings: Sequence[Finding], names: Sequence[str] = SHARES) -> list[str]:
    """Return the measures of a run, those first that are furthest above chance beside the width of their interval.

    What stands out by another way (copies held against all that was used) comes before all; what has no difference to
    chance comes last.
    """

    def clear(name: str) -> tuple[bool, float]:
        excess = pick(findings, f"{name}_excess", "holdout")
        if excess is None or excess.low is None or not excess.value > excess.low:
            return stands_out(findings, name), -math.inf
        return stands_out(findings, name), excess.value / (excess.value - excess.low)

    return sorted(names, key=clear, reverse=True)


def _belongs(side: str, *, equal: bool, by_all: bool) -> bool:
    """Return whether a side of a measure is drawn where only what is compared is."""
    if side == "train":
        return by_all or not equal
    return by_all if side == "baseline" else side == "holdout" or equal


def _look(side: str, *, whole: bool, cut: bool) -> Look | None:
    """Return how a side is drawn, where it is otherwise than the side's own: what is compared in colour."""
    if side == "train":
        return None if not cut else FAINT if whole else JUDGED
    return STRONG if side == EQUAL else None


def _title(name: str, apart: Collection[str]) -> str:
    return f"{MEASURES[name].title}{f' {MARK}' if name in apart else ''}"


def _drawn(findings: Sequence[Finding], name: str, side: str) -> Finding | None:
    """Return what is drawn of a side: the share that is judged, where it is another than the one that was measured."""
    return _judged(findings, name, side) or of_side(findings, name, side)


def _judged(findings: Sequence[Finding], name: str, side: str) -> Finding | None:
    """Return the share of a side that the difference is taken of, which leaves out what many people share."""
    measured, excess = pick(findings, name, "holdout"), pick(findings, f"{name}_excess", "holdout")
    places = dict(zip((EQUAL, "holdout"), UNSHARED, strict=True))
    level = excess.settings.get(places[side]) if excess is not None and side in places else None
    if measured is None or not isinstance(level, list) or len(level) != 2:
        return None
    share, n = level
    if not isinstance(share, float | int) or not isinstance(n, int):
        return None
    low, high = wilson(share * n, n)
    return replace(measured, value=float(share), low=low, high=high, n=n)


def of_side(findings: Sequence[Finding], name: str, side: str) -> Finding | None:
    """Return the finding behind a dot; the training part of equal size is kept in the training row's settings."""
    if side != EQUAL:
        return pick(findings, name, side)
    train = pick(findings, name, "train")
    equal = None if train is None else train.settings.get("equal_size_value")
    if train is None or equal is None or equal != equal:
        return None
    holdout = pick(findings, name, "holdout")
    n = train.n if holdout is None else min(train.n, holdout.n)  # entities of the smaller part, or synthetic records
    low, high = wilson(equal * n, n)
    return replace(train, value=equal, low=low, high=high, n=n)


def stands_out(findings: Sequence[Finding], name: str) -> bool:
    """Return whether a leak measure lies above chance; see `engine.examine.findings.levels.stands_out`."""
    return level_above(findings, name) == "leak"


def closeness(quantiles: pd.DataFrame, findings: Sequence[Finding]) -> Figure:
    """Return the distribution of nearest similarities against train and holdout, and of real unused records."""
    plot = go.Figure()
    dashes = {"train": "solid", "holdout": "dash", "baseline": "dot"}
    for side, rows in quantiles.groupby("reference", sort=False):
        name = str(side)
        plot.add_scatter(
            x=rows["similarity"], y=100 * rows["share"], mode="lines", name=REFERENCES.get(name, name),
            line={"color": palette.REFERENCES.get(name, palette.GREY), "dash": dashes.get(name, "solid"), "width": 2.5},
            hovertemplate="%{y:.0f}% of records below %{x:.2f}<extra></extra>",
        )  # fmt: skip
    styled(plot, x="Cosine similarity to the nearest record", y="Records below (per cent)", height=340)
    excess = pick(findings, "nearest_similarity_excess", "holdout")
    if excess is None:
        takeaway = "There is no holdout to compare closeness with."
    elif excess.low is not None and excess.low > 0:
        takeaway = (
            f"Records lie closer to the training part than to unused records, by {show('', excess.value)} on average."
        )
    else:
        takeaway = "No closer to the training part than to records nobody used, as far as this run can tell."
    return Figure(plot, takeaway, MEASURES["nearest_similarity"].caveat, f"Three rising curves. {takeaway}")
