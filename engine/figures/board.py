"""The board: every examined run of a corpus as a point, privacy against use."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import plotly.graph_objects as go

from engine.examine.compare import EXCESS, REAL
from engine.examine.findings.findings import CLOSER, Finding
from engine.examine.findings.levels import COPIES
from engine.examine.findings.sizes import TEXTS, at_one_number, sizes_apart
from engine.examine.measures import MEASURES
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, styled, whiskers

AGAINST = ("none", "train", "holdout")  # the references under which a finding speaks about the run itself
HEIGHT = 460
TITLE = 44  # letters of a line of the upright title
WHOLE = "of all that was used"  # behind the name of what is also there at equal sizes
COARSE = 0.05  # an axis of shares that is shorter has ticks of a tenth of a per cent
# Where the words of a mark may stand, the usual place first, and the pixels they are held apart by: of a narrow screen,
# where marks are closest.
SIDES = ("top right", "bottom right", "top left", "bottom left", "top center", "bottom center", "middle right",
         "middle left")  # fmt: skip
WIDTH, TALL = 520.0, 330.0  # of the plane
LETTER, LINE, MARK = 6.5, 15.0, 9.0  # a letter's width, a line's height, half a mark
STRUCK = 400.0  # square pixels of other words that a bar through one's own is worth


@dataclass(frozen=True)
class BoardRun:
    """A run on the board.

    Args:
        number: what it is called on the board, from 1 on.
        title: of its method, for legend and hover. method: its id, for colour and shape.
        promise: the few words beside its mark, such as "ε 4".
        untouched: whether it read no private record (ε = 0): what stands on its privacy axis is chance.
        leaks: the few words on what was found of it in all, behind its promise; empty leaves them out.
    """

    number: int
    title: str
    method: str
    promise: str
    untouched: bool = False
    leaks: str = ""

    @property
    def label(self) -> str:
        """What stands beside its mark."""
        return " · ".join(part for part in (f"{self.number}", self.promise, self.leaks) if part)


def own(findings: Sequence[Finding], name: str) -> Finding | None:
    """Return the run's own value of a finding, or None where it was not measured."""
    return pick(findings, name, *AGAINST)


def called(findings: Mapping[str, Sequence[Finding]], name: str) -> str:
    """Return a finding's title, with what it is held against where that is the whole training part.

    That part is larger than the holdout and so is met more by its size alone. Where a share above chance is there too,
    taken of as many records of both, a reader could take one for the other.

    Args:
        findings: run id -> what was found.
    """
    known = any(own(rows, f"{name}{EXCESS}") is not None for rows in findings.values())
    whole = any((one := own(rows, name)) is not None and one.reference == "train" for rows in findings.values())
    return titled(name, "train" if whole else "none", above_chance=known)


def titled(name: str, reference: str, *, above_chance: bool) -> str:
    """Return a measure's title, with what it is held against where that is the whole training part.

    Args:
        above_chance: whether its difference to the holdout, at equal sizes, stands beside it.
    """
    title = MEASURES[name].title if name in MEASURES else name.replace("_", " ")
    return f"{title} {WHOLE}" if above_chance and reference == "train" else title


def goodness(finding: Finding, real: float | None) -> float:
    """Return a number that is larger where a finding is better or safer."""
    if finding.direction == CLOSER:
        return -abs(finding.value - (finding.value if real is None else real))
    return finding.value if finding.direction == "higher is better" else -finding.value


def _good(finding: Finding, findings: Sequence[Finding]) -> float:
    if finding.name.endswith("_excess"):  # less than chance is chance, and only what an interval rules out is safe
        return -max(0.0, finding.value if finding.high is None else finding.high)
    level = pick(findings, finding.name, *REAL)
    return goodness(finding, None if level is None else level.value)


def _from_chance(finding: Finding) -> Finding:
    """Return a finding as it is drawn: less than chance at chance, since it is no safer."""
    if not finding.name.endswith("_excess"):
        return finding
    low, high = (None if end is None else max(0.0, end) for end in (finding.low, finding.high))
    return replace(finding, value=max(0.0, finding.value), low=low, high=high)


def dominated(points: Mapping[str, tuple[float, float]], apart: Collection[frozenset[str]] = ()) -> set[str]:
    """Return the runs that another is better than on both axes; who ties on one is not beaten.

    Args:
        points: run -> how good it is on both axes. apart: pairs of runs that are not to be held against each other.
    """
    return {
        run
        for run, (a, b) in points.items()
        if any(
            c > a and d > b for other, (c, d) in points.items() if other != run and frozenset((run, other)) not in apart
        )
    }


def _span(finding: Finding, real: float | None) -> tuple[float, float]:
    """Return the worse and the better end of an interval as goodness; without an interval nothing is ruled out."""
    if finding.low is None or finding.high is None:
        return -math.inf, math.inf
    ends = [goodness(replace(finding, value=end), real) for end in (finding.low, finding.high)]
    level = finding.value if real is None else real
    if finding.direction == CLOSER and finding.low <= level <= finding.high:
        ends.append(0.0)
    return min(ends), max(ends)


def _clear(one: tuple[Finding, float | None], two: tuple[Finding, float | None]) -> bool:
    """Return whether two intervals share no more than an end: which is better is then no matter of chance."""
    (low, high), (floor, top) = _span(*one), _span(*two)
    return high <= floor or top <= low


def separation(findings: Mapping[str, Sequence[Finding]], privacy: str, utility: str) -> tuple[int, float]:
    """Return how well a measure of use tells the board's runs apart: larger is better.

    Args:
        findings: run id -> what was found. privacy, utility: names of findings, as for `board`.

    Returns:
        How many pairs of runs have intervals that are clear of each other, and the widest distance of two values as a
        multiple of the half widths of both, put together by square-and-add; (0, 0.0) where nothing can be told.
    """
    equal, _ = compared(findings, privacy, utility)
    rows = []
    for found in equal.values():
        one, real = own(found, utility), pick(found, utility, *REAL)
        if one is not None and one.low is not None and one.high is not None:
            rows.append((one, None if real is None else real.value))
    clear, widest = 0, 0.0
    for first, second in combinations(rows, 2):
        if sizes_apart(first[0], second[0]):
            continue
        clear += _clear(first, second)
        (low, high), (floor, top) = _span(*first), _span(*second)
        half = math.hypot((high - low) / 2, (top - floor) / 2)
        if half > 0:
            widest = max(widest, abs(goodness(*first) - goodness(*second)) / half)
    return clear, widest


def board(
    runs: Mapping[str, BoardRun], findings: Mapping[str, Sequence[Finding]], privacy: str, utility: str
) -> Figure:
    """Return privacy against utility, one mark a run with both intervals; runs clearly beaten on both are grey.

    Beaten is a run that another is better than on both counts with intervals clear of each other, measured ones, not
    as drawn; never one that read no private record.
    A measure of use that moves with the number of texts is drawn at the largest number that all runs have.

    Args:
        runs: run id -> how it is drawn. findings: run id -> what was found; a run without one of the two is left out.
        privacy, utility: names of findings. Points carry their run's id in `customdata`.
    """
    equal, cut = compared({run: findings[run] for run in runs if run in findings}, privacy, utility)
    both: dict[str, tuple[Finding, Finding]] = {}
    for run, rows in equal.items():
        p, u = own(rows, privacy), own(rows, utility)
        if p is not None and u is not None:
            both[run] = (_from_chance(p), u)
    real = {run: pick(equal[run], utility, *REAL) for run in both}
    points = {run: (_good(p, equal[run]), _good(u, equal[run])) for run, (p, u) in both.items()}
    apart = {frozenset(pair) for pair in combinations(both, 2) if sizes_apart(*(both[run][1] for run in pair))}
    unclear = {
        frozenset((one, two))
        for one, two in combinations(both, 2)
        if any(not _clear(_measured(equal[one], name), _measured(equal[two], name)) for name in (privacy, utility))
    }
    beaten = dominated(points, apart | unclear) - {run for run in both if runs[run].untouched}
    words = {run: runs[run].label for run in both}
    levels = [found.value for found in real.values() if found is not None]
    sides = placed(
        {run: (u.value, p.value) for run, (p, u) in both.items()}, words, _reach(both),
        None if not levels else sorted(levels)[len(levels) // 2],
    )  # fmt: skip
    plot = go.Figure()
    _levels(plot, privacy, levels, _real_copies(equal, privacy))
    for method in dict.fromkeys(runs[run].method for run in both):
        own_marks = {run: pair for run, pair in both.items() if runs[run].method == method}
        _marks(plot, own_marks, runs, beaten, {run: (words[run], sides[run]) for run in own_marks})
    across, upright = (
        _axis(called(findings, utility), utility, cut.get(utility)),
        _axis(called(findings, privacy), privacy),
    )
    styled(plot, x=across, y="<br>".join(textwrap.wrap(upright, TITLE)), height=HEIGHT)
    plot.update_layout(margin_r=60)  # words beside the last mark
    for axis, name in ((plot.update_xaxes, utility), (plot.update_yaxes, privacy)):
        if MEASURES[name].scale == "share":
            axis(tickformat=".0%" if _reach(both)[0 if name == utility else 1] >= COARSE else ".1%")
    plot.update_layout(clickmode="event+select", hovermode="closest")
    takeaway = _takeaway(runs, list(both), beaten)
    caveat = "A run is grey where another is better on both counts and their bars do not overlap."
    if privacy.endswith("_excess"):
        caveat += (
            " Safer is what has the lower upper end of its bar above chance, which is what cannot be ruled out. Below "
            "chance is no safer than chance and drawn there."
        )
    caveat += " Where bars overlap, the order could be chance."
    untouched = [f"run {runs[run].number}" for run in both if runs[run].untouched]
    if untouched:
        caveat += f" Every match of {listed(untouched)} is chance: by its proof no private record was read (ε = 0)."
    if apart:
        sizes = sorted(int(u.settings[TEXTS]) for _, u in both.values() if TEXTS in u.settings)
        caveat += (
            f" This measure of use moves with the number of texts, and was taken of {sizes[0]:,} to {sizes[-1]:,} "
        )
        caveat += "of them: runs of other numbers of texts neither beat each other nor share the line of real text."
    elif cut:
        caveat += (
            f" This measure of use moves with the number of texts: it is drawn at {cut[utility]:,} texts of each run, "
            "the largest number that all were measured at."
        )
    return Figure(plot, takeaway, caveat, f"A mark for each of {len(both)} runs. {takeaway}")


def _measured(findings: Sequence[Finding], name: str) -> tuple[Finding, float | None]:
    """Return a run's own value with what real text scores beside it, or None."""
    found, level = own(findings, name), pick(findings, name, *REAL)
    assert found is not None
    return found, None if level is None else level.value


def compared(
    findings: Mapping[str, Sequence[Finding]], privacy: str, utility: str
) -> tuple[dict[str, list[Finding]], dict[str, int]]:
    """Return what was found of the runs that have both findings, the one of use at one number of texts, and which.

    As `engine.examine.findings.sizes.at_one_number`.
    """
    both = {run: rows for run, rows in findings.items() if None not in (own(rows, privacy), own(rows, utility))}
    return at_one_number(both, [utility])


Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in pixels."""


def placed(
    marks: Mapping[str, tuple[float, float]],
    words: Mapping[str, str],
    reach: tuple[float, float],
    line: float | None = None,
) -> dict[str, str]:
    """Return on which side of its mark each run's words stand, so that they cover few other words and marks.

    Args:
        marks: run -> place on both axes. words: run -> what stands beside it. reach: how far each axis goes.
        line: where on the first axis an upright line is drawn, which words are kept clear of where they can be.
    """
    upright = None if line is None else line / reach[0] * WIDTH
    at = {run: (x / reach[0] * WIDTH, y / reach[1] * TALL) for run, (x, y) in marks.items()}
    taken: list[Box] = []
    sides: dict[str, str] = {}
    for run in sorted(at, key=lambda run: at[run]):
        others = [(x - MARK, y - MARK, x + MARK, y + MARK) for other, (x, y) in at.items() if other != run]
        boxes = {side: _box(at[run], len(words[run]) * LETTER, side) for side in SIDES}
        covered = {  # beside a mark its own bar runs through the words
            side: sum(_shared(box, one) for one in taken)
            + 0.5 * sum(_shared(box, one) for one in others)
            + (STRUCK if side.startswith("middle") else 0.0)
            + (STRUCK if upright is not None and box[0] <= upright <= box[2] else 0.0)
            for side, box in boxes.items()
        }
        sides[run] = min(SIDES, key=lambda side: (covered[side], SIDES.index(side)))
        taken.append(boxes[sides[run]])
    return sides


def _box(at: tuple[float, float], width: float, side: str) -> Box:
    upright, sideways = side.split()
    left = at[0] + {"right": 0.0 if upright != "middle" else MARK, "left": -width, "center": -width / 2}[sideways]
    left -= MARK if side == "middle left" else 0.0
    low = at[1] + {"top": MARK, "bottom": -MARK - LINE, "middle": -LINE / 2}[upright]
    return left, low, left + width, low + LINE


def _shared(one: Box, two: Box) -> float:
    """Return the area that two boxes share."""
    wide = min(one[2], two[2]) - max(one[0], two[0])
    tall = min(one[3], two[3]) - max(one[1], two[1])
    return wide * tall if wide > 0 and tall > 0 else 0.0


def _reach(both: Mapping[str, tuple[Finding, Finding]]) -> tuple[float, float]:
    """Return how far each axis goes, bars included."""
    reach = []
    for axis in (1, 0):
        ends = [end for pair in both.values() for end in (pair[axis].value, pair[axis].low, pair[axis].high)]
        known = [end for end in ends if end is not None]
        reach.append((max(known) - min(known) if known else 0.0) or 1.0)
    return reach[0], reach[1]


def _marks(
    plot: go.Figure,
    found: Mapping[str, tuple[Finding, Finding]],
    runs: Mapping[str, BoardRun],
    beaten: set[str],
    words: Mapping[str, tuple[str, str]],
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
            text=[words[run][0] for run in rows], textposition=[words[run][1] for run in rows], cliponaxis=False,
            error_x=whiskers(u) | {"color": colour, "width": 3}, error_y=whiskers(p) | {"color": colour, "width": 3},
            customdata=[[run] for run in rows], name=known[0].title + (" (beaten)" if colour == palette.GREY else ""),
            marker={"size": 14, "color": colour, "symbol": palette.symbol_of(known[0].method)},
            hovertemplate="Run %{text}<br>%{x:.3g}, %{y:.3g}<extra>" + known[0].title + "</extra>",
        )  # fmt: skip


def _real_copies(findings: Mapping[str, Sequence[Finding]], privacy: str) -> float | None:
    """Return how often real records repeat what was used, the middle of all runs; None for no share of copies."""
    found = [pick(rows, privacy, "baseline") for rows in findings.values()] if privacy in COPIES else []
    shares = sorted(one.value for one in found if one is not None)
    return shares[len(shares) // 2] if shares else None


def _levels(plot: go.Figure, privacy: str, real: Sequence[float], copies: float | None = None) -> None:
    """Add what the axes are read by: chance for an excess, what real records copy, and what real text scores."""
    if copies is not None:
        plot.add_hline(y=copies, line={"dash": "dot", "width": 1, "color": palette.GREY},
                       annotation_position="bottom left", annotation_text="real records")  # fmt: skip
    if privacy.endswith("_excess"):
        plot.add_hline(y=0, line={"dash": "dot", "width": 1, "color": palette.GREY}, annotation_position="bottom left",
                       annotation_text="chance")  # fmt: skip
    if real:
        middle = sorted(real)[len(real) // 2]
        line = {"dash": "dash", "width": 1, "color": palette.REFERENCES["real"]}
        plot.add_vline(x=middle, line=line)
        plot.add_scatter(x=[None], y=[None], mode="lines", line=line, name="real against real")  # named in the legend


def _takeaway(runs: Mapping[str, BoardRun], drawn: Sequence[str], beaten: set[str]) -> str:
    if not drawn:
        return "No run has both findings."
    if len(drawn) == 1:
        return "There is one run to show."
    if not beaten:
        return "No run clearly beats another on both counts."
    best = [f"run {runs[run].number} ({runs[run].promise})" for run in drawn if run not in beaten]
    return f"Not clearly beaten on both counts: {listed(best)}."


def _axis(title: str, name: str, texts: int | None = None) -> str:
    return f"{title}{'' if texts is None else f', at {texts:,} texts'} ({MEASURES[name].direction})"
