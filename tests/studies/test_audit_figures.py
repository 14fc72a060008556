"""Figures of the canary audit: red only above the claim, ceilings drawn, words that follow from the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.figures import palette
from engine.studies.canary_audit.figures import figures, sentence
from engine.studies.canary_audit.unblind import Declaration, unblind
from engine.studies.figures import figures as of_study

DECLARED = Declaration("m", "prefix", "ngram", 80, 1, 1, "coin", 40, 0, 1e-5, 1.0, 1e-5, "record", "zero-out", "0" * 64)


def tables(shift: float, **changes: object) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(2)
    coins = rng.permutation(np.arange(80) % 2 == 0)[None]
    values = rng.normal(size=80) + shift * coins[0]
    scores = pd.DataFrame({"repeat": 0, "canary": np.arange(80), "exact": coins[0] & (shift > 1), "run": values > 1,
                           "ngram": values, "nearest": values, "ranks": values})  # fmt: skip
    return unblind(replace(DECLARED, **changes), scores, coins, 0)  # type: ignore[arg-type]


def reds(plot) -> list[float]:
    return [x for trace in plot.data if trace.name == "Above the claim" for x in trace.x]


def test_a_refuted_claim_is_red_and_said_so() -> None:
    made = dict(figures(tables(9.0)))
    assert list(made) == ["bounds", "echo", "signals"]
    plot = made["bounds"].plot
    assert reds(plot)
    assert all(x > 1.0 for x in reds(plot))
    assert [t.marker.color for t in plot.data if t.name == "Above the claim"] == [palette.VERMILION]
    assert "refuted" in made["bounds"].takeaway
    assert "40 of 40 guesses were right" in made["bounds"].takeaway
    assert "never a certificate" in made["bounds"].caveat
    assert "100% of the planted canaries come back whole" in made["echo"].takeaway
    assert "tells planted canaries" in made["signals"].takeaway


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "No violation seen"),
        ({"claim_epsilon": 8.0}, "could not have refuted the claim of 8"),
        ({"claim_epsilon": None, "claim_delta": None}, "this audit could show"),
    ],
)
def test_without_a_violation_nothing_is_red(changes, words) -> None:
    found = tables(0.0, **changes)
    made = dict(figures(found))
    assert reds(made["bounds"].plot) == []
    assert words in made["bounds"].takeaway == sentence(found["bounds"])
    lines = made["bounds"].plot.layout.shapes
    assert len(lines) == (0 if changes.get("claim_epsilon", 1.0) is None else 1)
    assert "None at all still allows up to" in made["echo"].caveat
    assert "does not tell" in made["signals"].takeaway


def test_ceilings_are_drawn_for_every_bound() -> None:
    found = tables(2.0)["bounds"]
    plot = dict(figures({"bounds": found}))["bounds"].plot
    ends = [trace.x[1] for trace in plot.data if trace.mode == "lines+markers"]
    assert ends == found["ceiling"].tolist()


def test_the_study_finds_its_figures_and_has_none_before_the_coins_are_open() -> None:
    found = tables(1.0)
    assert [name for name, _ in of_study("canary-audit", found)] == ["bounds", "echo", "signals"]
    assert of_study("canary-audit", {"declaration": found["declaration"]}) == []
    for name, figure in figures(found):
        assert figure.takeaway.endswith("."), name
        assert figure.caveat.endswith("."), name
        assert figure.alt.endswith("."), name
        assert figure.plot.layout.paper_bgcolor == "rgba(0,0,0,0)"
