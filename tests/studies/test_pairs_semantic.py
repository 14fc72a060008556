"""The semantic attack on pairs: nothing where nobody's text is nearer, leakage where a training copies U."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.studies.pairs import semantic as pairs_semantic
from engine.studies.pairs.figures_meaning import meaning
from engine.studies.pairs.semantic import MAIN, TWICE, Group

TEXTS, PEOPLE = 12, 6
UNITS = np.repeat(np.arange(PEOPLE), TEXTS // PEOPLE)


def group(rng: np.random.Generator, trainings: int, generations: int = 2, nearer: float = 0.0) -> Group:
    """Return cosines that differ by text, by training and by generation; `nearer` is what having U adds."""
    text = np.linspace(0.4, 0.7, TEXTS)
    own = rng.normal(0, 0.03, (trainings, 1, TEXTS))
    cosines = text + own + rng.normal(0, 0.03, (trainings, generations, TEXTS)) + nearer
    names = tuple(f"run {i}" for i in range(trainings) for _ in range(generations))
    return Group(np.clip(cosines.reshape(-1, TEXTS), -1, 1), names)


def row(tables: dict[str, pd.DataFrame], score: str, comparison: str) -> pd.Series:
    found = tables["semantic"].query("score == @score and comparison == @comparison")
    assert len(found) == 1
    return found.iloc[0]


def test_a_side_that_is_nearer_is_leakage_and_the_same_records_twice_are_not() -> None:
    rng = np.random.default_rng(1)
    tables = pairs_semantic.tables_of(group(rng, 12, nearer=0.2), group(rng, 6), UNITS)
    for score in pairs_semantic.SCORES:
        main, twice = row(tables, score, MAIN), row(tables, score, TWICE)
        assert (main["verdict"], main["low"] > 0.5) == ("leakage", True)
        assert twice["low"] <= 0.5 <= twice["high"]
        assert twice["verdict"] == "chance"
        assert "U's meaning shows" in main["finding"]
        assert (main["trainings"], twice["trainings"]) == (18, 12)
    # three trainings judge the smaller side: no curve, and no δ of 0 either
    curves = tables["semantic_curves"]
    at = curves[curves["epsilon"] > math.log(1.1)]
    assert set(at["verdict"]) == {"too few"}
    assert at["delta_standard"].isna().all()
    assert (curves["standard_high"] > 0.8).all()


def test_many_trainings_give_a_curve_and_the_same_records_twice_give_none() -> None:
    rng = np.random.default_rng(3)
    found = pairs_semantic.tables_of(group(rng, 80, nearer=0.2), group(rng, 40), UNITS)["semantic_curves"]
    main, null = (found[found["comparison"] == what].set_index("epsilon") for what in (MAIN, TWICE))
    assert main["standard_low"].loc[math.log(1.2)] > 0.3
    assert main["delta_standard"].loc[math.log(1.2)] > 0.8
    assert set(main["smaller_side"]) == {20}
    assert (null["standard_low"] == 0.0).all()
    assert "shown" not in set(null["verdict"])
    # a figure says both
    shown = meaning(pairs_semantic.areas(group(rng, 6), group(rng, 3)), found)
    assert "95% band" in shown.takeaway
    assert "nan" not in shown.takeaway


def test_the_curve_is_covered_whatever_trainings_share() -> None:
    alarms = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, 9])
        found = pairs_semantic.tables_of(group(rng, 48), group(rng, 24), UNITS, seed)["semantic_curves"]
        alarms += (found["standard_low"] > 0).any()
    assert alarms == 0


def test_null_pairs_contain_chance_as_often_as_they_say() -> None:
    inside: dict[str, list[bool]] = {MAIN: [], TWICE: []}
    claimed = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 5])
        found = pairs_semantic.areas(group(rng, 8), group(rng, 4), seed).query("score == 'mean'")
        for one in found.itertuples():
            inside[one.comparison].append(one.low <= 0.5 <= one.high)
            claimed += one.comparison == MAIN and one.verdict == "leakage"
    assert min(np.mean(values) for values in inside.values()) >= 0.87
    assert claimed <= 6  # two of forty expected


def test_few_trainings_are_not_judged() -> None:
    rng = np.random.default_rng(2)
    tables = pairs_semantic.tables_of(group(rng, 2, nearer=0.2), group(rng, 1), UNITS)
    assert set(tables["semantic"]["verdict"]) == {"too few"}
    assert "too few trainings to judge" in row(tables, "mean", MAIN)["finding"]
    assert tables["semantic_curves"].empty
    assert list(tables["semantic_curves"]) == pairs_semantic.CURVES


def test_units_are_closest_by_any_of_their_texts() -> None:
    cosines = np.array([[0.1, 0.9, 0.2, 0.3]])
    assert pairs_semantic.by_unit(cosines, np.array([4, 4, 7, 7])).tolist() == [[0.9, 0.3]]
    assert pairs_semantic.whole(cosines, "highest").tolist() == [0.9]
    assert pairs_semantic.whole(cosines, "mean").tolist() == pytest.approx([0.375])
