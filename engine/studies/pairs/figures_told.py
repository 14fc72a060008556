"""Figures of the study `pairs`: many words seen together, what an attacker believes, what generation does to words.

Sources: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, sections 3.6 (background
prior) and 5.2 (decomposition of the change); composition of independent observations.

Privacy posture: drawn from tables of numbers; words are points without names.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.budget import probability
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import KINDS, READ_AT, Kind

COMPOSED: tuple[tuple[str, str, Kind], ...] = (
    ("direct", "word forms drawn directly", "direct"),
    ("synthetic matched", "synthetic, with and without U", "synthetic"),
    ("null", "synthetic, twice on the same records", "null"),
)
_ODDS = (1.01, 1.2, 2.0, 10.0)  # where curves of words are read: how many times the odds move
EPSILON_TICKS = {"tickvals": [math.log(odds) for odds in _ODDS], "ticktext": [f"ln {odds:g}" for odds in _ODDS]}
SMALL = 0.001  # nats
BELIEVED = {
    "objective": ("who knows every frequency", palette.GREEN, "solid", "square"),
    "delta": ("who guesses them from the release, and is right", palette.ORANGE, "dash", "diamond"),
    "false_delta": ("who guesses them, and is led astray", palette.GREY, "dot", "x"),
}


def first(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first set U of the first size and the fewest words in a row."""
    for name in ("set", "excluded", "n"):
        if name in table and len(table):
            table = table[table[name] == (table[name].min() if name == "n" else table[name].iloc[0])]
    return table


def _of(table: pd.DataFrame) -> str:
    row = table.iloc[0]
    n = int(row["n"]) if "n" in table else 1
    return f"|U| = {int(row['excluded'])} left out, {'one word' if n == 1 else f'{n} words in a row'} at a time"


def composed(table: pd.DataFrame) -> Figure:
    """Return standard δ over ε of attackers who see one n-gram and of those who see several, the null beside them."""
    one = first(table)
    few, many = int(one["observed"].min()), int(one["observed"].max())
    plot = go.Figure()
    for kind, name, shape in COMPOSED:
        colour, _, symbol = KINDS[shape]
        for seen, dash in ((few, "dot"), (many, "solid")):
            part = one[(one["kind"] == kind) & (one["observed"] == seen)].sort_values("epsilon")
            if len(part):
                plot.add_scatter(
                    x=part["epsilon"], y=part["delta_standard"].where(part["delta_standard"] > 0),
                    mode="lines+markers", name=f"{name}, {seen} seen", line={"color": colour, "dash": dash},
                    marker={"symbol": symbol if seen == many else f"{symbol}-open", "size": 9},
                    hovertemplate="ε = %{x:.3g}: δ = %{y:.2e}<extra>" + f"{name}, {seen} seen</extra>",
                )  # fmt: skip
    styled(plot, x="ε (nats) of an attacker who sees so many, drawn independently", y="standard δ", height=400)
    plot.update_xaxes(type="log", **EPSILON_TICKS)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    read = one[np.isclose(one["epsilon"], READ_AT)].set_index(["kind", "observed"])["delta_standard"].astype(float)
    parts = [
        f"from {probability(float(read[kind, few]))} to {probability(float(read[kind, many]))} for {name}"
        for kind, name, _ in COMPOSED
        if (kind, few) in read.index and (kind, many) in read.index
    ]
    takeaway = f"{_of(one)}. Seeing {many} instead of {few} takes δ at ε = ln 1.2 " + "; ".join(parts) + "."
    if ("synthetic matched", many) in read.index and read["synthetic matched", many] <= read["null", many]:
        takeaway += " Synthetic text stays at what two texts of the same records show."
    caveat = (
        "An upper bound: losses are rounded up to a grid before they are added, by "
        f"{float(one['rounding'].max()):.1g} nats at most. Words of one text are not drawn independently. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Falling lines of δ over ε. {takeaway}")


def believed(table: pd.DataFrame) -> Figure:
    """Return strict δ of an attacker who knows U's text but must guess how common words are."""
    one = first(table).sort_values("epsilon")
    plot = go.Figure()
    for column, (name, colour, dash, symbol) in BELIEVED.items():
        plot.add_scatter(
            x=one["epsilon"], y=one[column].where(one[column] > 0), mode="lines+markers", name=name,
            line={"color": colour, "dash": dash}, marker={"symbol": symbol, "size": 7},
            hovertemplate="ε = %{x:.3g}: %{y:.2e}<extra>" + name + "</extra>",
        )  # fmt: skip
    styled(plot, x="ε (nats) of an attacker who sees one word and knows U's text", y="strict δ", height=380)
    plot.update_xaxes(type="log", **EPSILON_TICKS)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    at = one[np.isclose(one["epsilon"], READ_AT)]
    at = at if len(at) else one.head(1)
    right, wrong, known = (float(at[name].iloc[0]) for name in ("delta", "false_delta", "objective"))
    error = float(one["error"].iloc[0])
    takeaway = (
        f"{_of(one)}. The chance that a word moves the odds by more than a fifth (ε = ln 1.2): for an attacker who "
        f"knows U's text but must guess how common words are, {probability(right)} to the right side and "
        f"{probability(wrong)} to the wrong side; for one who knows every frequency, {probability(known)}. "
        f"The guess is off by {error:.2g} nats on average."
    )
    if error < SMALL:
        takeaway = takeaway.replace(f"{error:.2g} nats", f"less than {SMALL:g} nats")
    caveat = (
        "Strict δ, not to be set against the δ of accountants. Frequencies are guessed from the rank of words in the "
        f"synthetic text (Zipf's law); other knowledge would give other beliefs. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Falling lines of δ over ε. {takeaway}")


def shift(points: pd.DataFrame, sums: pd.DataFrame) -> Figure:
    """Return how generation changes each word's frequency with U and without; on the diagonal nothing is told."""
    one = first(points)
    row = first(sums).iloc[0]
    x, y = np.log1p(one["shift_y"].astype(float)), np.log1p(one["shift_x"].astype(float))
    plot = go.Figure()
    plot.add_scatter(
        x=x, y=y, mode="markers", name="a word", marker={"size": 5, "opacity": 0.5, "color": palette.ORANGE},
        hovertemplate="without U %{x:.3g}, with U %{y:.3g}<extra></extra>",
    )  # fmt: skip
    ends = [float(min(x.min(), y.min())), float(max(x.max(), y.max()))]
    plot.add_scatter(
        x=ends, y=ends, mode="lines", name="changed alike: nothing is told",
        line={"color": palette.GREY, "dash": "dot"},
    )  # fmt: skip
    styled(plot, x="Change of a word's frequency, written without U (ln)", y="Change, written with U (ln)", height=380)
    typical = float(np.median(np.abs(np.concatenate([x, y]))))
    direct, change = float(one["direct"].abs().mean()), float(row["mean_change"])
    takeaway = (
        f"{_of(one)}. Generation makes a typical word {math.exp(typical):.2g} times as common or as rare; what is not "
        f"alike with and without U moves its LBF by {change:.2g} nats on average"
    )
    if direct > 0:
        takeaway += f", {change / direct:.2g} times the LBF it has in the records ({direct:.2g})"
    takeaway += "."
    caveat = (
        "The distance from the line is the change of the LBF (log Bayes factor, in nats). Noise of generation moves "
        f"words off the line as well: two texts of the same records would do so too. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Points of frequency changes. {takeaway}")
