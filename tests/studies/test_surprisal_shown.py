"""Surprisal tables: simulated models that remember, and that do not."""

import numpy as np
import pandas as pd
import pytest

from engine.studies.surprisal import counterfactual
from engine.studies.surprisal import shown as analysis
from engine.studies.surprisal.figures_models import ratio_models


def scores(seed, memory, models=4, units=30, records=3):
    """Return simulated scores: units of their own difficulty; a record seen is `memory` nats a token easier."""
    rng = np.random.default_rng(seed)
    hard = rng.gamma(4, 0.5, (units, records)) + rng.normal(0, 0.5, units)[:, None]
    rows = []
    for model in range(models):
        gone = set(rng.choice(units, units // 3, replace=False).tolist())
        halves = analysis.control_halves([u for u in range(units) if u not in gone], seed + model)
        for unit in range(units):
            for record in range(records):
                tokens = int(rng.integers(10, 40))
                inside = unit not in gone
                mean = hard[unit, record] - memory * inside + rng.normal(0, 0.1)
                side = "included" if inside else "excluded"
                scored = (mean * tokens, tokens, hard[unit, record] * tokens, max(0.0, 0.5 - mean / 20))
                rows.append((model, f"r{unit}-{record}", unit, side, halves.get(unit, ""), *scored))
    names = ["model", "record_id", "unit", "side", "half", "surprisal", "tokens", "reference", "right"]
    return pd.DataFrame(rows, columns=names)


def row(table, score, model=-1):
    return table[(table["model"] == model) & (table["score"] == score)].iloc[0]


def test_memory_shows_where_difficulty_is_taken_off():
    table = analysis.tables_of(scores(0, 0.3), curves=False)["models"]
    assert row(table, "against untuned")["low"] > 0.9
    assert row(table, "surprisal")["auc"] < 0.75  # what is hard for everybody hides it
    assert row(table, "against untuned")["median_difference"] == pytest.approx(0.3, abs=0.05)
    assert sorted(table["model"].unique()) == [-1, 0, 1, 2, 3]


def test_without_memory_intervals_hold_chance():
    held, pooled = 0, 0
    for seed in range(40):
        found = pd.DataFrame(analysis._models(scores(seed, 0.0, models=2), "surprisal", 0))
        for model in (0, -1):
            one = row(found, "surprisal", model)
            inside = one["low"] <= 0.5 <= one["high"]
            held, pooled = held + (inside and model == 0), pooled + (inside and model == -1)
    assert held >= 33  # of 40, 38 are expected
    assert pooled >= 33


def test_the_control_is_told_apart_from_memory():
    table = row(analysis.tables_of(scores(1, 0.3), curves=False)["models"], "against untuned")
    assert table["control_low"] < 0.5 < table["control_high"]


def test_curves_are_those_of_the_control_where_nothing_is_remembered():
    for memory, seen in ((0.0, False), (0.3, True)):
        curves = analysis.tables_of(scores(2, memory))["curves"].query("score == 'against untuned'")
        main = curves[curves["comparison"] == "main"].sort_values("epsilon")
        assert (main["standard_low"].iloc[0] > 0.1) == seen
        told = main[main["verdict"] != "too few"]
        assert len(told)
        assert (told["standard_low"] <= told["delta_standard"] + 1e-9).all()
        assert (told["delta_standard"] <= told["standard_high"] + 1e-9).all()
        control = curves[curves["comparison"] == "control"]
        assert (control["standard_low"] == 0.0).all()
        assert set(curves["observed"]) == {analysis.OBSERVED}


def test_ratios_and_quantiles_by_hand():
    found = analysis._ratios(
        np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6]), np.ones(4), np.ones(4), np.array([2.0, 3.0])
    )
    assert found.tolist() == [2.0, 3.0]
    tables = analysis.tables_of(scores(3, 0.5), curves=False)
    ratio = tables["ratio"].query("comparison == 'main'")
    assert (ratio["low"] <= ratio["high"]).all()
    cdf = tables["cdf"].query("side == 'included' and model == 0")
    assert (np.diff(cdf["share"]) >= 0).all()
    assert cdf["share"].iloc[-1] == 1.0
    assert set(tables["qq"]["comparison"]) == {"main", "control"}


def test_counterfactual_memorisation_is_what_was_planted():
    found = counterfactual.tables_of(scores(4, 0.3, models=8))
    mean = found["memorised_mean"].set_index("measure").iloc[1]
    assert mean["low"] < 0.3 < mean["high"]
    assert mean["low"] > 0.2
    null = counterfactual.tables_of(scores(4, 0.0, models=8))["memorised_mean"].iloc[1]
    assert null["low"] < 0 < null["high"]
    top = found["memorised"]
    assert (np.diff(top["memorised_nats"]) <= 0).all()
    assert ((top["with"] + top["without"]) == 8).all()


def test_a_model_without_reference_is_scored_without_it():
    table = analysis.tables_of(scores(5, 0.3).assign(reference=np.nan), curves=False)["models"]
    assert set(table["score"]) == {"surprisal", "a token"}


def test_each_model_ends_where_one_side_has_no_record_left():
    table = pd.DataFrame({"model": [0] * 6 + [1] * 4 + [2] * 2,
                          "side": ["included"] * 3 + ["excluded"] * 3 + ["included", "included", "excluded", "excluded"]
                          + ["included", "excluded"], "half": "a", "surprisal":
                          [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 1.0, 9.0, 2.0, 3.0, 4.0, 4.0]})  # fmt: skip
    found = analysis.ratio_models(table)
    last = found.groupby("model").tail(1).set_index("model")
    assert last["end"].tolist() == ["infinite", "zero", "equal"]
    assert last["ratio"].tolist() == pytest.approx([(2 / 3) / (1 / 3), (1 / 2) / (1 / 2), 1.0])
    assert last["threshold"].tolist() == pytest.approx([3.0, 3.0, 4.0])
    assert np.isfinite(found["ratio"]).all()
    assert (found[["left_out", "inside"]] > 0).all().all()
    figure = ratio_models(found)
    assert "In 1 of 3 models the most surprising record was one left out" in figure.takeaway
    assert sum(trace.marker.symbol == "star" for trace in figure.plot.data) == 3
