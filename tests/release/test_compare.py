"""Runs are told apart only where their intervals allow it."""

from __future__ import annotations

import math

import pytest

from engine.errors import UserError
from engine.examine.findings import Finding
from engine.release.compare import compare


def finding(name: str, value: float, low: float | None, high: float | None, *, reference: str = "train",
            direction: str = "lower is safer", group: str = "privacy") -> Finding:  # fmt: skip
    return Finding(name, value, low, high, 100, reference, f"share of {name}", direction, group)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("direction", "first", "second", "outcome"),
    [
        ("lower is safer", (0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "better"),
        ("lower is safer", (0.2, 0.1, 0.3), (0.5, 0.4, 0.6), "worse"),
        ("lower is better", (0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "better"),
        ("higher is better", (0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "worse"),
        ("higher is better", (0.2, 0.1, 0.3), (0.5, 0.4, 0.6), "better"),
        ("lower is safer", (0.5, 0.4, 0.6), (0.4, 0.3, 0.5), "cannot tell"),  # overlap
        ("lower is safer", (0.5, 0.4, 0.6), (0.3, 0.2, 0.4), "cannot tell"),  # touch
        ("lower is safer", (0.5, None, None), (0.1, None, None), "cannot tell"),  # no interval
        ("lower is safer", (0.5, None, None), (0.5, None, None), "same"),
        ("lower is safer", (math.nan, math.nan, math.nan), (0.1, 0.0, 0.2), "not measured"),
    ],
)
def test_outcome(direction: str, first: tuple, second: tuple, outcome: str) -> None:
    table = compare({
        "r-1": [finding("x", *first, direction=direction)],
        "r-2": [finding("x", *second, direction=direction)],
    })  # fmt: skip
    assert table.loc[0, "r-2 against first"] == outcome


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ((0.9, 0.85, 0.95), (0.55, 0.5, 0.6), "better"),  # real text has 0.5
        ((0.1, 0.05, 0.15), (0.55, 0.5, 0.6), "better"),  # too low is as far away as too high
        ((0.55, 0.5, 0.6), (0.9, 0.85, 0.95), "worse"),
        ((0.3, 0.25, 0.35), (0.7, 0.65, 0.75), "cannot tell"),  # same distance on both sides
    ],
)
def test_closer_to_real(first: tuple, second: tuple, outcome: str) -> None:
    def rows(values: tuple) -> list[Finding]:
        direction = "closer to real is better"
        return [
            finding("self_bleu", *values, reference="train", direction=direction, group="utility"),
            finding("self_bleu", 0.5, 0.49, 0.51, reference="real", direction=direction, group="utility"),
        ]

    table = compare({"r-1": rows(first), "r-2": rows(second)}).set_index("reference")
    assert table.loc["train", "r-2 against first"] == outcome
    assert table.loc["real", "r-2 against first"] == ""


def test_excess_over_the_holdout_is_judged() -> None:
    table = compare(
        {
            "r-1": [finding("pipp_excess", 0.5, 0.4, 0.6, reference="holdout")],
            "r-2": [finding("pipp_excess", 0.1, 0.0, 0.2, reference="holdout")],
        }
    )
    assert table.loc[0, "r-2 against first"] == "better"


def test_a_rate_of_the_synthetic_text_itself_is_judged_and_its_context_is_not() -> None:
    rows = [finding("pii_rate", 0.5, 0.4, 0.6, reference=reference) for reference in ("none", "train", "holdout")]
    table = compare({"r-1": rows, "r-2": [finding("pii_rate", 0.1, 0.0, 0.2, reference="none"), *rows[1:]]})
    assert list(table["r-2 against first"]) == ["better", "", ""]


def test_context_rows_are_not_judged() -> None:
    table = compare({
        "r-1": [finding("pipp", 0.5, 0.4, 0.6, reference="holdout")],
        "r-2": [finding("pipp", 0.1, 0.0, 0.2, reference="holdout")],
    })  # fmt: skip
    assert table.loc[0, "r-2 against first"] == ""


def test_missing_rows_and_columns() -> None:
    mauve = finding("mauve", 0.5, 0.4, 0.6, direction="higher is better", group="utility")
    table = compare({
        "r-1": [mauve, finding("pipp", 0.1, 0, 0.2)],
        "r-2": [finding("pipp", 0.1, 0, 0.2)],
        "r-3": [],
    })  # fmt: skip
    assert list(table["name"]) == ["pipp", "mauve"]  # privacy first
    assert math.isnan(table.loc[1, "r-2 value"])
    assert table.loc[1, "r-2 against first"] == "not measured"
    assert table.loc[0, "r-3 against first"] == "not measured"
    assert [c for c in table if c.startswith("r-1")] == ["r-1 value", "r-1 low", "r-1 high"]


def test_two_to_four_runs() -> None:
    for count in (0, 1, 5):
        with pytest.raises(UserError, match="two to four"):
            compare({f"r-{i}": [] for i in range(count)})
    assert compare({"r-1": [], "r-2": []}).empty
