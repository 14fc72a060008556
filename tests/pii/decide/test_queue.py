"""The order of review, the value table and the estimate of missed identifiers."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.pii.decide.queue import clopper_pearson, residual_risk, review_queue, span_risk, value_table

COLUMNS = ["record_id", "start", "end", "label", "score", "recogniser", "identifier_type", "state", "decided"]


def spans(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


ROWS = spans(
    ("sure", 0, 4, "PERSON", 1.0, "tagger", "direct", "accepted", False),
    ("doubt", 0, 4, "PERSON", 0.5, "tagger", "direct", "accepted", False),
    ("quasi", 0, 4, "DATE", 0.5, "tagger", "quasi", "accepted", False),
    ("done", 0, 4, "PERSON", 0.5, "tagger", "direct", "accepted", True),
)


def test_doubtful_direct_identifiers_come_first_and_decided_ones_last() -> None:
    queue = review_queue(ROWS)
    assert list(queue["record_id"]) == ["doubt", "quasi", "sure", "done"]
    assert list(queue["risk"]) == pytest.approx([1.0, 0.5, 0.1, 0.0])
    assert list(queue["undecided"]) == [1, 1, 1, 0]
    assert list(queue["decided"]) == [False, False, False, True]


def test_rare_values_come_before_frequent_ones() -> None:
    risk = span_risk(ROWS, counts=pd.Series([1, 4, 1, 1]))
    assert list(risk) == pytest.approx([0.1, 0.5, 0.5, 0.0])  # the doubtful name occurs four times: 1 / sqrt(4)


def test_a_threshold_moves_the_doubt() -> None:
    assert span_risk(ROWS, thresholds={"PERSON": 1.0}).iloc[0] == pytest.approx(1.0)


def test_risks_of_one_record_add_up() -> None:
    two = spans(
        ("r", 0, 4, "DATE", 0.5, "tagger", "quasi", "accepted", False),
        ("r", 5, 9, "DATE", 0.5, "tagger", "quasi", "accepted", False),
    )
    assert review_queue(two)["risk"].iloc[0] == pytest.approx(0.75)  # 1 - 0.5 * 0.5


def test_value_table_folds_case_and_space() -> None:
    table = value_table(
        spans(
            ("a", 0, 8, "PERSON", 0.9, "tagger", "direct", "accepted", True),
            ("a", 13, 21, "PERSON", 0.9, "tagger", "direct", "rejected", True),
            ("b", 0, 9, "PERSON", 0.9, "tagger", "direct", "accepted", False),
            ("b", 13, 17, "LOCATION", 0.9, "tagger", "quasi", "accepted", True),
        ),
        {"a": "Anna Kos and anna kos", "b": "Anna  Kos in Oslo"},
    )
    assert table.to_dict("records") == [
        {"value": "Anna Kos", "label": "PERSON", "count": 3, "records": 2, "state": "mixed", "decided": False},
        {"value": "Oslo", "label": "LOCATION", "count": 1, "records": 1, "state": "accepted", "decided": True},
    ]


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
    assert residual_risk(ROWS, set()) is None
    empty = residual_risk(ROWS.iloc[:0], {"x"})
    assert empty is not None
    assert (empty.value, empty.high, empty.n) == (0.0, 1.0, 0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (1, 100, 0.00025, 0.0545), (0, 0, 0.0, 1.0)],  # R: binom.test
)
def test_clopper_pearson(hits: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(hits, n) == pytest.approx((low, high), abs=1e-4)
