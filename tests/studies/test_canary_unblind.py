"""Audits of simulated scores: what noise gives, what an echo gives, and that coins decide nothing beforehand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.studies.canary_audit.unblind import MEASURED, Declaration, best_numbers, guess, right, unblind, verdict
from engine.studies.canary_audit.unblind import Guesses as Coins

DECLARED = Declaration(
    "simulated", "prefix", "ngram", 100, 1, 1, "coin", 25, 0, 0.0, 0.0, 0.0, "record", "zero-out", "0" * 64
)


def simulated(rng: np.random.Generator, declared: Declaration, shift: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Return normal scores, higher by `shift` where the coin says in."""
    coins = rng.random((declared.repeats, declared.canaries)) < 0.5
    inside = coins if declared.design == "coin" else np.concatenate([coins, ~coins], axis=1)
    rows = []
    for repeat in range(declared.repeats):
        values = rng.normal(size=inside.shape[1]) + shift * inside[repeat]
        rows.append(
            pd.DataFrame({"repeat": repeat, "canary": np.arange(inside.shape[1]), "exact": values > 4, "run": 0.0,
                          "ngram": values, "nearest": values, "ranks": values})
        )  # fmt: skip
    return pd.concat(rows, ignore_index=True), coins


def audits(declared: Declaration, shift: float, seeds: range) -> pd.DataFrame:
    """Return the bounds tables of many simulated audits."""
    tables = []
    for seed in seeds:
        scores, coins = simulated(np.random.default_rng([seed, 1]), declared, shift)
        tables.append(unblind(declared, scores, coins, seed)["bounds"].assign(seed=seed))
    return pd.concat(tables, ignore_index=True)


@pytest.mark.parametrize("design", ["coin", "twin"])
def test_noise_is_called_a_leak_in_one_audit_of_twenty_at_most(design) -> None:
    declared = replace(DECLARED, delta=1e-5, claim_delta=1e-5, canaries=60, guesses_in=15, design=design)
    found = audits(declared, 0.0, range(60))
    false = found.groupby("bound")["epsilon_lower"].apply(lambda values: (values > 0).mean())
    assert len(false) == 6
    assert (false <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 60)).all(), false


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "repeats", "guesses_out", "seeds"), [("coin", 1, 0, 600), ("coin", 3, 20, 150), ("twin", 1, 20, 600)]
)
def test_false_alarms_over_many_seeds(design, repeats, guesses_out, seeds) -> None:
    declared = replace(DECLARED, delta=1e-5, claim_delta=1e-5, design=design, repeats=repeats, guesses_out=guesses_out)
    found = audits(declared, 0.0, range(1000, 1000 + seeds))
    false = found.groupby("bound")["epsilon_lower"].apply(lambda values: (values > 0).mean())
    assert (false <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / seeds)).all(), false


def test_an_echo_is_found_and_named() -> None:
    found = audits(replace(DECLARED, claim_epsilon=0.5), 2.5, range(20))
    first = found[found["decides"]]
    assert len(first) == 20
    assert (first["verdict"] == "violation").mean() >= 0.9
    assert (first["epsilon_lower"] <= first["ceiling"]).all()
    assert (found["epsilon_lower"] <= found["ceiling"] + 1e-9).all()
    tested = found[found["p_value"].notna()]
    assert set(tested["bound"]) == {"one-run", "one-run curve", "one-run split"}
    assert ((tested["p_value"] <= 0.05) == (tested["verdict"] == "violation")).all()
    assert found.groupby("bound")["epsilon_lower"].median().min() > 0.3


def test_more_guesses_and_more_runs_raise_the_ceiling() -> None:
    one = audits(DECLARED, 3.0, range(1)).set_index("bound")["ceiling"]
    more = audits(replace(DECLARED, repeats=4, guesses_in=100), 3.0, range(1)).set_index("bound")["ceiling"]
    assert one["one-run"] == pytest.approx(2.06, abs=0.01)
    assert more["one-run"] == pytest.approx(3.493, abs=1e-3)


def test_tables_hold_numbers_only_and_count_right() -> None:
    declared = replace(DECLARED, repeats=2, guesses_in=50, guesses_out=10)
    scores, coins = simulated(np.random.default_rng(0), declared, 2.0)
    tables = unblind(declared, scores, coins, 0)
    assert set(tables) == {"declaration", "bounds", "canaries", "echo", "signals"}
    listed = tables["canaries"]
    assert list(listed.columns) == ["repeat", "canary", "kind", "in", "guess", *MEASURED]
    assert (listed["guess"] == "in").sum() == 50
    assert (listed["guess"] == "out").sum() == 10
    correct = ((listed["guess"] == "in") & listed["in"]).sum() + ((listed["guess"] == "out") & ~listed["in"]).sum()
    row = tables["bounds"].iloc[0]
    assert (row["bound"], row["canaries"], row["guesses"], row["right"]) == ("one-run", 200, 60, correct)
    echo = tables["echo"].set_index(["echo", "side"])
    assert echo.loc[("whole", "in"), "share"] == pytest.approx(scores["exact"][coins.reshape(-1)].mean())
    assert echo.loc[("whole", "in"), "canaries"] == coins.sum()
    signals = tables["signals"].set_index("score")
    assert signals.loc["ngram", "declared"]
    assert signals.loc["ngram", "low"] > 0.5
    assert signals.loc["run", "auc"] == 0.5
    assert tables["declaration"].loc[0, "commitment"] == "0" * 64


def test_twins_are_told_apart_by_the_difference() -> None:
    declared = replace(DECLARED, design="twin", guesses_in=20, guesses_out=20, claim_epsilon=None)
    scores, coins = simulated(np.random.default_rng(1), declared, 2.0)
    tables = unblind(declared, scores, coins, 0)
    assert len(tables["canaries"]) == 200
    assert tables["canaries"]["in"].sum() == 100
    first, second = (tables["canaries"][tables["canaries"]["canary"].between(a, a + 99)] for a in (0, 100))
    turned = {"in": "out", "out": "in", "none": "none"}
    assert first["guess"].map(turned).tolist() == second["guess"].tolist()
    assert set(tables["bounds"]["verdict"]) == {"no claim"}
    assert tables["bounds"]["epsilon_lower"].iloc[0] > 1.0


def test_ties_are_not_broken_by_the_coins() -> None:
    coins = np.arange(400) % 2 == 0
    hits = [right(guess(np.zeros(400), 100, 0, seed), coins) for seed in range(200)]
    assert np.mean(hits) == pytest.approx(50.0, abs=1.5)


def test_numbers_of_guesses_follow_the_signal() -> None:
    rng = np.random.default_rng(3)
    coins = rng.random(300) < 0.5
    only_high = np.where(coins & (rng.random(300) < 0.4), 10.0, rng.normal(size=300))
    high, low = best_numbers(Coins(only_high, coins, np.arange(300)), 0.0, 0)
    assert 30 <= high <= 75
    assert low <= 30
    assert best_numbers(Coins(np.zeros(300), coins, np.arange(300)), 0.0, 5)[0] > 0


def test_a_bound_below_the_claim_is_never_a_confirmation() -> None:
    assert verdict(0.9, 1.0) == "no violation seen"
    assert verdict(1.1, 1.0) == "violation"
    assert verdict(5.0, None) == "no claim"
