"""Figures of formal guarantees and budgets: the ε–δ curve of a run, and a population's ledger over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from engine.dp.upward import upward
from engine.figures import palette
from engine.figures.base import Figure, styled

SHORTEST = pd.Timedelta(minutes=10)  # what the time axis of a ledger shows at least
FLOOR = 1e-15  # below it a probability is drawn as nothing
# kind of a ledger line -> its row in words, symbol and colour; several kinds share a row
LINES: dict[str, tuple[str, str, str]] = {
    "limit": ("Limit set", "line-ns-open", palette.GREY),
    "reserve": ("Reserved", "circle-open", palette.SKY),
    "spend": ("Spent", "circle", palette.BLUE),
    "settle": ("Settled", "square", palette.BLUE),
    "give_back": ("Given back", "triangle-left", palette.GREEN),
    "touch": ("Read without a guarantee", "x-thin-open", palette.ORANGE),
    "release": ("Released", "star", palette.VERMILION),
    "merge": ("Merged", "diamond-open", palette.GREY),
    "unknown": ("Unknown since", "hexagram-open", palette.VERMILION),
    "declared": ("Entered as spent", "hexagram", palette.BLUE),
    "apart": ("Kept apart", "diamond-tall-open", palette.GREY),
}
_SAME_ROW = {
    "Settled": "Spent", "Merged": "Limit set", "Given back": "Reserved", "Entered as spent": "Spent",
    "Kept apart": "Limit set",
}  # fmt: skip


def probability(value: float) -> str:
    """Return a small probability as people read it."""
    if not value >= 0:
        return "an unknown chance"
    if value < FLOOR:
        return "practically zero"
    return f"1 in {round(1 / value):,}" if value < 0.01 else f"{100 * value:.0f}%"


def chance_at_most(value: float) -> str:
    """Return a bound on a small probability as people read it, rounded up."""
    if not value >= 0 or value < FLOOR:
        return probability(value)
    return f"1 in {math.floor((1 + 1e-12) / value):,}" if value < 0.01 else f"{math.ceil(100 * value - 1e-9)}%"


def guarantee_curve(
    epsilons: Sequence[float], standard: Sequence[float], strict: Sequence[float], epsilon: float, delta: float
) -> Figure:
    """Return both δs of a run at each ε, with the claim marked.

    Args:
        epsilons: float (n,), >= 0, rising. standard: hockey-stick δ at each, in [0, 1].
        strict: Pr[privacy loss > ε] of the noisy statistics themselves, in [0, 1]; text made from them may pass ε
            more often (`engine.dp.accounting.failure`). epsilon, delta: the claim.
    """
    plot = go.Figure()
    for name, values, colour, dash in (
        ("Standard δ", standard, palette.BLUE, "solid"),
        ("Strict δ: the loss of the noisy statistics themselves passes ε", strict, palette.ORANGE, "dash"),
    ):
        plot.add_scatter(
            x=list(epsilons), y=[value if value > FLOOR else None for value in values], mode="lines", name=name,
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate="ε = %{x:.2f}: δ = %{y:.2e}<extra></extra>",
        )  # fmt: skip
    if delta > 0:
        plot.add_scatter(
            x=[epsilon], y=[delta], mode="markers", name="This claim",
            marker={"symbol": "diamond", "size": 12, "color": palette.VERMILION},
            hovertemplate=f"ε = {epsilon:g}, δ = {delta:.2e}<extra></extra>",
        )  # fmt: skip
    styled(plot, x="ε: how much a single unit may change what leaves", y="δ: probability", height=300)
    plot.update_yaxes(type="log", exponentformat="power", dtick=2, range=_decades([*standard, *strict], delta))
    plot.update_xaxes(rangemode="tozero")
    shown, allowed = upward(epsilon, 6), upward(delta, 2)
    takeaway = f"One run, many true statements: at ε = {shown} δ is {allowed}; a larger ε goes with a smaller δ."
    half = _at(epsilons, standard, epsilon / 2)
    if half is not None and half > 0:
        takeaway = f"The claim ε = {shown} at δ = {allowed} is one point: the same run also has ε = "
        takeaway += f"{upward(epsilon / 2, 6)} at δ = {upward(half, 2)}."
    return Figure(
        plot, takeaway, "A bound on the worst case, whatever an attacker knows; not what attacks reach in practice.",
        f"Two falling curves of δ over ε on a logarithmic axis. {takeaway}",
    )  # fmt: skip


def _decades(values: Sequence[float], delta: float) -> list[float]:
    """Return the log10 range from below the claim's δ up to 1."""
    lowest = min((value for value in values if value > FLOOR), default=1e-6)
    bottom = math.floor(math.log10(max(lowest, (delta or 1e-6) * 1e-4)))
    return [float(min(bottom, -2)), 0.1]


def _at(xs: Sequence[float], ys: Sequence[float], x: float) -> float | None:
    """Return the value at the last grid point not above x: for falling curves an upper bound."""
    below = [y for grid, y in zip(xs, ys, strict=True) if grid <= x]
    return below[-1] if below else None


def ledger_timeline(lines: pd.DataFrame, limit_epsilon: float) -> Figure:
    """Return the share of the limit in use over time above marks of every line.

    Args:
        lines: seq, at (ISO 8601), kind, share_after (0..1 or more, NaN where a line does not change it).
        limit_epsilon: the limit that the shares are of, for the takeaway.
    """
    plot = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.5, 0.5], vertical_spacing=0.08)
    used = lines.sort_values("seq").assign(share=lambda f: pd.to_numeric(f["share_after"]).ffill().fillna(0.0))
    plot.add_trace(
        go.Scatter(
            x=used["at"], y=100 * used["share"], mode="lines", name="Share of the limit", fill="tozeroy",
            line={"shape": "hv", "color": palette.BLUE, "width": 2}, fillcolor="rgba(0,114,178,0.2)",
            hovertemplate="%{y:.0f}% of the limit<extra></extra>",
        ), row=1, col=1,
    )  # fmt: skip
    for kind, (row, symbol, colour) in LINES.items():
        part = used[used["kind"] == kind]
        if len(part):
            plot.add_trace(
                go.Scatter(
                    x=part["at"], y=[_SAME_ROW.get(row, row)] * len(part), mode="markers", name=row,
                    customdata=part[["seq"]].to_numpy(),
                    hovertemplate="line %{customdata[0]}, " + row + "<extra></extra>",
                    marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
                ), row=2, col=1,
            )  # fmt: skip
    styled(plot, x="", y="", height=360)
    plot.update_layout(showlegend=False)
    top = 100 * max(1.0, float(used["share"].max()) if len(used) else 1.0)
    plot.update_yaxes(title="Limit in use (per cent)", range=[0, 1.05 * top], row=1, col=1)
    kinds = ["Released", "Read without a guarantee", "Spent", "Reserved", "Limit set"]
    plot.update_yaxes(type="category", categoryorder="array", row=2, col=1, categoryarray=kinds)
    plot.update_xaxes(range=_span(used["at"]), type="date")
    plot.update_xaxes(title="Time (UTC)", row=2, col=1)
    counts = used["kind"].value_counts()
    share = float(used["share"].iloc[-1]) if len(used) else 0.0
    takeaway = (
        f"{_count(int(counts.get('spend', 0)), 'noisy answer')} drawn, "
        f"{_count(int(counts.get('touch', 0)), 'use')} without a guarantee, "
        f"{_count(int(counts.get('release', 0)), 'release')}."
    )
    caveat = (
        "The share counts what runs have reserved or drawn; what uses without a guarantee show stays inside. "
        "Shares follow the limit of their time."
    )
    alt = (
        f"A rising line of use, at its end {100 * share:.0f}% of the limit of ε = {limit_epsilon:g}, above marks for "
        f"each ledger line. {takeaway}"
    )
    return Figure(plot, takeaway, caveat, alt)


def _span(at: pd.Series) -> list[str] | None:
    """Return the ends of the time axis: a moment at least wide enough that its ticks are minutes."""
    if at.empty:
        return None
    moments = pd.to_datetime(at, format="ISO8601", utc=True)
    first, last = moments.min(), moments.max()
    beside = max((last - first) * 0.04, (SHORTEST - (last - first)) / 2)
    return [f"{end:%Y-%m-%d %H:%M:%S}" for end in (first - beside, last + beside)]


def _count(value: int, noun: str, plural: str | None = None) -> str:
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"
