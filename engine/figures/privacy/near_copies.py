"""Figure of near-verbatim copies: how many synthetic records are at least so close to one reference record.

Privacy posture: drawn from ids and similarities; no text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import Finding
from engine.examine.findings.levels import stands_out
from engine.figures import palette
from engine.figures.base import Figure, pick, styled, whiskers
from engine.figures.privacy.privacy import of_side
from engine.figures.privacy.sides import EQUAL, NAMES

LEVELS = {0.5: "near_copies_05", 0.8: "near_copies_08"}
WORDS = {0.5: "come close to", 0.8: "nearly repeat"}
DASHES = {"train": "solid", "holdout": "dash"}
SYMBOLS = {"train": "circle", EQUAL: "x", "holdout": "square", "baseline": "diamond-open"}
NUDGE = 0.004  # marks of one level stand beside each other
MOST = 1000  # records whose pairs are kept


def near_copies(pairs: pd.DataFrame, findings: Sequence[Finding]) -> Figure | None:
    """Return the share of synthetic records over their similarity to the nearest record, with the measured shares.

    Args:
        pairs: the examination's table `near_copies`. findings: of the same examination; their intervals are drawn.
    """
    size = next((f.n for f in findings if f.name in LEVELS.values() and f.reference == "train"), 0)
    if not size:
        return None
    plot = go.Figure()
    for side, dash in DASHES.items():
        best = pairs[pairs["reference"] == side].groupby("record_id")["jaccard"].max()
        if len(best):
            _steps(plot, best.to_numpy(float), size, side, dash)
    for place, side in enumerate(SYMBOLS):
        found = [(level, of_side(findings, name, side)) for level, name in LEVELS.items()]
        known = [(level, f) for level, f in found if f is not None]
        if known:
            rows = [f for _, f in known]
            plot.add_scatter(
                x=[level + NUDGE * (place - 1) for level, _ in known], y=[100 * f.value for f in rows], mode="markers",
                name=f"{NAMES[side]}, with interval" if side in DASHES else NAMES[side], error_y=whiskers(rows, 100),
                marker={"color": palette.REFERENCES[side], "symbol": SYMBOLS[side], "size": 9}, cliponaxis=False,
                hovertemplate="%{y:.1f}% at %{customdata}<extra>" + NAMES[side] + "</extra>",
                customdata=[level for level, _ in known],
            )  # fmt: skip
    plot.update_traces(error_y_color=palette.GREY, selector={"mode": "markers"})
    styled(plot, x="Similarity to the nearest record: share of runs of five words in common (Jaccard)",
           y="Synthetic records at least so close (per cent)", height=380)  # fmt: skip
    plot.update_xaxes(range=[0.48, 1.01], dtick=0.1)
    plot.update_yaxes(rangemode="tozero")
    takeaway = _said(findings)
    caveat = (
        "Stock texts are close to each other everywhere: the holdout, the baseline and the training part of equal size "
        "show how much of it is chance. Pairs below 0.5 are not looked for."
    )
    return Figure(plot, takeaway, caveat, f"Falling steps of shares over similarity, with dots. {takeaway}")


def _steps(plot: go.Figure, best: np.ndarray, size: int, side: str, dash: str) -> None:
    """Draw the share of records at least so close, from 0.5 up; a list that was cut starts where it is whole."""
    values = np.sort(best)
    start = float(values[0]) if len(values) >= MOST else 0.5
    levels = np.unique(np.concatenate([[start], values]))
    share = (len(values) - np.searchsorted(values, levels, side="left")) / size
    plot.add_scatter(
        x=[*levels, 1.0], y=[*(100 * share), 100 * float((values >= 1.0).mean()) * len(values) / size], mode="lines",
        name=NAMES[side], line={"color": palette.REFERENCES[side], "dash": dash, "width": 2.5, "shape": "vh"},
        hovertemplate="%{y:.1f}% at least %{x:.2f}<extra>" + NAMES[side] + "</extra>",
    )  # fmt: skip


def _said(findings: Sequence[Finding]) -> str:
    """Return the shares at the level that stands out, else at the higher one, and what they say."""
    known = {level: name for level, name in LEVELS.items() if pick(findings, name, "train") is not None}
    if not known:
        return "Near copies could not be counted."
    says = {level: stands_out(findings, name) for level, name in known.items()}
    level = max([level for level, said in says.items() if said == "leak"] or known)
    train, holdout = (pick(findings, LEVELS[level], side) for side in ("train", "holdout"))
    text = f"{_percent(train.value if train else 0.0)} of the synthetic records {WORDS[level]} a training record"
    text += f" (similarity {level:g})"
    if holdout is None:
        return f"{text}; there is no holdout to say what chance gives."
    text += f", {_percent(holdout.value)} a record that nobody used"
    if says[level] == "leak":
        return f"{text}: more than chance, equal numbers of records compared."
    if set(says.values()) == {"chance"}:
        return f"{text}: no more than chance, equal numbers of records compared."
    return f"{text}: too few to tell from chance."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
