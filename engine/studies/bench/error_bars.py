"""Error bars of a study's figures, from a table's ends of intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NotRequired, TypedDict

from engine.figures import palette


class ErrorBars(TypedDict):
    """What plotly takes for bars that reach differently far up and down."""

    type: str
    symmetric: bool
    array: list[float]
    arrayminus: list[float]
    thickness: NotRequired[float]
    color: NotRequired[str]


def error_bars(
    values: Iterable[float], low: Iterable[float], high: Iterable[float], color: str = palette.GREY
) -> ErrorBars:
    """Return bars from `low` to `high` around each value; none where no interval is known."""
    ends = [(float(value), float(below), float(above)) for value, below, above in zip(values, low, high, strict=True)]
    return {
        "type": "data", "symmetric": False, "thickness": 1.5, "color": color,
        "array": [_gap(above, value) for value, _, above in ends],
        "arrayminus": [_gap(value, below) for value, below, _ in ends],
    }  # fmt: skip


def _gap(above: float, below: float) -> float:
    return above - below if above == above and below == below else 0.0
