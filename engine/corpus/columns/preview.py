"""What the Load page shows before anything is imported."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.columns.proposals import PersonColumn


@dataclass(frozen=True)
class FilePreview:
    """The first rows of a file as text (missing cells None), what was detected, and what is proposed."""

    filename: str
    format: str
    encoding: str | None
    delimiter: str | None
    columns: list[str]
    rows: pd.DataFrame = field(repr=False)
    total_rows: int | None
    suggested: ColumnMapping
    warnings: list[str]
    person: PersonColumn | None = None
