"""Figures that studies over settings share: a measure along an axis, and the repeats of a few settings side by side.

Whiskers are 95% t-intervals over repeats, none below three. The green line is real text against real text at equal
numbers, or chance for attacks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from engine.examine.stats.over_repeats import LEAST
from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.studies.base import INTERNAL
from engine.studies.bench import compared
from engine.studies.bench.error_bars import error_bars

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "pentagon", "star", "x")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
REAL = "Real text"
GOOD: Mapping[str, str] = {
    "higher is better": "higher is better", "lower is better": "lower is better", "lower is safer": "lower is safer",
    compared.CLOSER: "nearer to the green line is better",
}  # fmt: skip


def measures_of(summary: pd.DataFrame) -> list[str]:
    """Return the measures that any setting has a value of, in order."""
    return [str(m) for m, part in summary.groupby("measure", sort=False) if part["value"].notna().any()]


def along(
    summary: pd.DataFrame,
    measure: str,
    at: str,
    lines: str,
    *,
    x: str,
    takeaway: str,
    caveat: str = "",
    level: tuple[str, pd.DataFrame] | None = None,
    category: Sequence[str] | None = None,
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Return one measure along an axis, a line a group, with intervals, and levels to compare with.

    Args:
        summary: rows of one study. measure: which one. at, lines: columns that give the place and the line.
        x: title of the axis. takeaway, caveat: the sentences above and below.
        level: a name and the rows of `summary` whose value is drawn as a line across, such as public text.
        category: the places in order where the axis holds words; None: numbers. colours: of lines by name.
    """
    rows = summary[(summary["measure"] == measure) & summary["value"].notna()]
    plot = go.Figure()
    for number, (name, own) in enumerate(rows.groupby(lines, sort=False)):
        colour = (colours or {}).get(str(name), palette.OKABE_ITO[number % len(palette.OKABE_ITO)])
        if category is None:
            own = own.sort_values(at)
        plot.add_scatter(
            x=own[at].astype(str) if category else own[at], y=own["value"], name=str(name), mode="lines+markers",
            line={"color": colour, "dash": DASHES[number % len(DASHES)], "width": 2},
            marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 10, "color": colour},
            error_y=error_bars(own["value"], own["low"], own["high"], colour),
            hovertemplate="%{x}: %{y:.4g}<extra>" + str(name) + "</extra>",
        )  # fmt: skip
    title, direction = str(rows["title"].iloc[0]), str(rows["direction"].iloc[0])
    levels = [(REAL, palette.REFERENCES["real"], rows["real"].dropna())]
    if level is not None:
        levels.append((level[0], palette.METHODS["public"], level[1].loc[level[1]["measure"] == measure, "value"]))
    for number, (name, colour, values) in enumerate(levels):
        if len(values):
            _line(plot, float(values.mean()), name, colour, number)
    styled(plot, x=x, y=f"{title}<br>({GOOD[direction]})", height=400)
    plot.update_layout(showlegend=True)  # also for a single line
    if category:
        plot.update_xaxes(type="category", categoryorder="array", categoryarray=list(category))
    said = f"{title}: {takeaway}"
    return Figure(plot, said, f"{caveat} {_whiskers(rows)} {INTERNAL}".strip(), f"Lines of {title.lower()}. {said}")


def _line(plot: go.Figure, value: float, name: str, colour: str, number: int) -> None:
    plot.add_hline(
        y=value, line={"color": colour, "dash": "dot", "width": 1.5}, annotation_text=name,
        annotation_position="top left" if number % 2 else "top right",
    )  # fmt: skip


def _whiskers(rows: pd.DataFrame) -> str:
    if int(rows["repeats"].max()) < LEAST:
        return f"There are no intervals: they need {LEAST} repeats."
    said = "Whiskers are 95% intervals over repeats"
    if rows["high"].notna().all():
        return f"{said}."
    return f"{said}; there are none where fewer than {LEAST} have a value, or all the same one."


def side_by_side(runs: pd.DataFrame, summary: pd.DataFrame, comparison: pd.DataFrame) -> Figure | None:
    """Return every repeat of a few settings, a strip a measure with its own axis; None where nothing has a value."""
    measures = measures_of(summary)
    if not measures:
        return None
    names = list(dict.fromkeys(summary["variant"]))
    titles = [str(summary.loc[summary["measure"] == m, "title"].iloc[0]) for m in measures]
    plot = make_subplots(rows=len(measures), cols=1, subplot_titles=titles, vertical_spacing=0.5 / max(2, len(titles)))
    for place, measure in enumerate(measures, start=1):
        for number, name in enumerate(names):
            own = runs[(runs["measure"] == measure) & (runs["variant"] == name)]
            mean = summary[(summary["measure"] == measure) & (summary["variant"] == name)]
            colour = palette.OKABE_ITO[number % len(palette.OKABE_ITO)]
            symbol = SYMBOLS[number % len(SYMBOLS)]
            plot.add_scatter(
                x=own["value"], y=[name] * len(own), mode="markers", showlegend=False, row=place, col=1,
                marker={"color": colour, "symbol": f"{symbol}-open", "size": 8},
                hovertemplate="%{x:.4g}<extra>" + name + "</extra>",
            )  # fmt: skip
            plot.add_scatter(
                x=mean["value"], y=[name] * len(mean), mode="markers", showlegend=False, row=place, col=1,
                marker={"color": colour, "symbol": symbol, "size": 12},
                error_x=error_bars(mean["value"], mean["low"], mean["high"], colour),
                hovertemplate="mean %{x:.4g}<extra>" + name + "</extra>",
            )  # fmt: skip
        real = summary.loc[summary["measure"] == measure, "real"].dropna()
        if len(real):
            plot.add_vline(x=float(real.mean()), row=place, col=1,
                           line={"color": palette.REFERENCES["real"], "dash": "dot"})  # fmt: skip
    styled(plot, x="", y="", height=60 + (60 + 26 * len(names)) * len(measures))
    plot.update_yaxes(type="category", categoryorder="array", categoryarray=names[::-1])
    takeaway = " ".join(compared.sentences(comparison)) or "There is one setting so far, so nothing to compare it with."
    caveat = (
        "Hollow marks are repeats, filled ones their mean; the green line is real text against real text, or chance. "
        f"{_whiskers(summary[summary['value'].notna()])} {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Repeats of {listed(names)} for {len(measures)} measures. {takeaway}")


def share_of(verdicts: pd.DataFrame, measure: str, other: str) -> str:
    """Return, for one measure, which settings are better, worse, not told apart or not measured against another."""
    rows = verdicts[(verdicts["measure"] == measure) & (verdicts["other"] == other)]
    if rows.empty:
        return f"there is nothing to set against {other} yet."
    parts = []
    for verdict, words in (
        (compared.BETTER, "better than {}: {}"), (compared.WORSE, "worse than {}: {}"),
        (compared.UNTOLD, "not to be told from {}: {}"), (compared.UNMEASURED, "not measured beside {}: {}"),
        (compared.FEW, "too few repeats to compare with {}: {}"),
        (compared.FIXED, "as far from {} in every repeat, so that no test fits: {}"),
        (compared.SIZED, "of another number of texts than {}: {}"),
    ):  # fmt: skip
        names = [str(one) for one in rows.loc[rows["verdict"] == verdict, "one"]]
        if names:
            parts.append(words.format(other, listed(names)))
    return f"{'; '.join(parts)}."


def finite(text: str) -> float:
    """Return an ε as a number; what is written ∞ is infinite."""
    return math.inf if text == "∞" else float(text)
