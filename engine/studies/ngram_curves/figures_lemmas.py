"""Figures of direct drawing that set lemmas beside word forms: inflection makes words rare, and rare words tell.

Privacy posture: drawn from tables of numbers; n-grams are not named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from plotly.subplots import make_subplots

from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.figures.budget import FLOOR, probability
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import READ_AT, rarity
from engine.studies import lemmas

NAMES = {
    lemmas.FORMS: {1: "word forms", 2: "pairs of word forms", 3: "three word forms in a row"},
    lemmas.LEMMAS: {1: "lemmas", 2: "pairs of lemmas", 3: "three lemmas in a row"},
}
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
_RULE = (
    "A lemma is made from its form alone by a public rule, so standard δ of one lemma is never above that of one form "
    "with the same people left out; it says what drawing lemmas gives away, not what a released text does."
)


def told(figure: Figure, words: pd.DataFrame | None, *kinds: str) -> Figure:
    """Return a figure that says whether forms or lemmas were counted, and why there are no lemmas."""
    if words is None:  # of an earlier edition
        return replace(figure, caveat=f"{lemmas.SAID[lemmas.FORMS]} {figure.caveat}")
    own = [str(said) for kind, said, number in zip(words["words"], words["said"], words["distinct"], strict=True)
           if kind in kinds or not number]  # fmt: skip
    head = "Lemmas: " if kinds == (lemmas.LEMMAS,) else ""
    return replace(figure, takeaway=head + figure.takeaway, caveat=f"{' '.join(own)} {figure.caveat}")


def beside(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return curves and rarity of word forms and lemmas side by side, a figure a length."""
    words = tables.get("direct_words")
    made = []
    table = _open(tables["direct_curves"])
    for n in sorted(int(n) for n in table["n"].unique()):
        power = _open(tables["direct_power"])
        made.append((f"words_{n}", curves(table[table["n"] == n], power[power["n"] == n])))
        shares = tables["direct_rarity"]
        shares = shares[(shares["n"] == n) & (shares["of"] == "all")]
        made.append((f"words_rarity_{n}", rare(shares, n)))
    return [(name, told(figure, words, *NAMES)) for name, figure in made]


def _open(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["censor"] == 0]


def curves(rows: pd.DataFrame, power: pd.DataFrame) -> Figure:
    """Return standard ε–δ curves of one length, word forms on the left and lemmas on the right.

    Args:
        rows: a row a kind, |U| and ε. power: fits of the same length, a row a kind, measure and δ.
    """
    n = int(rows["n"].iloc[0])
    titles = [NAMES[kind][n] for kind in NAMES]
    plot = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=titles)
    read: dict[int, list[float]] = {}
    for column, kind in enumerate(NAMES, start=1):
        for number, (size, part) in enumerate(lemmas.of_kind(rows, kind).groupby("excluded")):
            ordered = part.sort_values("epsilon")
            name, delta = f"{size:,} left out", ordered["delta_standard"].astype(float)
            plot.add_scatter(
                x=ordered["epsilon"], y=delta.where(delta > FLOOR), mode="lines", name=name, legendgroup=name,
                showlegend=column == 1,
                line={"color": palette.OKABE_ITO[number % 7], "dash": _DASHES[number % 8], "width": 2.5},
                hovertemplate="ε = %{x:.4g}: δ = %{y:.2e}<extra>" + f"{name}, {NAMES[kind][n]}</extra>",
                row=1, col=column,
            )  # fmt: skip
            at = np.isclose(ordered["epsilon"], READ_AT)
            read.setdefault(int(str(size)), []).append(float(delta[at].iloc[0]))
    styled(plot, x="ε (nats)", y="standard δ", height=380)
    plot.update_yaxes(title="", col=2)
    plot.update_xaxes(type="log", exponentformat="power", dtick=1, matches="x")
    plot.update_yaxes(type="log", exponentformat="power", dtick=1)
    said = [
        f"with {size:,} left out {probability(form)} and {probability(lemma)}" for size, (form, lemma) in read.items()
    ]
    takeaway = f"δ at ε = ln 1.2, for {titles[0]} and for {titles[1]}: {listed(said)}. {_growth(power)}".strip()
    caveat = f"{_RULE} Lines are means over random sets of people: typical ones, not the worst case. {INTERNAL}"
    return Figure(plot, takeaway, caveat, f"Two charts of δ over ε. {takeaway}")


def _growth(power: pd.DataFrame) -> str:
    """Return the exponents of the standard ε at the largest δ for which both kinds have one."""
    standard = power[power["measure"] == "standard"]
    for delta in sorted(standard["at_delta"].unique(), reverse=True):
        rows = standard[standard["at_delta"] == delta]
        found = [lemmas.of_kind(rows, kind)["exponent"].astype(float).tolist() for kind in NAMES]
        if all(len(one) == 1 and np.isfinite(one[0]) for one in found):
            return (
                f"ε at standard δ = {delta:g} grows as |U| to the power {found[0][0]:.2f} for word forms and "
                f"{found[1][0]:.2f} for lemmas."
            )
    return ""


def rare(rows: pd.DataFrame, n: int) -> Figure:
    """Return how rare word forms and lemmas of one length are in all records.

    Args:
        rows: a row a kind and number of occurrences, columns words, occurrences, share.
    """
    parts = {NAMES[kind][n]: lemmas.of_kind(rows, kind) for kind in NAMES}
    return rarity(
        {name: (part["occurrences"].astype(int).tolist(), part["share"].astype(float).tolist())
         for name, part in parts.items()}
    )  # fmt: skip
