"""Labels that fit their text: right ones, dealt ones, unknown ones, few, none, and copies of what was taught."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.part import Part
from engine.examine.findings.sizes import at
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.downstream.label_agreement import examine_label_agreement

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
TELLING = {"mild": "walks home well soon", "severe": "ward drip surgeon urgent"}


def records(n: int, mark: str, seed: int, lineage: Sequence[str] | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(TELLING), n)
    texts = [
        " ".join(rng.permutation([*TELLING[label].split(), *rng.choice(list("abcdefgh"), 12)])) for label in labels
    ]
    ids = [f"{mark}{i}" for i in range(n)]
    sources = list(lineage) if lineage is not None else None
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": ids, "label": labels, "lineage": sources})


def asked(made: pd.DataFrame, real: pd.DataFrame) -> Part:
    return examine_label_agreement(prepare(ExamineInput(made, real, real.head(0), SPANS, SPANS, privacy=False)))


def values(part: Part) -> dict[str, float]:
    return {one.reference: one.value for one in part.findings}


def test_right_labels_fit_as_real_ones_do_and_dealt_ones_by_chance() -> None:
    real = records(160, "t", 1)
    right = values(asked(records(60, "s", 2), real))
    assert right == {"train": pytest.approx(1.0, abs=0.03), "real": pytest.approx(1.0, abs=0.03)}
    made = records(60, "s", 2)
    dealt = values(asked(made.assign(label=np.random.default_rng(3).permutation(made["label"])), real))
    assert dealt["train"] == pytest.approx(0.5, abs=0.2)
    turned = made["label"].map({"mild": "severe", "severe": "mild"})
    assert values(asked(made.assign(label=turned), real))["train"] < 0.05


def test_texts_that_do_not_tell_their_label_agree_by_chance_on_both_sides() -> None:
    rng = np.random.default_rng(0)
    sides = [records(200, mark, seed) for mark, seed in (("t", 1), ("s", 2))]
    real, made = (side.assign(label=rng.permutation(side["label"])) for side in sides)
    found = values(asked(made, real))
    assert found["train"] == pytest.approx(0.5, abs=0.15)
    assert found["real"] == pytest.approx(0.5, abs=0.15)


def test_a_copy_is_not_asked_about_by_the_classifier_that_saw_its_source() -> None:
    """Labels at random and texts of own words: whoever has seen a record knows its label, nobody else does."""
    rng = np.random.default_rng(4)
    real = records(300, "t", 1)
    real["text"] = [" ".join(f"w{word}" for word in rng.integers(10**6, size=20)) for _ in range(300)]
    copies = real.assign(record_id=[f"s{i}" for i in range(300)], lineage=real["record_id"])
    part = asked(copies, real)
    found = values(part)
    assert found["train"] == pytest.approx(0.5, abs=0.15)
    assert part.findings[0].settings["own_sources_left_out"]


def test_a_label_that_no_real_record_has_is_never_given() -> None:
    made = records(60, "s", 2).assign(label="new")
    found = asked(made, records(160, "t", 1))
    assert values(found)["train"] == 0.0
    assert found.findings[0].high > 0.0


@pytest.mark.parametrize(
    ("made", "real", "why"),
    [
        (records(60, "s", 2).assign(label=None), records(160, "t", 1), "no label"),
        (records(3, "s", 2), records(160, "t", 1), "at least 20"),
        (records(60, "s", 2), records(160, "t", 1).assign(label="mild"), "one label alone"),
        (records(60, "s", 2), records(160, "t", 1).assign(label=None), "at least 20"),
    ],
)
def test_what_cannot_be_told_says_why(made: pd.DataFrame, real: pd.DataFrame, why: str) -> None:
    part = asked(made, real)
    assert len(part.findings) == 2
    assert all(math.isnan(one.value) and why in one.settings["why"] for one in part.findings)


def test_real_text_is_asked_at_fewer_texts_as_beside_a_smaller_run() -> None:
    """The same teacher's records and the same ones asked, to the last digit; labels of half of them fit by chance."""
    real, made = records(400, "t", 1), records(140, "s", 2)
    real = real.assign(label=np.where(np.arange(400) % 2, real["label"], records(400, "x", 9)["label"]))
    many, few = ({one.reference: one for one in asked(made.head(size), real).findings} for size in (140, 70))
    found = at(many["real"], 70)
    assert found is not None
    assert (found.value, found.low, found.high) == (few["real"].value, few["real"].low, few["real"].high)
    assert found.value != many["real"].value
    assert at(many["train"], 70) is not None
