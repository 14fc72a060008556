"""The loss of a training, step by step. Internal: computed from private text outside any guarantee."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.iterations import INTERNAL

_WINDOWS = 12  # of a training that the smoothed line averages over


def over_steps(losses: Sequence[float | None], title: str = "Training loss") -> Figure:
    """Return the loss of each step and its running mean.

    Args:
        losses: nats a token, a step each in order; None where a step drew nobody.
        title: starts the takeaway.
    """
    known = [(step, float(loss)) for step, loss in enumerate(losses, start=1) if loss is not None]
    width = max(1, len(known) // _WINDOWS)
    means = [
        sum(loss for _, loss in known[max(0, i + 1 - width) : i + 1]) / min(width, i + 1) for i in range(len(known))
    ]
    steps = [step for step, _ in known]
    plot = go.Figure()
    plot.add_scatter(
        x=steps, y=[loss for _, loss in known], mode="lines", name="each step",
        line={"color": palette.BLUE, "width": 1}, opacity=0.35, hovertemplate="step %{x}: %{y:.3f}<extra></extra>",
    )  # fmt: skip
    plot.add_scatter(
        x=steps, y=means, mode="lines", name=f"mean of {width} steps", line={"color": palette.BLUE, "width": 2.5},
        hovertemplate="step %{x}: %{y:.3f}<extra></extra>",
    )  # fmt: skip
    styled(plot, x="Step", y="Loss, nats a token", height=240)
    if len(known) < 2:
        takeaway = f"{title}: too few steps to see a course."
    else:
        start, end = sum(loss for _, loss in known[:width]) / width, means[-1]
        better = "better" if end < start else "worse" if end > start else "unchanged"
        takeaway = f"{title}: {start:.3f} at first, {end:.3f} at step {steps[-1]}, {better} (lower is)."
    caveat = f"{INTERNAL} It tells how well the records drawn were predicted, not how good the texts are."
    return Figure(plot, takeaway, caveat, f"Two lines over {len(known)} steps. {takeaway}")
