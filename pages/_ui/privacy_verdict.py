"""The privacy verdict in three sentences, and the chart of what was measured against what.

A sentence's level rests on intervals: `leak` where the training part stands out from the holdout,
`chance` where it cannot by more than five percentage points, else `unsure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from engine.analysis.findings import Finding
from engine.analysis.measures import MEASURES, REFERENCES, show

Level = Literal["leak", "unsure", "chance", "unknown"]
NEGLIGIBLE = 0.05  # share of records; below this an excess is called no more than chance
# level -> icon, word, colour; the word carries the meaning
LEVELS: dict[str, tuple[str, str, str]] = {
    "leak": (":material/report:", "more than chance", "red"),
    "unsure": (":material/help:", "cannot tell", "orange"),
    "chance": (":material/check_circle:", "no more than chance", "green"),
    "unknown": (":material/pending:", "not measured", "gray"),
}
CHARTED = ("pipp", "pipp_direct", "elp", "elp_rare", "verbatim_8gram")
SIDES = {"train": ("circle", "#D55E00"), "holdout": ("diamond", "#0072B2"), "baseline": ("square", "#8A979C")}


def pick(findings: Sequence[Finding], name: str, reference: str) -> Finding | None:
    """Return the finding of this name and reference, or None."""
    return next((f for f in findings if f.name == name and f.reference == reference), None)


def level_of(excess: Finding | None) -> Level:
    """Return what an excess over the holdout says."""
    if excess is None or excess.value != excess.value or excess.low is None or excess.high is None:
        return "unknown"
    if excess.low > 0:
        return "leak"
    return "chance" if excess.high <= NEGLIGIBLE else "unsure"


def apart(train: Finding | None, holdout: Finding | None) -> Level:
    """Return what two shares with intervals say where no excess was computed."""
    if train is None or holdout is None or train.value != train.value or holdout.value != holdout.value:
        return "unknown"
    if train.low is None or train.high is None or holdout.low is None or holdout.high is None:
        return "unknown"
    if train.low > holdout.high:
        return "leak"
    return "chance" if train.high - holdout.low <= NEGLIGIBLE else "unsure"


def sentences(findings: Sequence[Finding], guarantee: str) -> list[tuple[Level, str]]:
    """Return three sentences with their level: identifiers, copies, what is proven."""
    result: list[tuple[Level, str]] = []
    direct, other = pick(findings, "pipp_direct", "train"), pick(findings, "pipp_direct", "holdout")
    level = apart(direct, other)
    if level == "unknown":
        direct, other = pick(findings, "pipp", "train"), pick(findings, "pipp", "holdout")
        level = level_of(pick(findings, "pipp_excess", "holdout"))
    what = "a direct identifier" if direct is not None and direct.name == "pipp_direct" else "an identifier"
    result.append((level, _shares(direct, other, f"of the records hold {what} of the training part")))
    copies = pick(findings, "verbatim_8gram", "train"), pick(findings, "verbatim_8gram", "holdout")
    excess = level_of(pick(findings, "verbatim_8gram_excess", "holdout"))
    result.append(
        (excess, _shares(*copies, "of the records repeat eight words or more in a row from the training part"))
    )
    result.append(("unknown" if guarantee != "dp" else "chance", _proven(guarantee)))
    return result


def _shares(train: Finding | None, holdout: Finding | None, what: str) -> str:
    if train is None or train.value != train.value:
        why = str(train.settings.get("why", "")) if train is not None else ""
        return f"It is not known how many {what}{': ' + why if why else ''}."
    beside = f"; of the holdout, which nobody used, {show(holdout.name, holdout.value)}" if holdout is not None else ""
    return f"{show(train.name, train.value)} {what}{beside}."


def _proven(guarantee: str) -> str:
    if guarantee == "dp":
        return "A formal guarantee covers the run's complete output; the numbers here are a check, not the proof."
    return (
        "Nothing is proven about this method: the numbers show what these attacks found, not what a better one could."
    )


def draw(findings: Sequence[Finding], run: Any) -> None:
    """Draw the sentences in one box."""
    with st.container(border=True, key="privacy.verdict", gap="small"):
        for title, (level, sentence) in zip(
            ("Identifiers", "Copies", "Proof"), sentences(findings, str(run.guarantee.get("kind", "none"))), strict=True
        ):
            icon, word, colour = LEVELS[level]
            if title == "Proof":
                word = "guaranteed" if level == "chance" else "no formal guarantee"
            st.markdown(f":{colour}[{icon} **{title}: {word}.**] {sentence}")


def figure(findings: Sequence[Finding], run: Any) -> None:
    """Draw shares against training part, holdout and real records, with their intervals."""
    import plotly.graph_objects as go

    names = [n for n in CHARTED if (f := pick(findings, n, "train")) is not None and f.value == f.value]
    if not names:
        return
    titles = [MEASURES[name].title for name in names]
    chart = go.Figure()
    for place, (reference, (symbol, colour)) in enumerate(SIDES.items()):
        rows = [pick(findings, name, reference) for name in names]
        known = [(y, f) for y, f in enumerate(rows) if f is not None and f.value == f.value]
        chart.add_trace(
            go.Scatter(
                x=[f.value for _, f in known],
                y=[y + 0.22 * (1 - place) for y, _ in known],
                mode="markers",
                name=REFERENCES[reference],
                marker={"symbol": symbol, "size": 11, "color": colour},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [(f.high if f.high is not None else f.value) - f.value for _, f in known],
                    "arrayminus": [f.value - (f.low if f.low is not None else f.value) for _, f in known],
                    "thickness": 1.5,
                },
                customdata=[show(f.name, f.value) for _, f in known],
                hovertemplate="%{customdata}<extra>" + REFERENCES[reference] + "</extra>",
            )
        )
    chart.update_yaxes(tickvals=list(range(len(names))), ticktext=titles, autorange="reversed")
    chart.update_xaxes(title="share (lower is safer), bars: 95 % interval", tickformat=".0%", rangemode="tozero")
    chart.update_layout(
        height=90 + 58 * len(names), margin={"l": 10, "r": 10, "t": 10, "b": 10}, legend={"orientation": "h", "y": 1.15}
    )
    takeaway = "Leaks into the synthetic text: training part beside the holdout that nobody used."
    st.markdown(f"**{takeaway}** Only the distance between the two speaks.")
    st.plotly_chart(chart, key=f"privacy.figure.{run.id}", alt=takeaway, config={"displayModeBar": False})
    st.caption(
        "Squares are real, unused records in the place of the synthetic ones. The training part is larger than the "
        "holdout, so more stands in it by chance; “more than chance” below compares equal sizes."
    )
