"""Give figures that stand beside each other the same axes, so that lengths and heights compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real

import plotly.graph_objects as go

MARGIN = 0.05
LINE = 21  # height of a line of the legend
SHORT = 24  # characters of a name that leaves room for another in its line


def equal_axes(plots: Sequence[go.Figure]) -> None:
    """Set one range for both axes of all plots; axes of names keep their order, all names on each plot.

    An axis whose range is fixed on every plot gets the hull of these ranges.
    """
    if len(plots) < 2:
        return
    for letter in ("x", "y"):
        axes = [getattr(plot.layout, f"{letter}axis") for plot in plots]
        if any(_names(plot, letter) for plot in plots):
            order = list(dict.fromkeys(name for plot in plots for name in _values(plot, letter)))
            for axis in axes:
                axis.update(categoryorder="array", categoryarray=order)
            continue
        for linear in [axis for axis in axes if axis.type == "linear"][:1]:  # a leaking run beside one that is not
            for axis in axes:
                axis.update(type="linear", range=linear.range, tickvals=linear.tickvals, ticktext=linear.ticktext)
        logarithmic = any(axis.type == "log" for axis in axes)
        fixed = [axis.range for axis in axes]
        if all(ends is not None for ends in fixed):
            low, high = min(ends[0] for ends in fixed), max(ends[1] for ends in fixed)
        else:
            found = _span(plots, letter, logarithmic)
            if found is None:
                continue
            low, high = found
            if any(axis.rangemode == "tozero" for axis in axes):
                low = min(0.0, low) if low < 0 else 0.0
        for axis in axes:
            axis.update(range=[low, high], autorange=None)


def equal_heights(plots: Iterable[go.Figure]) -> None:
    """Set the largest height on all plots; on plots of numbers, give all legends the same room above."""
    known = [plot for plot in plots if plot.layout.height]
    if not known:
        return
    height = max(plot.layout.height for plot in known)
    lines = max(_lines(plot) for plot in known)
    for plot in known:
        plot.update_layout(height=height)
    if len(known) > 1 and not any(_names(plot, "y") for plot in known):
        room = {"l": 84, "r": 16, "t": 16 + LINE * lines, "b": 72, "autoexpand": False}
        for plot in known:
            plot.update_layout(height=height + LINE * (lines - 2), margin=room)


def _lines(plot: go.Figure) -> int:
    """Return how many lines the legend takes in half a page: a long name one, a short one half of one."""
    names = [str(trace.name) for trace in plot.data if trace.showlegend is not False and trace.name]
    return math.ceil(sum(1.0 if len(name) > SHORT or (len(names) > 2 and any(len(n) > SHORT for n in names)) else 0.6
                         for name in names))  # fmt: skip


def _values(plot: go.Figure, letter: str) -> list[object]:
    return [value for trace in plot.data if _has(trace, letter) for value in list(getattr(trace, letter))]


def _has(trace: object, letter: str) -> bool:
    return getattr(trace, letter, None) is not None


def _names(plot: go.Figure, letter: str) -> bool:
    return any(isinstance(value, str) for value in _values(plot, letter))


def _span(plots: Sequence[go.Figure], letter: str, logarithmic: bool) -> tuple[float, float] | None:
    ends: list[float] = []
    for plot in plots:
        for trace in plot.data:
            if not _has(trace, letter):
                continue
            centre = [float(value) for value in getattr(trace, letter) if isinstance(value, Real)]
            bar = getattr(trace, f"error_{letter}", None)
            up = list(bar.array) if bar is not None and bar.array is not None else [0.0] * len(centre)
            down = list(bar.arrayminus) if bar is not None and bar.arrayminus is not None else up
            if len(up) == len(centre):
                ends += [c + float(u) for c, u in zip(centre, up, strict=True)]
                ends += [c - float(d) for c, d in zip(centre, down, strict=True)]
            else:
                ends += centre
    if logarithmic:
        ends = [math.log10(value) for value in ends if value > 0]
    ends = [value for value in ends if math.isfinite(value)]
    if not ends:
        return None
    pad = MARGIN * (max(ends) - min(ends) or 1.0)
    return min(ends) - pad, max(ends) + pad
