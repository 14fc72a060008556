"""Figures of the study `surprisal` that set models of lemmas beside models of the records as written.

Privacy posture: drawn from tables of numbers; records are not named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.figures.iterations import INTERNAL
from engine.studies import lemmas

FORMS = "Models were tuned on the records as they are written (word forms) and asked about them."
LEMMAS = "Models were tuned on records in which every word is its first form, and asked about such records."
_DRAWN = {
    lemmas.FORMS: ("as written", palette.VERMILION, "circle"),
    lemmas.LEMMAS: ("lemmas", palette.BLUE, "diamond"),
}


def told(figure: Figure, words: pd.DataFrame | None, *kinds: str) -> Figure:
    """Return a figure that says what models were tuned on, and why there are none of lemmas."""
    said = [text for kind, text in ((lemmas.FORMS, FORMS), (lemmas.LEMMAS, LEMMAS)) if kind in kinds]
    if words is not None:
        rows = words[words["words"] == lemmas.LEMMAS]
        missing = rows["by"] == ""
        said += rows["said"][missing | (lemmas.LEMMAS in kinds)].tolist()
    head = "Lemmas: " if kinds == (lemmas.LEMMAS,) else ""
    return replace(figure, takeaway=head + figure.takeaway, caveat=f"{' '.join(said)} {figure.caveat}")


def beside(tables: Mapping[str, pd.DataFrame]) -> tuple[str, Figure]:
    """Return the AUC of all models together by each score, as written and on lemmas, controls beside them."""
    table = tables["models"]
    table = table[table["model"] == -1]
    plot = go.Figure()
    said = []
    for kind, (name, colour, symbol) in _DRAWN.items():
        rows = lemmas.of_kind(table, kind)
        for prefix, more, shape in (("", "", symbol), ("control_", ", control", f"{symbol}-open")):
            value, low, high = (rows[f"{prefix}{part}"].astype(float) for part in ("auc", "low", "high"))
            plot.add_scatter(
                x=rows["score"], y=value, mode="markers", name=name + more,
                marker={"color": colour, "symbol": shape, "size": 9},
                error_y={"type": "data", "symmetric": False, "array": (high - value).fillna(0),
                         "arrayminus": (value - low).fillna(0), "thickness": 1.5},
                hovertemplate="%{x}: AUC %{y:.3f}<extra>" + name + more + "</extra>",
            )  # fmt: skip
        best = rows.iloc[-1]
        said.append(f"{best['auc']:.3f} ({best['low']:.3f} to {best['high']:.3f}) {_ON[kind]}")
    plot.add_hline(y=0.5, line={"color": palette.GREY, "dash": "dot"}, annotation_text="chance")
    styled(plot, x="Score", y="AUC over all models", height=340)
    plot.update_layout(scattermode="group")
    takeaway = (
        f"By {_SAID[str(table['score'].iloc[-1])]}, people in training are told from those left out with an AUC of "
    )
    takeaway += f"{listed(said)}."
    caveat = (
        "The same people are left out of both, and models have the same seeds. Models of lemmas are made for this "
        f"comparison alone: none is part of a run. {INTERNAL}"
    )
    figure = Figure(plot, takeaway, caveat, f"Points of AUC a score. {takeaway}")
    return "words", told(figure, tables.get("words"), *_DRAWN)


_ON = {lemmas.FORMS: "on records as written", lemmas.LEMMAS: "on lemmas"}
_SAID = {
    "surprisal": "surprisal",
    "a token": "surprisal a token",
    "against untuned": "surprisal against the untuned model",
}
