"""The estimate of missed identifiers."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from engine.errors import UserError
from engine.pii.decide.missed import clopper_pearson, residual_risk, texts_to_read

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


def least_likely(records: int, read: int, hit: int, bad: int) -> float:
    """Return the chance of `hit` or fewer bad texts among `read`, counted with binomial coefficients."""
    ways = sum(math.comb(bad, i) * math.comb(records - bad, read - i) for i in range(hit + 1))
    return ways / math.comb(records, read)


@pytest.mark.parametrize(
    ("records", "read", "hit", "target"),
    [(40, 0, 0, 0.1), (40, 20, 0, 0.1), (500, 30, 0, 0.1), (500, 30, 2, 0.1), (20, 20, 3, 0.05), (1, 0, 0, 0.5)],
)
def test_the_bound_on_texts_is_exact(records, read, hit, target):
    found = texts_to_read(records, read, hit, target)
    bad = round(found.high * records) + hit
    assert least_likely(records, read, hit, bad) > 0.05
    if bad < records - (read - hit):
        assert least_likely(records, read, hit, bad + 1) <= 0.05
    assert texts_to_read(records, read + found.more, hit, target).high <= target
    if found.more:
        assert texts_to_read(records, read + found.more - 1, hit, target).high > target
        assert f"{found.more:,} more text" in found.sentence


def test_of_a_large_corpus_about_29_clean_texts_bring_the_bound_to_a_tenth():
    assert texts_to_read(1_000_000, 0, 0, 0.1).more == 29  # 0.9 ** 29 < 0.05
    with pytest.raises(UserError, match="target"):
        texts_to_read(10, 0, 0, 1.0)
