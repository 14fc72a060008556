"""Figures of the study `epsilon-sweep`: each measure against ε, a line a method, beside real and public text."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engine.figures import palette
from engine.figures.base import Figure
from engine.studies.bench.figures import along, finite, measures_of, share_of
from engine.studies.epsilon_sweep.run import PUBLIC

CAVEAT = (
    "All runs are held against the same private texts. Choosing an ε or a method by these figures is a choice made by "
    "private text."
)


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return a figure a measure that any method has a value of."""
    if not {"summary", "comparison"} <= set(tables):
        return []
    summary, comparison = tables["summary"], tables["comparison"]
    methods = summary[summary["method"] != PUBLIC]
    places = sorted(dict.fromkeys(methods["epsilon"].astype(str)), key=finite)
    colours = {str(name): palette.of_method(str(name)) for name in methods["method"].unique()}
    floor = summary[summary["method"] == PUBLIC]
    return [
        (
            measure,
            along(
                methods, measure, "epsilon", "method", x="ε (∞: no noise, an internal reference)",
                takeaway=share_of(comparison, measure, PUBLIC), caveat=CAVEAT,
                level=("Public text (ε = 0)", floor), category=places, colours=colours,
            ),
        )
        for measure in measures_of(methods)
    ]  # fmt: skip
