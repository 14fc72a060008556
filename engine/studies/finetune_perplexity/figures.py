"""Figures of the study `finetune-perplexity`: perplexity of each variant, and claimed beside proven ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.studies.bench.error_bars import ErrorBars, error_bars

UNTUNED = "untuned"
PARTS = (
    ("perplexity_holdout", "Records nobody trained on", palette.BLUE, "circle"),
    ("perplexity_train", "Training records", palette.ORANGE, "diamond"),
)
AUDITS = (
    ("audited_epsilon_gradients", "Proven on the noisy steps", palette.ORANGE, "/"),
    ("audited_epsilon_canaries", "Proven by canaries", palette.SKY, "."),
)


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name."""
    summary = tables.get("summary")
    if summary is None or not len(summary):
        return []
    made = [("perplexity", perplexity(summary))]
    if (summary["measure"] == "claimed_epsilon").any():
        made.append(("audit", audited(summary)))
    return made


def perplexity(summary: pd.DataFrame) -> Figure:
    """Return perplexity of unseen and of training records, a mark each a variant."""
    names = list(dict.fromkeys(summary["variant"]))
    plot = go.Figure()
    for measure, title, colour, symbol in PARTS:
        rows = [_row(summary, name, measure) for name in names]
        plot.add_scatter(
            x=names, y=[row["value"] for row in rows], error_y=_bars(rows), mode="markers", name=title,
            marker={"color": colour, "symbol": symbol, "size": 11},
            hovertemplate="%{x}: %{y:.2f}<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Perplexity a token (lower: better known)", height=380)
    plot.update_layout(scattermode="group", scattergap=0.85)  # whiskers side by side, not one upon the other
    said = [f"{name} {_row(summary, name, 'perplexity_holdout')['value']:.2f}" for name in names]
    takeaway = f"Perplexity of records nobody trained on: {listed(said)}."
    verdicts = [f"{name} {_verdict(summary, name)}" for name in names if name != UNTUNED]
    takeaway += f" Against the untuned model: {listed(verdicts)}." if verdicts else ""
    return Figure(
        plot, takeaway,
        "Whiskers are 95% intervals over records; another training would differ as well. Low on training records "
        "and not on unseen ones means learned by heart.",
        f"Marks of perplexity for {len(names)} variants. {takeaway}",
    )  # fmt: skip


def audited(summary: pd.DataFrame) -> Figure:
    """Return the claimed ε beside what the audits prove at least, a group of bars a variant with noise."""
    claims = summary[summary["measure"] == "claimed_epsilon"]
    names = list(claims["variant"])
    plot = go.Figure()
    plot.add_bar(x=names, y=list(claims["value"]), name="Claimed", marker={"color": palette.GREY})
    worst: dict[str, float] = dict.fromkeys(names, 0.0)
    for measure, title, colour, pattern in AUDITS:
        found = [_row(summary, name, measure)["value"] for name in names]
        if all(value != value for value in found):
            continue
        worst = {n: max(worst[n], v) if v == v else worst[n] for n, v in zip(names, found, strict=True)}
        plot.add_bar(
            x=names, y=found, name=title, marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{x}: ε ≥ %{y:.2f}<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="ε", height=360)
    plot.update_layout(barmode="group")
    broken = [name for name, claim in zip(names, claims["value"], strict=True) if worst[name] > claim]
    said = [f"{worst[name]:.2f} of {claim:g}" for name, claim in zip(names, claims["value"], strict=True)]
    takeaway = (
        f"The claim of {listed(broken)} is refuted: more was proven to leak than it allows."
        if broken
        else f"No audit refutes a claim: proven are ε ≥ {listed(said)}."
    )
    return Figure(
        plot, takeaway,
        "Bounds hold at 95%. A low bound does not confirm a claim: it is what this audit could prove, and rare "
        "sampling makes that little.",
        f"Bars of claimed and proven ε for {len(names)} variants. {takeaway}",
    )  # fmt: skip


def _verdict(summary: pd.DataFrame, name: str) -> str:
    row = _row(summary, name, "holdout_over_untuned")
    return "better" if row["high"] < 1.0 else "worse" if row["low"] > 1.0 else "no different that one could tell"


def _row(summary: pd.DataFrame, name: str, measure: str) -> dict[str, float]:
    found = summary[(summary["variant"] == name) & (summary["measure"] == measure)]
    if not len(found):
        return dict.fromkeys(("value", "low", "high"), float("nan"))
    return {key: float(found[key].iloc[0]) for key in ("value", "low", "high")}


def _bars(rows: Sequence[dict[str, float]]) -> ErrorBars:
    value, low, high = ([row[end] for row in rows] for end in ("value", "low", "high"))
    return error_bars(value, low, high)
