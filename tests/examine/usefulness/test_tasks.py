"""Columns that synthetic records do not carry, as tasks: text of the kind, text that says nothing of them, too few."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from engine.examine.findings.part import Part
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.downstream.tasks import COLUMNS, NAMES, TABLE, THE_LABEL, examine_tasks

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
SEXES, WARDS = ("F", "M"), ("knee", "heart", "[eye](http://x) **bold**")  # a value may hold anything
COMMON = [f"word{i}" for i in range(60)]


def frame(n: int, seed: int, mark: str, *, strength: float = 0.15, people: int = 1) -> pd.DataFrame:
    """Return notes of which `strength` of the words tell the sex, as many the ward, and none the year."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        sex, ward, label = rng.integers(2), rng.choice(3, p=[0.5, 0.3, 0.2]), rng.integers(2)
        words = []
        for _ in range(24):
            drawn = rng.random()
            own = f"s{sex}v{rng.integers(6)}" if drawn < strength else f"w{ward}v{rng.integers(6)}"
            words.append(own if drawn < 2 * strength else str(rng.choice(COMMON)))
        rows.append((f"{mark}{i}", " ".join(words), f"{mark}p{i // people}", f"l{label}", SEXES[sex], WARDS[ward],
                     str(1990 + rng.integers(3)), f"case {mark}{i}"))  # fmt: skip
    names = ["record_id", "text", "source_id", "label", "x_sex", "x_ward", "x_year", "x_case"]
    return pd.DataFrame(rows, columns=names)


def bare(made: pd.DataFrame) -> pd.DataFrame:
    """Return records as a run writes them: without the columns that were kept at import."""
    return made[["record_id", "text", "label"]].assign(lineage=None)


def asked(made: pd.DataFrame, *, real: int = 400, holdout: int = 200, unit: str = "record", seed: int = 0) -> Part:
    given = ExamineInput(
        bare(made), frame(real, 1, "t"), frame(holdout, 2, "h"), SPANS, SPANS, privacy=False, unit=unit, seed=seed
    )
    return examine_tasks(prepare(given))


@cache
def alike() -> Part:
    return asked(frame(200, 3, "s"))


def one(part: Part, name: str, reference: str):
    (found,) = [f for f in part.findings if (f.name, f.reference) == (name, reference)]
    return found


def rows(part: Part) -> pd.DataFrame:
    return part.tables[TABLE].set_index(["task", "reference"])


def test_text_of_the_kind_teaches_as_much():
    gap, ours, real = (one(alike(), *name) for name in (NAMES[2], NAMES[0], NAMES[1]))
    assert gap.low <= 0 <= gap.high
    assert gap.high - gap.low < 0.3
    assert gap.value == pytest.approx(real.value - ours.value)
    assert gap.settings["tasks"] == 2
    assert gap.settings["tasks_that_text_does_not_tell"] == 1
    assert gap.settings["texts_trained_on"] == 200


def test_each_column_has_its_rows_between_teacher_and_chance():
    table = rows(alike())
    assert table.index.get_level_values("task").unique().tolist() == ["sex", "ward", "year"]  # a case number is none
    truth = frame(200, 2, "h")
    for task, column in (("sex", "x_sex"), ("ward", "x_ward")):
        f1 = table.loc[task, "f1"]
        assert f1["chance"] < f1["train"] <= 1
        assert f1["teacher"] > f1["chance"] + 0.2
        assert table.loc[(task, "gap"), "low"] <= f1["gap"] <= table.loc[(task, "gap"), "high"]
        commonest = frame(400, 1, "t")[column].mode()[0]
        assert f1["chance"] >= f1_score(truth[column], [commonest] * 200, average="macro")
    mean = table.loc[(["sex", "ward"], "train"), "f1"].mean()
    assert one(alike(), "tasks_f1", "train").value == pytest.approx(mean)
    assert "chance" in table.loc[("year", "train"), "why"]
    assert alike().tables[TABLE].columns.tolist() == COLUMNS


def test_text_that_says_nothing_of_them_is_a_loss():
    part = asked(frame(200, 3, "s", strength=0.0))
    assert one(part, "tasks_gap", "real").low > 0.2
    assert one(part, "tasks_f1", "train").high < one(part, "tasks_f1", "real").low


def test_copies_teach_what_their_sources_do_and_one_repeated_sentence_nothing():
    copies = frame(400, 1, "t").head(200)
    gap = one(asked(copies.assign(record_id=[f"s{i}" for i in range(200)])), "tasks_gap", "real")
    assert gap.low <= 0 <= gap.high
    assert one(asked(frame(200, 3, "s").assign(text="she came back with pain")), "tasks_gap", "real").low > 0.2


def test_text_that_says_half_of_them_lies_between():
    half = asked(frame(200, 3, "s").assign(text=lambda t: t["text"].str.replace(r"s\dv\d", "word0", regex=True)))
    table = rows(half)
    assert table.loc[("sex", "gap"), "low"] > 0.2
    assert table.loc[("ward", "gap"), "low"] <= 0.05


def test_the_label_is_a_task_where_the_records_carry_none():
    assert THE_LABEL not in set(alike().tables[TABLE]["task"])
    made = frame(200, 3, "s").assign(label=None)
    assert THE_LABEL in set(asked(made).tables[TABLE]["task"])


def test_texts_made_of_the_teachers_half_are_left_out():
    train, made = frame(400, 1, "t"), frame(300, 1, "t").drop(columns="label").assign(label="l0")
    given = ExamineInput(
        bare(made).assign(lineage=made["record_id"]), train, frame(200, 2, "h"), SPANS, SPANS, privacy=False
    )
    gap = one(examine_tasks(prepare(given)), "tasks_gap", "real")
    assert gap.settings["own_sources_left_out"] is True
    assert gap.settings["texts_trained_on"] < 200


def test_it_repeats():
    again = asked(frame(200, 3, "s"))
    assert [str(f) for f in again.findings] == [str(f) for f in alike().findings]
    pd.testing.assert_frame_equal(again.tables[TABLE], alike().tables[TABLE])


def test_records_of_one_person_widen_the_interval():
    """Five copies of each record are five times the texts and no more people."""

    def five(records: pd.DataFrame) -> pd.DataFrame:
        many = pd.concat([records] * 5, ignore_index=True)
        return many.assign(record_id=[f"{r}-{i}" for i, r in enumerate(many["record_id"])])

    made, train, holdout = frame(100, 3, "s"), frame(120, 1, "t"), frame(60, 2, "h")
    width = {}
    for unit in ("record", "source"):
        given = ExamineInput(bare(five(made)), five(train), five(holdout), SPANS, SPANS, unit=unit, privacy=False)
        found = one(examine_tasks(prepare(given)), "tasks_f1", "train")
        width[unit] = found.high - found.low
    assert width["source"] > 1.4 * width["record"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"made": frame(8, 3, "s")}, "at least 20"),
        ({"made": frame(200, 3, "s"), "holdout": 12}, "no column"),
        ({"made": frame(200, 3, "s"), "holdout": 0}, "holdout"),
    ],
)
def test_what_cannot_be_asked_says_why(change, why):
    part = asked(**change)
    assert [(f.name, f.reference) for f in part.findings] == list(NAMES)
    for f in part.findings:
        assert math.isnan(f.value)
        assert why in f.settings["why"]


def test_columns_that_no_text_tells_count_in_no_mean():
    train, holdout = (frame(n, seed, mark, strength=0.0) for n, seed, mark in ((300, 1, "t"), (150, 2, "h")))
    given = ExamineInput(bare(frame(150, 3, "s")), train, holdout, SPANS, SPANS, privacy=False)
    part = examine_tasks(prepare(given))
    assert all("no task" in f.settings["why"] for f in part.findings)
    assert set(part.tables[TABLE]["why"]) != {""}


@pytest.mark.timeout(2400)
@pytest.mark.parametrize(
    ("size", "questions", "draws"),
    [
        pytest.param(60, 60, 100, marks=pytest.mark.slow),
        pytest.param(300, 200, 40, marks=pytest.mark.slow),
        pytest.param(60, 60, 200, marks=pytest.mark.long),
        pytest.param(300, 200, 200, marks=pytest.mark.long),
    ],
)
def test_the_interval_of_the_gap_holds_zero_for_other_real_text(size, questions, draws):
    """95% of intervals, within what so many draws tell; a planted loss is found."""
    held, judged, found = 0, 0, 0
    for draw in range(draws):
        made, train, holdout = (
            frame(n, 10 * draw + i, mark)
            for i, (n, mark) in enumerate(((size, "s"), (2 * size, "t"), (questions, "h")))
        )
        for text, planted in ((made, False), (frame(size, 10 * draw + 7, "s", strength=0.01), True)):
            given = ExamineInput(bare(text), train, holdout, SPANS, SPANS, privacy=False, seed=draw)
            gap = one(examine_tasks(prepare(given)), "tasks_gap", "real")
            if gap.low is None:
                continue
            judged += not planted
            held += gap.low <= 0 <= gap.high and not planted
            found += gap.low > 0 and planted
    assert judged > 0.8 * draws
    assert held >= 0.88 * judged
    assert found > (0.9 if size == 300 else 0.2) * draws
