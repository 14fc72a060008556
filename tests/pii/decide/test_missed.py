"""The estimate of missed identifiers."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.pii.decide.missed import clopper_pearson, residual_risk

COLUMNS = ["record_id", "start", "end", "label", "score", "recogniser", "identifier_type", "state", "decided"]


def spans(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_residual_risk_counts_added_spans_of_reviewed_records() -> None:
    table = spans(
        *[("a", i, i + 1, "PERSON", 0.9, "tagger", "direct", "accepted", True) for i in range(8)],
        ("a", 20, 21, "PERSON", 0.9, "tagger", "direct", "rejected", True),
        *[("a", 30 + i, 31 + i, "MISC", 1.0, "custodian", "quasi", "accepted", True) for i in range(2)],
        ("b", 0, 1, "MISC", 1.0, "custodian", "quasi", "accepted", True),
    )
    found = residual_risk(table, {"a"})
    assert found is not None
    assert (found.value, found.n, found.missed, found.records) == (0.2, 10, 2, 1)
    assert (found.low, found.high) == pytest.approx((0.0252, 0.5561), abs=1e-4)  # R: binom.test(2, 10)


def test_residual_risk_without_review_or_without_spans() -> None:
    assert residual_risk(spans(), set()) is None
    empty = residual_risk(spans(), {"x"})
    assert empty is not None
    assert (empty.value, empty.high, empty.n) == (0.0, 1.0, 0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (1, 100, 0.00025, 0.0545), (0, 0, 0.0, 1.0)],  # R: binom.test
)
def test_clopper_pearson(hits: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(hits, n) == pytest.approx((low, high), abs=1e-4)
