"""What one part of an examination adds to the whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.findings import Finding

LISTED = 100_000  # passages, and marks, of a side that the table `leaks` lists at most


@dataclass
class Part:
    """Findings, tables for figures, and signals for the approval order (one float a synthetic record)."""

    findings: list[Finding] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    signals: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def add(self, other: Part) -> None:
        """Take over another part's results; tables of one name are put one below the other."""
        self.findings += other.findings
        self.signals |= other.signals
        for name, table in other.tables.items():
            known = self.tables.get(name)
            self.tables[name] = table if known is None else pd.concat([known, table], ignore_index=True)
