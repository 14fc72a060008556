"""What every figure function returns, and the look they share.

Privacy posture: figures are made from findings and tables; they hold ids and numbers, never record text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from engine.examine.findings.findings import Finding


@dataclass(frozen=True)
class Figure:
    """A plot with its words.

    Args:
        plot: to be drawn with the host's own theme; it sets no text colour and no background.
        takeaway: the sentence above, computed from what is drawn.
        caveat: the sentence below: what the plot does not show.
        alt: what it shows, for readers who cannot see it.
    """

    plot: go.Figure
    takeaway: str
    caveat: str
    alt: str


def styled(plot: go.Figure, *, x: str, y: str, height: int) -> go.Figure:
    """Return `plot` with axis titles, transparent ground and a legend above; works on light and dark."""
    plot.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    plot.update_xaxes(title=x, automargin=True)
    plot.update_yaxes(title=y, automargin=True)
    return plot


def pick(findings: Sequence[Finding], name: str, *references: str) -> Finding | None:
    """Return the finding with this name and the first reference that has a finite value."""
    for reference in references:
        for finding in findings:
            if finding.name == name and finding.reference == reference and finding.value == finding.value:
                return finding
    return None


def whiskers(findings: Sequence[Finding], scale: float = 1.0) -> dict[str, object]:
    """Return plotly error bars from the findings' intervals; none where no interval is defined."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [scale * (f.high - f.value) if f.high is not None else 0 for f in findings],
        "arrayminus": [scale * (f.value - f.low) if f.low is not None else 0 for f in findings],
        "thickness": 1.5,
    }


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""
