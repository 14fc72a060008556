"""Figures of the study `canary-audit`: lower bounds under their ceilings beside the claim, echoes, signals.

A bound is red where it exceeds the claim and grey everywhere else: no lower bound confirms a claim.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.studies.bench.error_bars import error_bars

ECHOES = {"whole": "A whole secret", "half": "Half of a secret in a row"}
SIDES = {"in": ("Planted", palette.VERMILION, ""), "out": ("Left out", palette.BLUE, "/")}
NEVER = "A lower bound is never a certificate: a stronger attack may prove more."


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name; none before the coins are open."""
    made = []
    if "bounds" in tables:
        made.append(("bounds", bounds(tables["bounds"])))
    if "echo" in tables:
        made.append(("echo", echo(tables["echo"])))
    if "signals" in tables:
        made.append(("signals", signals(tables["signals"])))
    return made


def bounds(table: pd.DataFrame) -> Figure:
    """Return each lower bound on ε with the most it could have shown, and the claim as a line."""
    plot = go.Figure()
    for _, row in table.iterrows():
        plot.add_scatter(
            x=[0.0, row["ceiling"]], y=[row["title"], row["title"]], mode="lines+markers", showlegend=False,
            line={"color": palette.GREY, "width": 1, "dash": "dot"},
            marker={"symbol": ["line-ns-open", "line-ns-open"], "size": 12, "color": palette.GREY},
            hovertemplate="at most %{x:.2f} could be shown<extra></extra>",
        )  # fmt: skip
    for refuted, name, colour, symbol in (
        (False, "Proven at least", palette.GREY, "circle"), (True, "Above the claim", palette.VERMILION, "diamond"),
    ):  # fmt: skip
        rows = table[(table["verdict"] == "violation") == refuted]
        if len(rows):
            plot.add_scatter(
                x=rows["epsilon_lower"], y=rows["title"], mode="markers", name=name, cliponaxis=False,
                marker={"color": colour, "size": 13, "line": {"width": 2, "color": colour},
                        "symbol": [f"{symbol}-open" if why else symbol for why in rows["assumption"]]},
                hovertemplate="%{y}: ε ≥ %{x:.2f}<extra></extra>",
            )  # fmt: skip
    first = _deciding(table)
    if first["claim"] == first["claim"]:
        plot.add_vline(x=first["claim"], line={"dash": "dash", "color": palette.BLUE},
                       annotation_text=f"claim: ε = {first['claim']:g}")  # fmt: skip
    styled(plot, x="ε proven at least, at confidence 95%; the right tick is the most this audit could prove", y="",
           height=150 + 46 * len(table))  # fmt: skip
    furthest = max(1.0, float(table["ceiling"].max()), 0.0 if first["claim"] != first["claim"] else first["claim"])
    plot.update_xaxes(range=[-0.03 * furthest, 1.05 * furthest])
    plot.update_yaxes(autorange="reversed")
    takeaway = sentence(table)
    caveat = (
        f"{NEVER} Only “{first['title'].lower()}” decides; each other row is a test of its own and may err once in "
        "twenty. Hollow marks rest on assumptions that the table names."
    )
    return Figure(plot, takeaway, caveat, f"Lower bounds on ε by {len(table)} estimators. {takeaway}")


def sentence(table: pd.DataFrame) -> str:
    """Return what the deciding bound says about the claim, in words."""
    row = _deciding(table)
    proven, ceiling, claim = float(row["epsilon_lower"]), float(row["ceiling"]), float(row["claim"])
    guessed = f"{int(row['right'])} of {int(row['guesses'])} guesses were right"
    if row["verdict"] == "violation":
        return f"The claim is refuted: {guessed}, which proves ε of at least {proven:.2f} where {claim:g} is claimed."
    if claim != claim:
        return f"{guessed}, which proves ε of at least {proven:.2f}; this audit could show {ceiling:.2f} at most."
    if ceiling <= claim:
        return (
            f"{guessed}, which proves ε of at least {proven:.2f}. This audit could show {ceiling:.2f} at most, so it "
            f"could not have refuted the claim of {claim:g}: plant more canaries or declare more guesses."
        )
    return (
        f"No violation seen: {guessed}, which proves ε of at least {proven:.2f} where {claim:g} is claimed; this audit "
        f"could have shown {ceiling:.2f}."
    )


def echo(table: pd.DataFrame) -> Figure:
    """Return the shares of canaries that the synthetic text repeats, planted ones beside those left out."""
    plot = go.Figure()
    for side, (name, colour, pattern) in SIDES.items():
        rows = table[table["side"] == side]
        plot.add_bar(
            x=[ECHOES[e] for e in rows["echo"]], y=rows["share"], name=name,
            error_y=error_bars(rows["share"], rows["low"], rows["high"]),
            marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Share of canaries, with 95% interval", height=340)
    plot.update_yaxes(tickformat=".0%", rangemode="tozero")
    plot.update_layout(barmode="group")
    whole = {side: _cell(table, side, "whole") for side in SIDES}
    half = {side: _cell(table, side, "half") for side in SIDES}
    takeaway = (
        f"{whole['in']['share']:.0%} of the planted canaries come back whole and {half['in']['share']:.0%} by half; of "
        f"those left out {whole['out']['share']:.0%} and {half['out']['share']:.0%}."
    )
    caveat = "Those left out show what chance echoes."
    if whole["in"]["share"] == 0.0 and whole["in"]["high"] == whole["in"]["high"]:
        caveat += f" None at all still allows up to {whole['in']['high']:.1%}."
    return Figure(plot, takeaway, caveat, f"Bars of echoed canaries, planted and left out. {takeaway}")


def signals(table: pd.DataFrame) -> Figure:
    """Return how well each score tells planted canaries from those left out."""
    plot = go.Figure()
    for declared, name, colour, symbol in (
        (True, "Declared before the run", palette.VERMILION, "diamond"),
        (False, "For comparison", palette.GREY, "circle"),
    ):  # fmt: skip
        rows = table[table["declared"] == declared]
        plot.add_scatter(
            x=rows["auc"], y=rows["title"], mode="markers", name=name,
            error_x=error_bars(rows["auc"], rows["low"], rows["high"]),
            marker={"color": colour, "symbol": symbol, "size": 12}, hovertemplate="%{y}: %{x:.2f}<extra></extra>",
        )  # fmt: skip
    plot.add_vline(x=0.5, line={"dash": "dash", "color": palette.BLUE}, annotation_text="chance")
    styled(plot, x="Area under the ROC curve, planted against left out, with 95% interval", y="", height=330)
    plot.update_xaxes(range=[0.0, 1.02])
    plot.update_yaxes(categoryorder="array", categoryarray=table["title"].tolist(), autorange="reversed")
    row = table[table["declared"]].iloc[0]
    seen = row["low"] == row["low"] and float(row["low"]) > 0.5
    takeaway = (
        f"{row['title']}, declared before the run, {'tells' if seen else 'does not tell'} planted canaries from those "
        f"left out (AUC {row['auc']:.2f})."
    )
    caveat = (
        "Several scores at once: one that was not declared and looks best by luck proves nothing. An AUC says nothing "
        "about the few that are recognised for certain; the bounds do."
    )
    return Figure(plot, takeaway, caveat, f"Areas under the ROC curve of {len(table)} scores. {takeaway}")


def _deciding(table: pd.DataFrame) -> pd.Series:
    return table[table["decides"].astype(bool)].iloc[0]


def _cell(table: pd.DataFrame, side: str, name: str) -> pd.Series:
    return table[(table["side"] == side) & (table["echo"] == name)].iloc[0]
