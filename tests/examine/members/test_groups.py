"""Groups and people at risk from kept scores: small cells without numbers, planted groups seen, flags beside chance."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.examine.battery import SO_FAR
from engine.examine.findings.part import Part
from engine.examine.members.groups import LEAST_UNITS, examine_groups
from engine.examine.members.membership import SCORES, MembershipScores
from engine.examine.members.unit_risk import examine_units
from engine.examine.prepare import ExamineInput, Prepared, prepare

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])


def frame(prefix: str, count: int, rare: int) -> pd.DataFrame:
    """Return made-up records; the last `rare` of them have a label of their own."""
    rng = np.random.default_rng(len(prefix))
    words = ["river", "stone", "letter", "winter", "garden", "table", "silver", "window", "market", "summer"]
    texts = [" ".join(rng.choice(words, 6 + 3 * (i % 5))) + f" number {prefix}{i}" for i in range(count)]
    labels = ["common", "other"] * (count // 2 + 1)
    labels = labels[: count - rare] + ["rare"] * rare
    return pd.DataFrame({"record_id": [f"{prefix}{i}" for i in range(count)], "text": texts, "source_id": None,
                         "label": labels})  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    train, holdout = frame("t", 300, 15), frame("h", 150, 12)
    synthetic = pd.DataFrame({"record_id": ["s1"], "text": ["a made-up text"], "label": [None], "lineage": [None]})
    return prepare(ExamineInput(synthetic, train, holdout, SPANS, SPANS))


def kept(prepared: Prepared, shift: np.ndarray, *, greyed: bool = False) -> MembershipScores:
    rng = np.random.default_rng(3)
    members = rng.normal(size=300) + shift
    return MembershipScores("a", np.arange(300), np.arange(150), members, rng.normal(size=150), greyed)


def test_a_group_that_is_told_apart_is_seen_and_a_small_one_has_no_number(prepared: Prepared) -> None:
    labels = prepared.given.train["label"].to_numpy()
    prepared.kept[SCORES] = [kept(prepared, np.where(labels == "common", 2.0, 0.0))]
    table = examine_groups(prepared).tables["groups"]
    by_label = table[table["group_by"] == "label"].set_index("group")
    assert by_label.loc["common", "low"] > 0.8
    assert by_label.loc["other", "low"] < 0.5 < by_label.loc["other", "high"]
    assert math.isnan(by_label.loc["rare", "auc"])
    assert by_label.loc["rare", ["members", "others", "units", "other_units"]].tolist() == [-1, -1, -1, -1]
    known = table[table["auc"].notna()]
    assert (known[["units", "other_units"]] >= LEAST_UNITS).all(axis=None)
    lengths = table[table["group_by"] == "length"]
    assert len(lengths) == 3
    assert int(lengths["members"].sum()) == 300
    assert not {"records of the person"} & set(table["group_by"])  # each record is a unit of its own


def test_units_are_ranked_with_what_chance_flags(prepared: Prepared) -> None:
    shift = np.zeros(300)
    shift[:10] = 20.0
    leaks = pd.DataFrame(
        [("s1", "t0", "verbatim", None, 1, "train"), ("s1", "t5", "entity", "direct", 1, "train"),
         ("s1", "t6", "entity", "direct", 4, "train"), ("s1", "h0", "verbatim", None, 1, "holdout")],
        columns=["record_id", "source_record_id", "kind", "identifier_type", "units", "reference"],
    )  # fmt: skip
    prepared.kept[SCORES] = [kept(prepared, shift)]
    met = pd.DataFrame(
        [("direct identifier", "train", 1), ("copied words", "train", 1), ("copied words", "holdout", 1)],
        columns=["attack", "reference", "units"],
    )
    prepared.kept[SO_FAR] = Part(tables={"leaks": leaks, "met_units": met})
    tables = examine_units(prepared).tables
    units, flags = tables["units"], tables["unit_flags"].set_index("attack")
    assert set(units.head(2)["unit"]) == {"t0", "t5"}  # an attack and something in the text
    assert set(units.head(2)["flags"]) == {2}
    assert {f"t{i}" for i in range(10)} <= set(units["unit"])
    assert "t6" not in set(units[units["flagged_by"].str.contains("direct")]["unit"])  # four people share it
    assert flags.loc["a", "expected"] == pytest.approx(3.0)
    assert 10 <= flags.loc["a", "flagged"] <= 20
    assert flags.loc["copied words", "flagged"] == 1
    assert flags.loc["copied words", "expected"] == pytest.approx(2.0)  # 1 of 150 unused records was met as well


def test_units_that_the_list_of_passages_leaves_out_are_counted(prepared: Prepared) -> None:
    leaks = pd.DataFrame(
        [("s1", "t0", "verbatim", None, 1, "train")],
        columns=["record_id", "source_record_id", "kind", "identifier_type", "units", "reference"],
    )
    met = pd.DataFrame(
        [("copied words", "train", 40), ("copied words", "holdout", 15)], columns=["attack", "reference", "units"]
    )
    prepared.kept[SCORES] = []
    prepared.kept[SO_FAR] = Part(tables={"leaks": leaks, "met_units": met})
    flags = examine_units(prepared).tables["unit_flags"].set_index("attack")
    assert flags.loc["copied words", "flagged"] == 40
    assert flags.loc["copied words", "expected"] == pytest.approx(30.0)  # 15 of 150 unused records
    assert flags.loc["direct identifier", "flagged"] == 0


def test_greyed_attacks_and_too_few_others_flag_nobody(prepared: Prepared) -> None:
    few = kept(prepared, np.full(300, 20.0))
    few = MembershipScores("few", few.train_rows, few.holdout_rows[:60], few.members, few.others[:60], False)
    prepared.kept[SCORES] = [kept(prepared, np.full(300, 20.0), greyed=True), few]
    prepared.kept[SO_FAR] = Part()
    tables = examine_units(prepared).tables
    assert tables["units"].empty
    flags = tables["unit_flags"].set_index("attack")
    assert "a" not in flags.index
    assert math.isnan(flags.loc["few", "flagged"])


def test_without_attacks_there_are_no_groups(prepared: Prepared) -> None:
    prepared.kept[SCORES] = []
    assert examine_groups(prepared).tables == {}


def test_progress_names_the_part_and_its_place_and_a_stop_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.examine import battery, registry
    from engine.examine.prepare import CancelledError

    few = tuple(part for part in registry.EXAMINATIONS if part.key in ("leaks", "copies"))
    monkeypatch.setattr(registry, "EXAMINATIONS", few)
    told: list[str] = []
    train, holdout = frame("t", 60, 0), frame("h", 40, 0)
    synthetic = pd.DataFrame({"record_id": ["s1"], "text": ["a made-up text"], "label": [None], "lineage": [None]})
    given = ExamineInput(synthetic, train, holdout, SPANS, SPANS)
    whole = battery.run_battery(prepare(given, lambda stage, done, total: told.append(stage)))
    assert "leaked entities (1 of 4)" in told
    assert "copied text (2 of 4): word-for-word copies" in told
    assert list(whole.tables["parts"]["part"]) == ["leaked entities", "copied text", "groups", "people at risk"]
    assert (whole.tables["parts"]["seconds"] >= 0).all()
    assert list(whole.tables["parts"]["lacked"]) == ["spans", "", "", ""]
    with pytest.raises(CancelledError):
        battery.run_battery(prepare(given, cancelled=lambda: True))
