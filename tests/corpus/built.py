"""A corpus of a table in one call, as an import makes it."""

from __future__ import annotations

import pandas as pd

from engine.corpus import build
from engine.corpus.build import BuiltCorpus
from engine.corpus.columns.mapping import ColumnMapping


def build_corpus(
    table: pd.DataFrame,
    mapping: ColumnMapping,
    *,
    unit: str,
    cap: int,
    holdout_rate: float,
    key: bytes,
    filename: str,
) -> BuiltCorpus:
    """Return the corpus of a table as `read_table` gives it."""
    build.check_settings(mapping, unit, cap, holdout_rate)
    taken = build.take(table, mapping, filename)
    return build.build_corpus(taken, unit=unit, cap=cap, holdout_rate=holdout_rate, key=key, filename=filename)
