"""How much detection probably missed, from the records a person read to the end.

Source: Clopper and Pearson 1934 for the interval.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from engine.pii.decide.rules import ADDED_BY


@dataclass(frozen=True)
class ResidualRisk:
    """Share of identifiers that detection misses: estimate, 95% interval, identifiers and misses seen."""

    value: float
    low: float
    high: float
    n: int
    missed: int
    records: int


def residual_risk(spans: pd.DataFrame, reviewed: Collection[str]) -> ResidualRisk | None:
    """Estimate the share of identifiers that detection left in, from records a person read.

    In a reviewed record the spans added by the custodian are what detection missed; the other accepted
    spans are what it found. The estimate holds for the rest of the corpus only if the reviewed records were
    not chosen by what detection found in them.

    Args:
        spans: resolved spans with record_id, recogniser, state.
        reviewed: ids of the records that were read to the end.

    Returns:
        None where no record was reviewed; without any identifier the upper bound is 1.
    """
    if not reviewed:
        return None
    rows = spans[spans["record_id"].isin(list(reviewed)) & (spans["state"] == "accepted")]
    missed, n = int((rows["recogniser"] == ADDED_BY).sum()), len(rows)
    low, high = clopper_pearson(missed, n)
    return ResidualRisk(missed / n if n else 0.0, low, high, n, missed, len(set(reviewed)))


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of hits / n at `level`; (0, 1) where n is 0."""
    from scipy.stats import beta

    if n == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - tail, hits + 1, n - hits))
    return low, high
