"""Figure of the study `repeats`: each repeat of both settings, measure by measure."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engine.figures.base import Figure
from engine.studies.bench.figures import side_by_side


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figure, where anything was measured."""
    if not {"runs", "summary", "comparison"} <= set(tables):
        return []
    made = side_by_side(tables["runs"], tables["summary"], tables["comparison"])
    return [] if made is None else [("repeats", made)]
