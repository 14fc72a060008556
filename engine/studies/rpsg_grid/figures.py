"""Figures of the study `rpsg-grid`: each measure against the number of texts, a line a temperature (Figures 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engine.figures.base import Figure
from engine.studies.bench.figures import along, measures_of
from engine.studies.rpsg_grid.tables import sentence

CAVEAT = (
    "Values of most measures move with the number of texts by themselves; the green line is the mean of real text at "
    "the same numbers."
)


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return a figure a measure that any cell has a value of."""
    if not {"summary", "effects"} <= set(tables):
        return []
    summary, tested = tables["summary"], tables["effects"]
    rows = summary.assign(line=[f"temperature {t:g}" for t in summary["temperature"]])
    made = []
    for measure in measures_of(rows):
        own = tested[tested["measure"] == measure]
        said = " ".join(sentence(own, axis) for axis in dict.fromkeys(own["axis"]))
        figure = along(
            rows, measure, "size", "line", x="Texts", takeaway=said or "there is one cell so far.", caveat=CAVEAT
        )
        figure.plot.update_xaxes(type="log", tickvals=sorted(set(rows["size"])), tickformat=",")
        made.append((measure, figure))
    return made
