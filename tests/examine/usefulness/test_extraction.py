"""An extractor trained on synthetic text: text of the kind, without details, with details elsewhere, too little."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.part import Part
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.downstream.extraction import NAMES, _details, _tokens, examine_extraction

COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]
NAMED = "Anna Bertil Cecilia Doris Erik Fanny Gustav Hilda Ivar Jonna Karl Lena Maja Nils Olga Per".split()
FILLER = "the patient came back with pain and left after two hours of rest in bed".split()


class Marks:
    """Finds capitals after `nurse` as people and numbers after `day` as dates."""

    def detect(self, texts: Sequence[str]) -> list[list[dict[str, object]]]:
        return [
            [
                {"start": m.start(1), "end": m.end(1), "label": label, "identifier_type": "quasi"}
                for label, pattern in (("PERSON", r"nurse ([A-Z]\w+)"), ("DATE", r"day (\d+)"))
                for m in re.finditer(pattern, text)
            ]
            for text in texts
        ]


def frame(n: int, seed: int, mark: str, shape: str = "nurse {name} saw her on day {day}") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        said = shape.format(name=rng.choice(NAMED), day=rng.integers(1, 31))
        before, after = (" ".join(rng.choice(FILLER, 6)) for _ in range(2))
        texts.append(f"{before} {said} {after}")
    ids = [f"{mark}{i}" for i in range(n)]
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": ids, "label": None})


def reviewed(records: pd.DataFrame) -> pd.DataFrame:
    rows = [
        (record, one["start"], one["end"], one["label"], "quasi")
        for record, found in zip(records["record_id"], Marks().detect(records["text"].tolist()), strict=True)
        for one in found
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def asked(made: pd.DataFrame, *, real: int = 80, holdout: int = 40, detect: bool = True) -> Part:
    train, held = frame(real, 1, "t"), frame(holdout, 2, "h")
    given = ExamineInput(
        made.assign(lineage=None), train, held, reviewed(train), reviewed(held), privacy=False,
        detector=Marks() if detect else None,
    )  # fmt: skip
    return examine_extraction(prepare(given))


def values(part: Part) -> dict[tuple[str, str], float]:
    return {(f.name, f.reference): f.value for f in part.findings}


@cache
def alike() -> Part:
    return asked(frame(80, 3, "s"))


def test_text_of_the_kind_teaches_as_much_as_real_text():
    found = values(alike())
    assert found["extraction_f1", "train"] > 0.9
    assert found["extraction_f1", "real"] > 0.9
    (gap,) = [f for f in alike().findings if f.name == "extraction_gap"]
    assert gap.low <= 0 <= gap.high
    assert gap.value == pytest.approx(found["extraction_f1", "real"] - found["extraction_f1", "train"])
    assert gap.settings["types"] == ["DATE", "PERSON"]
    assert gap.settings["details_asked"] == 80


def test_types_stand_beside_each_other():
    table = alike().tables["extraction_types"]
    assert table["type"].unique().tolist() == ["DATE", "PERSON"]
    assert set(table["asked"]) == {40}
    by = table.set_index(["type", "reference"])
    found = values(alike())
    for reference in ("train", "real"):
        mean = by.xs(reference, level="reference")["f1"].mean()
        assert mean == pytest.approx(found["extraction_f1", reference])
    assert (by["low"] <= by["f1"]).all()
    assert (by["f1"] <= by["high"]).all()


def test_a_type_that_the_text_lacks_is_lost_alone():
    by = asked(frame(80, 3, "s", "nurse {name} saw her")).tables["extraction_types"].set_index(["type", "reference"])
    assert by.loc[("DATE", "train"), "f1"] == 0
    assert by.loc[("DATE", "gap"), "low"] > 0.5
    assert by.loc[("PERSON", "gap"), "low"] <= 0 <= by.loc[("PERSON", "gap"), "high"]


@pytest.mark.parametrize(
    "shape",
    ["somebody saw her on that day", "nurse {name} saw her on that day", "NAME was seen {day} times by a nurse"],
)
def test_text_without_details_or_without_some_teaches_less(shape):
    part = asked(frame(80, 3, "s", shape))
    (gap,) = [f for f in part.findings if f.name == "extraction_gap"]
    assert gap.low > 0.2
    assert 0 <= values(part)["extraction_f1", "train"] < 0.75


def test_copies_teach_what_their_sources_do_and_one_repeated_sentence_little():
    copies = frame(80, 1, "t").assign(record_id=[f"s{i}" for i in range(80)])
    (gap,) = [f for f in asked(copies).findings if f.name == "extraction_gap"]
    assert gap.low <= 0 <= gap.high
    repeated = frame(1, 3, "s").iloc[np.zeros(80, int)].assign(record_id=[f"s{i}" for i in range(80)])
    assert values(asked(repeated))["extraction_f1", "train"] < values(alike())["extraction_f1", "real"]


def test_it_repeats():
    assert values(asked(frame(80, 3, "s"))) == values(alike())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"made": frame(8, 3, "s")}, "at least 20"),
        ({"made": frame(80, 3, "s"), "holdout": 8}, "no type of detail"),
        ({"made": frame(80, 3, "s"), "holdout": 0}, "holdout"),
        ({"made": frame(80, 3, "s"), "detect": False}, "detector"),
    ],
)
def test_what_cannot_be_asked_says_why(change, why):
    part = asked(**change)
    assert [(f.name, f.reference) for f in part.findings] == list(NAMES)
    for f in part.findings:
        assert math.isnan(f.value)
        assert why in f.settings["why"]


def test_texts_of_nothing_teach_nothing():
    made = frame(40, 3, "s").assign(text="")
    assert values(asked(made))["extraction_f1", "train"] == 0


def test_few_texts_widen_the_interval():
    """What training on other texts would change counts, not the people asked alone."""
    wide = {}
    for texts in (20, 80):
        (gap,) = [f for f in asked(frame(texts, 3, "s", "{name} or {day} by nurse {name}")).findings
                  if f.name == "extraction_gap"]  # fmt: skip
        wide[texts] = gap.high - gap.low
        assert "those trained on" in gap.settings["interval_is_of"]
    assert wide[20] > wide[80]


def test_codes_spell_details():
    tokens = _tokens("Anna Lee met Bo on 3 May.")
    #                         Anna Lee met Bo on 3 May .
    codes = np.array([1, 2, 0, 1, 0, 3, 4, 0])
    assert _details(tokens, codes) == {(0, 8, 0), (13, 15, 0), (19, 24, 1)}
    assert _details(tokens, np.array([2, 1, 2, 4, 4, 0, 0, 1])) == {(0, 4, 0), (5, 12, 0), (13, 18, 1), (24, 25, 0)}
    assert _details(_tokens(""), np.zeros(0, np.int64)) == set()


@pytest.mark.timeout(2400)
@pytest.mark.parametrize(
    ("size", "draws"),
    [
        pytest.param(40, 60, marks=pytest.mark.slow),
        pytest.param(40, 200, marks=pytest.mark.long),
        pytest.param(150, 200, marks=pytest.mark.long),
    ],
)
def test_the_interval_holds_zero_for_other_real_text(size, draws):
    """Of draws of equal text, the gap's 95% interval holds 0 in all but a few."""
    held = 0
    for draw in range(draws):
        train, other, made = (frame(size, 100 * draw + i, mark) for i, mark in enumerate("ths"))
        given = ExamineInput(
            made.assign(lineage=None), train, other, reviewed(train), reviewed(other), privacy=False,
            detector=Marks(), seed=draw,
        )  # fmt: skip
        (gap,) = [f for f in examine_extraction(prepare(given)).findings if f.name == "extraction_gap"]
        held += gap.low <= 0 <= gap.high
    assert held >= (0.88 if draws == 60 else 0.9) * draws


class Swapped(Marks):
    """In every second text, takes people for dates and dates for people."""

    def detect(self, texts: Sequence[str]) -> list[list[dict[str, object]]]:
        other = {"PERSON": "DATE", "DATE": "PERSON"}
        found = super().detect(texts)
        return [
            [one | {"label": other[str(one["label"])]} for one in row] if len(text) % 2 else row
            for text, row in zip(texts, found, strict=True)
        ]


@pytest.mark.slow
def test_details_taken_for_others_in_half_of_the_texts_are_a_loss_that_is_found():
    """Synthetic text in which one type stands where the other belongs, 40 texts a side and 40 asked."""
    found = 0
    for draw in range(6):
        train, other, made = (frame(40, 100 * draw + i, mark) for i, mark in enumerate("ths"))
        known = dict(zip(made["text"], Swapped().detect(made["text"].tolist()), strict=True))

        class OfEither(Marks):
            def detect(self, texts: Sequence[str], known: dict[str, list[dict[str, object]]] = known) -> list:
                plain = super().detect(texts)
                return [known.get(text, row) for text, row in zip(texts, plain, strict=True)]

        given = ExamineInput(
            made.assign(lineage=None), train, other, reviewed(train), reviewed(other), privacy=False,
            detector=OfEither(), seed=draw,
        )  # fmt: skip
        (gap,) = [f for f in examine_extraction(prepare(given)).findings if f.name == "extraction_gap"]
        assert gap.value > 0.1
        found += gap.low > 0
    assert found >= 5
