"""Figures of the study `dp-methods`: each measure against the number of records, a line a method, one figure an ε."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engine.figures import palette
from engine.figures.base import Figure
from engine.studies.bench.figures import along, finite, measures_of, share_of
from engine.studies.dp_methods.run import PUBLIC

CAVEAT = (
    "All runs are held against the same private texts, and smaller sets lie within larger ones. Choosing a method by "
    "these figures for the same corpus is a choice made by private text; for another corpus it is not."
)


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return a figure a measure and ε that any method has a value of."""
    if not {"summary", "comparison"} <= set(tables):
        return []
    summary, comparison = tables["summary"], tables["comparison"]
    methods, floor = summary[summary["method"] != PUBLIC], summary[summary["method"] == PUBLIC]
    colours = {str(name): palette.of_method(str(name)) for name in methods["method"].unique()}
    found = []
    for measure in measures_of(methods):
        for epsilon in sorted(dict.fromkeys(methods["epsilon"].astype(str)), key=finite):
            own = methods[methods["epsilon"].astype(str) == epsilon]
            if not own.loc[own["measure"] == measure, "value"].notna().any():
                continue
            places = [f"{n:,}" for n in sorted(dict.fromkeys(own["n"].astype(int)))]
            of = comparison[comparison["one"].isin(set(own["variant"]))]
            figure = along(
                own.assign(at=own["n"].astype(int).map("{:,}".format)), measure, "at", "method",
                x="Training records", takeaway=f"at ε = {epsilon}, {share_of(of, measure, PUBLIC)}", caveat=CAVEAT,
                level=("Public text (ε = 0)", floor), category=places, colours=colours,
            )  # fmt: skip
            found.append((f"{measure}, ε = {epsilon}", figure))
    return found
