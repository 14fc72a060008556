"""Figures of the study `pairs`: ε–δ curves beside null and claim, excess, words, what of U comes back, top N.

Privacy posture: drawn from tables of numbers; words are points without names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.curves.lbf import Curve
from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.budget import probability
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import READ_AT, Drawn, Kind, epsilon_delta
from engine.studies.attacked import current
from engine.studies.bench.error_bars import error_bars
from engine.studies.pairs import figures_told as pairs_told
from engine.studies.pairs.figures_meaning import meaning
from engine.studies.pairs.figures_told import EPSILON_TICKS
from engine.studies.pairs.figures_words import chances, overlaid

# kind in the table -> name on the chart, kind of the curve
SHOWN: tuple[tuple[str, str, Kind], ...] = (
    ("direct", "word forms drawn directly", "direct"),
    ("synthetic single", "synthetic, one text a side", "single"),
    ("synthetic matched", "synthetic, averaged", "synthetic"),
    ("null", "twice on the same records", "null"),
    ("claimed", "claimed, whole output", "claimed"),
)
FEW_PEOPLE = 5  # below, an interval over people says nothing
SCENARIOS = {
    "base": ("original text", palette.GREEN, "square"),
    "synthetic from synthetic": ("synthetic, words known from it", palette.ORANGE, "diamond"),
    "synthetic from base": ("synthetic, words known from the original", palette.BLUE, "circle"),
}


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name."""
    if "curves" not in tables:
        return []
    made: list[tuple[str, Figure]] = []
    first = tables["curves"][tables["curves"]["set"] == 0]
    for (size, n), part in first.groupby(["excluded", "n"], sort=True):
        chance = tables["excess"].query("excluded == @size and n == @n and set == 0")
        made.append((f"curves_{size}_{n}", curves(part, chance, int(str(size)), int(str(n)))))
    if len(tables.get("answer", ())):
        made.append(("excess", excess(tables["answer"])))
    if len(tables.get("reproduced", ())):
        made.append(("reproduced", reproduced(tables["reproduced"])))
    if len(tables.get("points", ())):
        made.append(("words", words(tables["points"], tables["shift"])))
    if len(tables.get("top", ())):
        made.append(("top", top(tables["top"])))
    return made + _more(tables)


def _more(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    made: list[tuple[str, Figure]] = []
    if len(tables.get("points", ())):
        made += [("overlaid", overlaid(tables["points"])), ("chances", chances(tables["points"]))]
    if len(tables.get("points", ())) and len(tables.get("shift", ())):
        made.append(("shift", pairs_told.shift(tables["points"], tables["shift"])))
    if len(tables.get("composed", ())):
        made.append(("composed", pairs_told.composed(tables["composed"])))
    if len(tables.get("believed", ())):
        made.append(("believed", pairs_told.believed(tables["believed"])))
    if len(tables.get("semantic", ())) and current(tables.get("semantic_curves")):
        made.append(("meaning", meaning(tables["semantic"], tables["semantic_curves"])))
    return made


def curves(table: pd.DataFrame, chance: pd.DataFrame, size: int, n: int) -> Figure:
    """Return the standard ε–δ curves of one U on one chart."""
    drawn: dict[str, Drawn] = {}
    for kind, name, shape in SHOWN:
        part = table[table["kind"] == kind].sort_values("epsilon")
        if not len(part):
            continue
        values = {
            c: part[c].to_numpy(float) for c in ("epsilon", "delta", "delta_standard", "standard_low", "standard_high")
        }
        curve = Curve(values["epsilon"], values["delta"], values["delta_standard"], str(part["observed"].iloc[0]))
        band = not np.isnan(values["standard_low"]).all()
        low, high = (values["standard_low"], values["standard_high"]) if band else (None, None)
        drawn[name] = Drawn(curve, shape, low, high)
    figure = epsilon_delta(drawn)
    takeaway = f"|U| = {size} left out, {_seen(n)}: {_answer(table, chance)}"
    caveat = (
        "Standard δ, for one U drawn at random: typical people, not the worst case. Bands are ranges over pairs and "
        f"splits of the same runs. A claim covers the whole output and every person. {INTERNAL}"
    )
    return Figure(figure.plot, takeaway, caveat, f"Curves of δ over ε. {takeaway}")


def _seen(n: int) -> str:
    return "one word seen" if n == 1 else f"{n} words in a row seen"


def _answer(table: pd.DataFrame, chance: pd.DataFrame) -> str:
    at = table[np.isclose(table["epsilon"], READ_AT)].set_index("kind")["delta_standard"].astype(float)
    tested = chance[np.isclose(chance["epsilon"].astype(float), READ_AT)]
    if not len(tested):
        return "one training a side gives no null curve, so noise and leakage cannot be told apart."
    text = f"δ at ε = ln 1.2 is {at['synthetic matched']:.2%} for synthetic text and {at['null']:.2%} for two runs on "
    text += f"the same records; drawing words directly gives {at['direct']:.2%}. "
    found = tested.iloc[0]
    number = f"The difference of {100 * found['excess']:.2g}% (p = {found['p']:.2g})"
    if found["verdict"] == "leakage":
        beside = "less" if float(found["excess"]) < at["direct"] else "no less"
        text += f"{number} is more than runs on one data set differ: that is leakage"
        return f"{text}, {beside} than drawing words directly."
    if found["verdict"] == "too few":
        return f"{text}{number} cannot be judged: run at least three trainings."
    return f"{text}{number} is what chance alone gives: no leakage is seen here."


def excess(table: pd.DataFrame) -> Figure:
    """Return the excess over the null curve at ε = ln 1.2, over |U|, one line a length."""
    plot = go.Figure()
    for number, (n, part) in enumerate(table.groupby("n")):
        part = part.sort_values("excluded")
        plot.add_scatter(
            x=part["excluded"], y=part["excess"], mode="lines+markers", name=_seen(int(str(n))),
            line={"color": palette.OKABE_ITO[number], "dash": ("solid", "dash", "dot")[number % 3]},
            marker={"symbol": ("circle", "square", "diamond")[number % 3], "size": 8},
            error_y={"type": "data", "symmetric": False, "array": part["high"] - part["excess"],
                     "arrayminus": part["excess"] - part["low"], "thickness": 1.5},
            hovertemplate="|U| = %{x}: %{y:.2g}<extra></extra>",
        )  # fmt: skip
    plot.add_hline(y=0, line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="|U|, units left out", y="Excess of standard δ at ε = ln 1.2", height=320)
    plot.update_xaxes(type="log", dtick=1)
    beyond, sets, few = (int(table[name].sum()) for name in ("leakage", "sets", "too_few"))
    worst = table.sort_values("excess").iloc[-1]
    takeaway = (
        f"Synthetic text stands out of chance for {beyond} of {sets} sets U; most with |U| = {int(worst['excluded'])} "
    )
    takeaway += f"({_seen(int(worst['n']))}): {worst['excess']:.2g}."
    takeaway += f" {few} could not be judged: too few trainings." if few else ""
    caveat = f"Whiskers are the range over sets U. Negative values are chance. Judged at p ≤ 0.05 a set. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Excess over |U|. {takeaway}")


def words(points: pd.DataFrame, shift: pd.DataFrame) -> Figure:
    """Return the LBF of each word in synthetic text over its LBF when words are drawn directly."""
    one = points[(points["set"] == points["set"].iloc[0]) & (points["excluded"] == points["excluded"].iloc[0])]
    one = one[one["n"] == one["n"].iloc[0]]
    row = shift[(shift["excluded"] == one["excluded"].iloc[0]) & (shift["n"] == one["n"].iloc[0])].iloc[0]
    plot = go.Figure()
    plot.add_scatter(
        x=one["direct"], y=one["synthetic"], mode="markers", name="a word",
        marker={"size": 5, "opacity": 0.5, "color": palette.ORANGE},
        hovertemplate="direct %{x:.3g}, synthetic %{y:.3g}<extra></extra>",
    )  # fmt: skip
    ends = [float(one["direct"].min()), float(one["direct"].max())]
    plot.add_scatter(x=ends, y=ends, mode="lines", name="equal", line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="LBF when words are drawn directly (nats)", y="LBF in synthetic text (nats)", height=360)
    grown = float(row["grown"])
    takeaway = f"|LBF| is larger in synthetic text than in the records for {grown:.0%} of {int(row['words']):,} words"
    correlation = float(row["correlation"])
    takeaway += f"; the two go together with a correlation of {correlation:.2f}." if correlation == correlation else "."
    if correlation == correlation and abs(correlation) < 0.3:
        takeaway += " A weak one means that noise of generation, not the people left out, decides most words."
    caveat = (
        "LBF, the log Bayes factor: by how much seeing a word moves an attacker's odds, in nats. Words that one of the "
        f"four texts lacks ({int(row['left_out']):,}) have no finite value and are left out. "
        f"{INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Points of synthetic over direct LBF. {takeaway}")


def reproduced(table: pd.DataFrame) -> Figure:
    """Return the share of U's own runs of three words that come back, with chance beside it."""
    rows = table[table["set"] == 0]
    plot = go.Figure()
    parts = (
        ("from X", "written with U", palette.VERMILION, ""),
        ("from X without U", "written without U (chance)", palette.GREY, "/"),
        ("from X again", "written with U, other runs", palette.ORANGE, "x"),
    )
    for of, name, colour, pattern in parts:
        part = rows[rows["of"] == of]
        if len(part):
            plot.add_bar(
                x=[f"|U| = {size}" for size in part["excluded"]], y=part["share"], name=name,
                marker={"color": colour, "pattern": {"shape": pattern}},
                error_y=error_bars(part["share"], part["low"], part["high"]),
                hovertemplate="%{x}: %{y:.3%}<extra>" + name + "</extra>",
            )  # fmt: skip
    styled(plot, x="", y="Share of U's own three-word runs", height=320)
    plot.update_yaxes(tickformat=".2~%", rangemode="tozero")
    plot.update_layout(barmode="group")
    said = []
    for size, part in rows.groupby("excluded"):
        at = part.set_index("of")
        first, second = (float(str(at.loc[of, "share"])) for of in ("from X", "from X without U"))
        beyond = float(str(at.loc["difference", "low"])) > 0.0  # not where it is NaN: no interval is known
        few = int(str(size)) < FEW_PEOPLE
        verdict = "too few people to judge" if few else "beyond chance" if beyond else "within chance"
        said.append(f"|U| = {size}: {first:.2%} with U, {second:.2%} without, {verdict}")
    takeaway = "Of what only U wrote comes back: " + "; ".join(said) + "."
    caveat = f"A run that no other unit of X has can still be common elsewhere. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Bars of shares. {takeaway}")


def top(table: pd.DataFrame) -> Figure:
    """Return strict δ of attackers who watch N words, over ε, one line a scenario (figure 13)."""
    one = table[
        (table["set"] == 0) & (table["excluded"] == table["excluded"].iloc[0]) & (table["n"] == table["n"].iloc[0])
    ]
    plot = go.Figure()
    for (scenario, number), part in one.groupby(["scenario", "top"], sort=False):
        name, colour, symbol = SCENARIOS[str(scenario)]
        plot.add_scatter(
            x=part["epsilon"], y=part["delta"].where(part["delta"] > 0), mode="lines+markers",
            name=f"{name}, N = {number}", marker={"symbol": symbol},
            line={"color": colour, "dash": {100: "solid", 1000: "dash"}.get(int(number), "dot")},
            hovertemplate="ε = %{x:.3g}: δ = %{y:.2e}<extra></extra>",
        )  # fmt: skip
    styled(plot, x="ε (nats) of an attacker who watches N words", y="strict δ over those words", height=360)
    plot.update_xaxes(type="log", **EPSILON_TICKS)
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    at = one[np.isclose(one["epsilon"], math.log(1.2)) & (one["top"] == one["top"].min())].set_index("scenario")[
        "delta"
    ]
    takeaway = f"With {int(one['top'].min())} words watched, δ at ε = ln 1.2 is "
    takeaway += "; ".join(f"{SCENARIOS[str(name)][0]}: {probability(float(value))}" for name, value in at.items()) + "."
    caveat = (
        "Strict δ, not to be set against the δ of accountants. Words chosen from the synthetic text itself include its "
        f"noise; words known beforehand are the realistic case. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Lines of δ over ε. {takeaway}")
