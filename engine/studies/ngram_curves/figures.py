"""Figures of the study `ngram-curves`: drawing n-grams straight from the records.

Source: Stomakhin 2025, figures 3 to 9 and definition 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.examine.curves.lbf import Curve
from engine.figures import palette
from engine.figures.base import Figure, styled
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import Drawn, epsilon_delta, rarity
from engine.studies import lemmas
from engine.studies.ngram_curves import figures_beside as direct_beside
from engine.studies.ngram_curves import figures_lemmas

THESIS_EXPONENT = 0.83  # of single words of chats at δ = 0.001, to two digits (Stomakhin 2025, figure 5)
_SYMBOLS = ("circle", "diamond", "square", "cross")
_SHARED = ("direct_part", "direct_words")  # tables of all kinds together


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return every figure that the tables allow: curves, growth, hidden beside open, rarity, losses, adversaries."""
    table = tables.get("direct_curves")
    if table is None:
        return []
    kinds = lemmas.kinds_in(table)
    made: list[tuple[str, Figure]] = []
    for kind in kinds:
        own = {name: part if name in _SHARED else lemmas.of_kind(part, kind) for name, part in tables.items()}
        made += [(f"{name}_lemmas" if kind == lemmas.LEMMAS else name, figure) for name, figure in _of_kind(own, kind)]
    if len(kinds) > 1:
        made += figures_lemmas.beside(tables)
    return [(name, _told(figure, tables.get("direct_part"))) for name, figure in made]


def _of_kind(tables: Mapping[str, pd.DataFrame], kind: str) -> list[tuple[str, Figure]]:
    """Return the figures of word forms, or of lemmas; each says which."""
    made: list[tuple[str, Figure]] = []
    table = tables["direct_curves"]
    lengths = sorted(int(n) for n in table["n"].unique())
    for n in lengths:
        every = _of(tables, "direct_curves", n)
        rows = _open(every)
        made += [(f"curves_{n}", curves(rows)), (f"strict_{n}", curves(rows, strict=True))]
        if len(rows) < len(every):
            made.append((f"censored_{n}", direct_beside.censored(every)))
        trials, power = _open(_of(tables, "direct_trials", n)), _open(_of(tables, "direct_power", n))
        made.append((f"growth_{n}", growth(trials, power)))
        losses = _of(tables, "direct_loss", n)
        if len(losses):
            made.append((f"loss_{n}", direct_beside.losses(losses)))
        if len(tables.get("direct_adaptive", ())):
            seen = _of(tables, "direct_adaptive", n)
            most = seen[seen["excluded"] == seen["excluded"].max()]
            made.append((f"adaptive_{n}", direct_beside.adaptive(most)))
    if len(lengths) > 1:
        made.append(("lengths", direct_beside.lengths(_open(tables["direct_trials"]))))
    made += _rarities(tables, lengths, figures_lemmas.NAMES[kind])
    return [(name, figures_lemmas.told(figure, tables.get("direct_words"), kind)) for name, figure in made]


def _open(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which nothing is hidden; all of a table of an earlier edition, which says nothing of it."""
    if "censor" not in table or not (table["censor"] == 0).any():
        return table
    return table[table["censor"] == 0]


def _rarities(
    tables: Mapping[str, pd.DataFrame], lengths: list[int], names: Mapping[int, str]
) -> list[tuple[str, Figure]]:
    """Return how rare n-grams are in all records, and within one unit's own (figure 6)."""
    table = tables["direct_rarity"]
    parts = {"all": "rarity", "one unit": "rarity_one"} if "of" in table else {"": "rarity"}
    made = []
    for of, name in parts.items():
        shares = {}
        for n in lengths:
            part = table[(table["n"] == n) & (table["of"] == of)] if of else table[table["n"] == n]
            shares[names[n]] = (part["occurrences"].astype(int).tolist(), part["share"].astype(float).tolist())
        if name == "rarity":
            made.append((name, rarity(shares)))
        else:
            made.append((name, rarity(shares, where="within the texts of the unit of middle size")))
    return made


def _told(figure: Figure, part: pd.DataFrame | None) -> Figure:
    """Return a figure that says how many records were drawn from and how many were left out."""
    if part is None or not len(part):
        return figure
    row = part.iloc[0]
    over, held = int(row["left_out_over_cap"]), int(row["left_out_held_out"])
    kept = int(row["records"])
    left = [f"{number:,} {why}" for number, why in ((over, "over the cap"), (held, "held out")) if number]
    said = f"Drawn from {kept:,} of {kept + over + held:,} records"
    said += f"; {' and '.join(left)} were left out." if left else "; none was left out."
    return replace(figure, caveat=f"{said} {figure.caveat}")


def _of(tables: Mapping[str, pd.DataFrame], name: str, n: int) -> pd.DataFrame:
    table = tables[name]
    return table[table["n"] == n]


def curves(rows: pd.DataFrame, *, strict: bool = False) -> Figure:
    """Return ε–δ curves of one length, one for each |U|, with the least and the largest δ of the trials as a band."""
    low, high = ("low", "high") if strict else ("standard_low", "standard_high")
    drawn = {}
    for size, part in rows.groupby("excluded"):
        ordered = part.sort_values("epsilon")
        epsilon, delta, standard = (ordered[c].to_numpy(float) for c in ("epsilon", "delta", "delta_standard"))
        curve = Curve(epsilon, delta, standard, str(ordered["observed"].iloc[0]))
        band = (ordered[low].to_numpy(float), ordered[high].to_numpy(float))
        drawn[f"{size:,} left out"] = Drawn(curve, "direct", *band)
    figure = epsilon_delta(drawn, strict=strict)
    trials = int(rows["trials"].iloc[0])
    caveat = f"Lines are means over {trials} random sets, bands their least and largest δ. {figure.caveat}"
    return Figure(figure.plot, figure.takeaway, caveat, figure.alt)


def growth(trials: pd.DataFrame, fits: pd.DataFrame) -> Figure:
    """Return ε at fixed δ over |U|, a point a trial, with its power law, both logarithmic.

    Args:
        trials: a row a trial, columns `epsilon_at_*` (strict), `excluded`, `constant`.
        fits: a row a measure and δ; the strict ones are drawn.
    """
    plot, said = go.Figure(), []
    sizes = np.sort(trials["excluded"].unique()).astype(float)
    strict = fits[fits["measure"] == "strict"]
    colours = (palette.BLUE, palette.VERMILION, palette.GREEN, palette.PINK)
    for number, (_, fit) in enumerate(strict.iterrows()):
        delta, colour, symbol = float(fit["at_delta"]), colours[number % 4], _SYMBOLS[number % 4]
        epsilon = trials[f"epsilon_at_{delta:g}"].astype(float)
        shown = np.isfinite(epsilon) & (epsilon > 0)
        plot.add_scatter(
            x=trials["excluded"][shown], y=epsilon[shown], mode="markers", name=f"δ = {delta:g}",
            marker={"color": colour, "symbol": symbol, "size": 7, "opacity": 0.6},
            hovertemplate="%{x} left out: ε = %{y:.3g}<extra></extra>",
        )  # fmt: skip
        if np.isfinite(float(fit["exponent"])):
            plot.add_scatter(
                x=sizes, y=float(fit["factor"]) * sizes ** float(fit["exponent"]), mode="lines", showlegend=False,
                line={"color": colour, "width": 2}, hoverinfo="skip",
            )  # fmt: skip
            said.append(_fitted(delta, fit))
        elif int(fit["infinite"]):
            said.append(f"At δ = {delta:g} ε is infinite in {int(fit['infinite'])} trials, so no power law is fitted.")
    least = trials.groupby("excluded")["constant"].mean()
    plot.add_scatter(
        x=least.index.astype(float), y=least.abs(), mode="lines", name="what the size of U alone gives",
        line={"color": palette.GREY, "dash": "dot"}, hovertemplate="%{x} left out: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    styled(plot, x="|U|: units left out", y="ε (nats), strict δ", height=340)
    plot.update_xaxes(type="log", dtick=1)
    plot.update_yaxes(type="log", exponentformat="power")
    takeaway = " ".join(said) or "No trial has a finite ε above 0."
    caveat = (
        "Trials with an infinite ε are counted, not drawn: where there are some, growth looks flatter than it is. "
        "Under strict δ a trial's ε is never less than what the size of its U alone gives (dotted: the trials' mean), "
        "which tells how many words U wrote and nothing else. "
        f"{INTERNAL}"
    )
    return Figure(plot, takeaway, caveat, f"Points of ε over the number of people left out. {takeaway}")


def _fitted(delta: float, fit: pd.Series) -> str:
    """Return the power law in words, beside the thesis' own where it measured the same."""
    text = f"At δ = {delta:g} ε grows as |U| to the power {float(fit['exponent']):.2f}"
    low, high = fit["low"], fit["high"]
    if low is not None and low == low:
        text += f" (95%: {float(low):.2f} to {float(high):.2f})"
    if int(fit["infinite"]):
        text += f", {int(fit['infinite'])} of {int(fit['infinite']) + int(fit['used'])} trials infinite"
    forms = str(fit.get("words", lemmas.FORMS)) == lemmas.FORMS
    if forms and int(fit["n"]) == 1 and str(fit["unit"]) == "source" and delta == 0.001:
        text += f"; the thesis found {THESIS_EXPONENT} for single words of chats"
    return text + "."
