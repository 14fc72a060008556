"""The utility verdict: a table of uses with tick, warning or cross, and the chart beside real text.

A use is judged by its findings: near real against real, near unrelated text, or between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from engine.analysis.findings import Finding
from engine.analysis.measures import MEASURES, show

Level = Literal["good", "care", "bad", "unknown"]
LEVELS: dict[str, tuple[str, str, str]] = {
    "good": (":material/check_circle:", "suits", "green"),
    "care": (":material/warning:", "with care", "orange"),
    "bad": (":material/cancel:", "does not suit", "red"),
    "unknown": (":material/help:", "not known", "gray"),
}
ORDER = ("good", "care", "bad")


@dataclass(frozen=True)
class Use:
    """A use and the findings that speak for it; the worst of them decides."""

    title: str
    names: tuple[str, ...]


USES = (
    Use("Trying out software and forms", ("length_distance", "js_1gram")),
    Use("Counting words and searching", ("js_1gram", "js_2gram")),
    Use("Training a classifier or tagger", ("mauve", "embedding_similarity", "js_2gram")),
    Use("Finding topics and groups", ("mauve", "embedding_similarity")),
    Use("Reading for style and variety", ("self_bleu", "distinct_2")),
)
WITHOUT_OTHER_END = ("length_distance",)  # unrelated text may be just as long; the whole mean length is the other end
NEAR, FAR = 0.15, 0.5  # share of the way from real against real to the other end


def pick(findings: Sequence[Finding], name: str, reference: str) -> Finding | None:
    """Return the finding of this name and reference if it is a number, else None."""
    return next((f for f in findings if f.name == name and f.reference == reference and f.value == f.value), None)


def distance(findings: Sequence[Finding], name: str) -> float | None:
    """Return how far the text is from real against real, 0 there and 1 at the other end; None if unknown."""
    ours, real = pick(findings, name, "train"), pick(findings, name, "real")
    if ours is None or real is None:
        return None
    other = None if name in WITHOUT_OTHER_END else pick(findings, name, "unrelated")
    scale = MEASURES[name].scale if name in MEASURES else "number"
    end = other.value if other is not None else (0.0 if ours.direction == "higher is better" else 1.0)
    span = abs(end - real.value) if scale != "number" else abs(end)
    gap = ours.value - real.value
    if ours.direction == "lower is better":
        gap = max(0.0, gap)
    elif ours.direction == "higher is better":
        gap = max(0.0, -gap)
    return abs(gap) / span if span > 0 else None


def level_of(way: float | None) -> Level:
    """Return the level for a share of the way."""
    if way is None:
        return "unknown"
    return "good" if way <= NEAR else "care" if way <= FAR else "bad"


def judge(findings: Sequence[Finding], use: Use) -> tuple[Level, str]:
    """Return a use's level and the finding that decided it."""
    ways = {name: way for name in use.names if (way := distance(findings, name)) is not None}
    if not ways:
        return "unknown", "None of its findings could be estimated."
    name = max(ways, key=lambda n: ways[n])
    ours, real = pick(findings, name, "train"), pick(findings, name, "real")
    assert ours is not None
    assert real is not None
    missing = len(use.names) - len(ways)
    note = f" ({missing} of its findings not known)" if missing else ""
    title = MEASURES[name].title.lower() if name in MEASURES else name
    return level_of(ways[name]), f"{title}: {show(name, ours.value)}, real against real {show(name, real.value)}{note}."


def draw(findings: Sequence[Finding]) -> None:
    """Draw one line a use."""
    with st.container(border=True, key="utility.verdict", gap="small"):
        for use in USES:
            level, why = judge(findings, use)
            icon, word, colour = LEVELS[level]
            st.markdown(f":{colour}[{icon} **{word}**] · **{use.title}** – :gray[{why}]")
    st.caption(
        "A use suits where its weakest finding lies near real against real. "
        "This is a first look: test your own task before you rely on it."
    )


def figure(findings: Sequence[Finding], run: Any) -> None:
    """Draw each finding between real against real and the other end."""
    import plotly.graph_objects as go

    ways = {f.name: way for f in findings if f.reference == "train" and (way := distance(findings, f.name)) is not None}
    if not ways:
        return
    worst = max(ways, key=lambda name: ways[name])
    takeaway = f"Furthest from real text: {MEASURES[worst].title.lower()}."
    st.markdown(takeaway)
    order = sorted(ways, key=lambda name: ways[name])
    chart = go.Figure(
        go.Bar(
            x=[min(1.0, ways[name]) for name in order],
            y=[MEASURES[name].title for name in order],
            orientation="h",
            hovertemplate="%{y}: %{x:.0%}<extra></extra>",
        )
    )
    chart.update_xaxes(
        title="distance from real against real (0) towards unrelated text (1)", range=[0, 1], tickformat=".0%"
    )
    chart.update_yaxes(autorange="reversed")
    chart.update_layout(height=80 + 32 * len(order), margin={"l": 10, "r": 10, "t": 10, "b": 10})
    st.plotly_chart(chart, key=f"utility.figure.{run.id}", alt=takeaway, config={"displayModeBar": False})
    st.caption("Shorter is better. The bars put different measures on one axis; their own numbers are in the table.")
