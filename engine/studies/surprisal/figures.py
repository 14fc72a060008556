"""Figures of the study `surprisal`: AUC a model, CDF, Q-Q, threshold ratios, ε–δ curves, extraction, memorisation.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, figures 14 to 16 and Table 2, with
the control drawn beside each and bands over models or clusters.

Privacy posture: drawn from tables of numbers; records are not named.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.curves.lbf_attack import TOO_FEW
from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import Drawn, epsilon_delta
from engine.studies import lemmas
from engine.studies.attacked import current, of_attack
from engine.studies.surprisal import figures_lemmas
from engine.studies.surprisal.figures_models import ratio_models

SIDES = {
    "included": ("in training", palette.BLUE, "solid"),
    "excluded": ("left out", palette.VERMILION, "dash"),
    "control a": ("in training, first half (control)", palette.SKY, "dot"),
    "control b": ("in training, second half (control)", palette.GREY, "dashdot"),
}
COMPARISONS = {
    "main": ("left out against in training", palette.VERMILION, "circle"),
    "control": ("in training against in training (control)", palette.GREY, "x"),
}
SCORES = {
    "surprisal": "surprisal",
    "a token": "surprisal a token",
    "against untuned": "surprisal against the untuned model",
}
STRATEGIES = {"greedy": "likeliest token", "plain": "temperature 1", "decaying": "temperature 10 falling to 1"}
_CLEAR = "rgba(138,151,156,0.18)"


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name."""
    if not len(tables.get("models", ())):
        return []
    kinds = lemmas.kinds_in(tables["models"])
    made: list[tuple[str, Figure]] = []
    for kind in kinds:
        own = {name: lemmas.of_kind(part, kind) for name, part in tables.items() if name != "words"}
        of_kind = [(name, figures_lemmas.told(one, tables.get("words"), kind)) for name, one in _of_kind(own)]
        made += [(f"{name}_lemmas" if kind == lemmas.LEMMAS else name, one) for name, one in of_kind]
    return made + ([figures_lemmas.beside(tables)] if len(kinds) > 1 else [])


def _of_kind(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures of one kind of text."""
    made = [("auc", auc(tables["models"])), ("cdf", cdf(tables["cdf"], tables["models"]))]
    if len(tables.get("qq", ())):
        made.append(("qq", qq(tables["qq"])))
    if len(tables.get("ratio", ())):
        made.append(("ratio", ratio(tables["ratio"])))
    if len(tables.get("ratio_models", ())):
        made.append(("ratio_models", ratio_models(tables["ratio_models"])))
    if current(tables.get("curves")):
        made.append(("curves", curves(tables["curves"])))
    if len(tables.get("extraction", ())):
        made.append(("extraction", extraction(tables["extraction"])))
    if len(tables.get("memorised", ())):
        made.append(("memorised", memorised(tables["memorised"], tables["memorised_mean"])))
    return made


def _best(table: pd.DataFrame) -> str:
    return "against untuned" if "against untuned" in set(table["score"]) else "surprisal"


def auc(table: pd.DataFrame) -> Figure:
    """Return the AUC of each model with its interval, and of the control beside it (Table 2)."""
    score = _best(table)
    rows = table[table["score"] == score].assign(
        name=lambda t: ["all models" if model == -1 else f"model {model + 1}" for model in t["model"]]
    )
    plot = go.Figure()
    for prefix, (name, colour, symbol) in zip(("", "control_"), COMPARISONS.values(), strict=True):
        value, low, high = (rows[f"{prefix}{part}"].astype(float) for part in ("auc", "low", "high"))
        plot.add_scatter(
            x=rows["name"], y=value, mode="markers", name=name, marker={"color": colour, "symbol": symbol, "size": 9},
            error_y={"type": "data", "symmetric": False, "array": (high - value).fillna(0),
                     "arrayminus": (value - low).fillna(0), "thickness": 1.5},
            hovertemplate="%{x}: AUC %{y:.3f}<extra>" + name + "</extra>",
        )  # fmt: skip
    plot.add_hline(y=0.5, line={"color": palette.GREY, "dash": "dot"}, annotation_text="chance")
    styled(plot, x="", y=f"AUC by {SCORES[score]}", height=340)
    whole = rows[rows["model"] == -1].iloc[0]
    lowest, highest = float(whole["low"]), float(whole["high"])
    takeaway = f"By {SCORES[score]}, those in training are told from those left out with an AUC of {whole['auc']:.3f} "
    takeaway += f"({lowest:.3f} to {highest:.3f}): " + _verdict(lowest, highest)
    if not float(whole["control_low"]) <= 0.5 <= float(whole["control_high"]):
        takeaway += " The control is off chance too: people differ, and the difference is not all memory."
    caveat = (
        "An average over records drawn at random says little about the few that are remembered best. The attacker must "
        f"be able to ask the tuned model for probabilities; published texts alone do not give them. {INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Points of AUC a model. {takeaway}")


def _verdict(low: float, high: float) -> str:
    if low > 0.5:
        return "the model remembers whom it has read."
    return "worse than chance." if high < 0.5 else "chance is not ruled out."


def cdf(table: pd.DataFrame, models: pd.DataFrame) -> Figure:
    """Return the share of records with at most so much surprisal: mean over models, range as a band (figure 14)."""
    plot = go.Figure()
    for side, (name, colour, dash) in SIDES.items():
        part = table[table["side"] == side].groupby("surprisal")["share"].agg(["mean", "min", "max"]).reset_index()
        if side in ("included", "excluded"):
            _band(plot, part["surprisal"], part["min"], part["max"])
        plot.add_scatter(
            x=part["surprisal"], y=part["mean"], mode="lines", name=name, line={"color": colour, "dash": dash},
            hovertemplate="up to %{x:.0f} nats: %{y:.0%}<extra>" + name + "</extra>",
        )  # fmt: skip
    styled(plot, x="Surprisal of a record (nats)", y="Share of records", height=340)
    plot.update_yaxes(tickformat=".0%")
    whole = models[(models["model"] == -1) & (models["score"] == "surprisal")].iloc[0]
    takeaway = (
        f"Half of the records left out surprise the model by {_more(float(whole['median_difference']))} than half "
    )
    takeaway += f"of those it has seen; in the control by {_more(float(whole['control_median_difference']))}."
    number = table["model"].nunique()
    caveat = f"Lines are means over {number} models, bands their range. Longer records surprise more. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Rising curves of shares over surprisal. {takeaway}")


def _more(nats: float) -> str:
    return f"{abs(nats):.3g} nats {'more' if nats >= 0 else 'less'}"


def _band(plot: go.Figure, x: pd.Series, low: pd.Series, high: pd.Series) -> None:
    for values, fill in ((high, None), (low, "tonexty")):
        plot.add_scatter(
            x=x, y=values, mode="lines", line={"width": 0, "color": _CLEAR}, fill=fill, fillcolor=_CLEAR,
            showlegend=False, hoverinfo="skip",
        )  # fmt: skip


def qq(table: pd.DataFrame) -> Figure:
    """Return quantiles of those left out over quantiles of those in training, with the control (figure 15)."""
    plot = go.Figure()
    for comparison, (name, colour, symbol) in COMPARISONS.items():
        part = table[table["comparison"] == comparison]
        mean = part.groupby("quantile")[["first", "second"]].mean()
        spread = part.groupby("quantile")["second"].agg(["min", "max"])
        plot.add_scatter(
            x=mean["first"], y=mean["second"], mode="markers", name=name,
            marker={"color": colour, "symbol": symbol, "size": 6},
            error_y={"type": "data", "symmetric": False, "array": spread["max"] - mean["second"],
                     "arrayminus": mean["second"] - spread["min"], "thickness": 1},
            hovertemplate="%{x:.1f}, %{y:.1f} nats<extra>" + name + "</extra>",
        )  # fmt: skip
    ends = [float(table["first"].min()), float(table["first"].max())]
    plot.add_scatter(x=ends, y=ends, mode="lines", name="equal", line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="Surprisal of those in training (nats)", y="Surprisal at the same quantile (nats)", height=360)
    above = {
        name: float((part["second"] > part["first"]).mean()) for name, part in table.groupby("comparison") if len(part)
    }
    takeaway = f"Those left out lie above those in training at {above.get('main', float('nan')):.0%} of quantiles"
    takeaway += f", the control at {above['control']:.0%}." if "control" in above else "."
    return Figure(plot, takeaway, f"Whiskers are the range over models. {INTERNAL}", f"Points of quantiles. {takeaway}")


def ratio(table: pd.DataFrame) -> Figure:
    """Return how much likelier those left out pass a threshold of surprisal, with its 95% band (figure 16)."""
    plot = go.Figure()
    said: list[str] = []
    for comparison, (name, colour, symbol) in COMPARISONS.items():
        part = table[table["comparison"] == comparison].sort_values("threshold")
        if not len(part):
            continue
        _band(plot, part["threshold"], part["low"], part["high"])
        plot.add_scatter(
            x=part["threshold"], y=part["ratio"], mode="lines+markers", name=name,
            line={"color": colour}, marker={"symbol": symbol, "size": 6},
            hovertemplate="above %{x:.0f} nats: %{y:.2f} times<extra>" + name + "</extra>",
        )  # fmt: skip
        last = part.iloc[-1]
        said.append(f"{name} {last['ratio']:.2f} ({last['low']:.2f} to {last['high']:.2f})")
    plot.add_hline(y=1, line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="Threshold τ of surprisal (nats)", y="Pr[S > τ | left out] / Pr[S > τ | in]", height=340)
    plot.update_yaxes(type="log")
    takeaway = "Ratio at the highest threshold that ten records of each side pass: " + "; ".join(said) + "."
    caveat = f"Bands: 95%, whole people of a training drawn again. Beyond the last threshold is noise. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Lines of ratios over thresholds. {takeaway}")


def curves(table: pd.DataFrame) -> Figure:
    """Return the attack's standard ε–δ curve with its band, the control beside it."""
    score = _best(table)
    drawn: dict[str, Drawn] = {}
    for comparison, name in (("main", "attack"), ("control", "control")):
        part = table[(table["score"] == score) & (table["comparison"] == comparison)]
        if len(part):
            drawn[name] = of_attack(part, "attack" if comparison == "main" else "null")
    figure = epsilon_delta(drawn)
    fewest = int(table["smaller_side"].min())
    takeaway = figure.takeaway.replace("δ at ε = ln 1.2 is ", f"δ at ε = ln 1.2 by {SCORES[score]}: ")
    if (table["verdict"] == TOO_FEW).any():
        upto = table.loc[table["verdict"] == TOO_FEW, "epsilon"].min()
        takeaway += f" From ε = {upto:.2g} on it cannot be told: {fewest} people on the smaller side are too few."
    caveat = (
        "Standard δ of the best threshold at each ε, for these trainings. The bands hold for the whole curve, in 95 of "
        "100 samples of people; estimates choose thresholds on half of the people and judge them on the other, and are "
        f"cut at the band, so that chance alone can lift them above 0. A better attack would lie higher. {INTERNAL}"
    )
    return Figure(figure.plot, takeaway, caveat, f"Curves of δ over ε. {takeaway}")


def extraction(table: pd.DataFrame) -> Figure:
    """Return the share of prefixes whose continuation came out, a strategy, those left out as reference."""
    plot = go.Figure()
    for side, pattern in (("included", ""), ("excluded", "/")):
        part, (name, colour, _) = table[table["side"] == side], SIDES[side]
        plot.add_bar(
            x=[STRATEGIES[s] for s in part["strategy"]], y=part["share"], name=name,
            marker={"color": colour, "pattern": {"shape": pattern}},
            error_y={"type": "data", "symmetric": False, "array": part["high"] - part["share"],
                     "arrayminus": part["share"] - part["low"], "thickness": 1.5},
            hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Continuations that came out word by word", height=320)
    plot.update_yaxes(tickformat=".0%", rangemode="tozero")
    plot.update_layout(barmode="group")
    inside = table[table["side"] == "included"].sort_values("share").iloc[-1]
    outside = table[(table["side"] == "excluded") & (table["strategy"] == inside["strategy"])].iloc[0]
    takeaway = (
        f"With {STRATEGIES[str(inside['strategy'])]}, {inside['share']:.1%} of continuations of records seen came out "
    )
    takeaway += f"and {outside['share']:.1%} of those of records left out; on average {inside['mean_words']:.2g} and "
    takeaway += f"{outside['mean_words']:.2g} words."
    caveat = (
        f"None out of {int(inside['prefixes'])} still allows up to {inside['high']:.1%}. "
        if not inside["share"]
        else ""
    )
    caveat += f"The attacker already has the record's beginning, its label and its length. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Bars of shares a strategy. {takeaway}")


def memorised(table: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """Return what the models gained on each record by having it in training, largest first (Zhang et al. 2023)."""
    plot = go.Figure(
        go.Scatter(
            x=np.arange(1, len(table) + 1), y=table["memorised_nats"], mode="markers",
            marker={"color": palette.PINK, "size": 5}, hovertemplate="rank %{x}: %{y:.2f} nats a token<extra></extra>",
        )
    )  # fmt: skip
    plot.add_hline(y=0, line={"color": palette.GREY, "dash": "dot"})
    styled(plot, x="Records, most memorised first", y="Counterfactual memorisation (nats a token)", height=320)
    row = means.iloc[-1]
    band = f" ({row['low']:.2g} to {row['high']:.2g})" if pd.notna(row["low"]) else ""
    takeaway = f"A record seen in training is easier by {row['mean']:.2g} nats a token on average{band}, the most "
    takeaway += f"memorised one by {row['largest']:.2g}."
    caveat = f"With few models a single record's place is noisy; the mean is not. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Falling points of memorisation. {takeaway}")
