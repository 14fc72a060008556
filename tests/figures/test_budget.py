"""Figures of guarantees, ledgers and rounds: what they say of numbers checked by hand."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from engine import figures
from engine.dp.accounting.closed_form import delta_standard, delta_strict, mu_of
from engine.figures.budget import chance_at_most, probability


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.19, "19%"), (1.32e-5, "1 in 75,758"), (0.0, "practically zero"), (float("nan"), "an unknown chance")],
)
def test_small_probabilities_read_as_odds(value, words):
    assert probability(value) == words


def curve(epsilon: float = 4.0, delta: float = 1.2282e-5) -> figures.Figure:
    mu = mu_of(epsilon, delta)
    grid = [0.05 * i for i in range(200)]
    return figures.guarantee_curve(
        grid, [delta_standard(mu, e) for e in grid], [delta_strict(mu, e) for e in grid], epsilon, delta
    )


def test_curve_holds_both_deltas_and_the_claim():
    figure = curve()
    standard, strict, claim = figure.plot.data
    assert (claim.x[0], claim.y[0]) == (4.0, 1.2282e-5)
    assert all(a <= b for a, b in zip(standard.y, strict.y, strict=True) if a and b), "strict lies above"
    assert figure.plot.layout.yaxis.type == "log"
    assert "ε = 2 at δ" in figure.takeaway


def test_curve_without_a_claim_marks_none():
    assert len(figures.guarantee_curve([0.0, 1.0], [0.0, 0.0], [0.0, 0.0], 0.0, 0.0).plot.data) == 2


def lines(**changes: object) -> pd.DataFrame:
    rows = [
        ("limit", 0.0), ("reserve", 0.6), ("spend", 0.6), ("spend", 0.6), ("settle", 0.6), ("touch", None),
        ("release", None),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["kind", "share_after"])
    return frame.assign(seq=range(1, 8), at=[f"2026-01-0{i}T00:00:00Z" for i in range(1, 8)], **changes)


def test_timeline_counts_lines_and_keeps_the_share_where_a_line_says_nothing():
    figure = figures.ledger_timeline(lines(), 10.0)
    assert list(figure.plot.data[0].y) == pytest.approx([0, 60, 60, 60, 60, 60, 60])
    assert "60% of the limit of ε = 10" in figure.alt
    assert "2 noisy answers drawn, 1 use without a guarantee, 1 release." in figure.takeaway


def test_timeline_holds_no_sentence_and_survives_no_lines():
    figure = figures.ledger_timeline(lines(sentence="SECRET WORDS"), 10.0)
    assert "SECRET" not in json.dumps(figure.plot.to_plotly_json(), default=str)
    assert "0% of the limit" in figures.ledger_timeline(lines().iloc[:0], 10.0).alt


@pytest.mark.parametrize(
    ("values", "better", "words"),
    [
        ([0.5, 0.4, 0.3], "lower", "0.5 at first, 0.3 after round 3, better."),
        ([0.5, 0.6, 0.7], "lower", "worse"),
        ([0.5, float("nan"), 0.5], "higher", "0.5 after round 3."),
        ([0.5, float("nan"), float("nan")], "", "too few rounds"),
    ],
)
def test_rounds_say_which_way_they_went(values, better, words):
    figure = figures.over_rounds([1, 2, 3], values, title="Distance", axis="distance", better=better)
    assert words in figure.takeaway
    assert "must not leave" in figure.caveat


def test_attack_grid_names_the_range_and_the_runs_own_cell():
    rows = [
        {"similarity_keep": a, "nll_keep": b, "retained": 10, "auc": 0.5 + a * b / 10}
        for a in (0.5, 1.0)
        for b in (0.5, 1.0)
    ]
    figure = figures.attack_grid([*rows, {"similarity_keep": 0.5, "nll_keep": 0.1, "auc": float("nan")}], (0.9, 0.9))
    assert "between 0.53 and 0.60" in figure.takeaway  # 0.5 + 0.025, 0.5 + 0.1
    assert "about 0.60" in figure.takeaway
    assert "Too few" in figures.attack_grid([]).takeaway


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.75e-4, "1 in 5,714"), (1e-4, "1 in 10,000"), (1 / 1999.5, "1 in 1,999"), (0.051, "6%"), (0.05, "5%"),
     (0.0, "practically zero"), (1.0, "100%")],
)  # fmt: skip
def test_a_bound_on_a_chance_is_never_said_smaller_than_it_is(value, said):
    assert chance_at_most(value) == said
