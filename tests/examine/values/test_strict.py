"""Findings of the strict meter: no excess where nothing leaked, one where near misses and parts of names come out."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from engine import Sentence
from engine.examine.examination import ExamineInput
from engine.examine.findings.verdict import privacy_verdict, ranked
from engine.examine.prepare import prepare
from engine.examine.values.entities import index_entities
from engine.examine.values.strict import examine_strict
from engine.examine.values.strict_scores import index_strict

GIVEN = "Anna Bertil Cecilia Doris Erik Fanny Gustav Hilda Ivar Jonna".split()
FIRST, LAST = "Hass Lind Berg Ek Sund Dal Ros Holm Ny Gran".split(), "lund ström qvist mark gren berga".split()


def people(rng: np.random.Generator, count: int) -> list[tuple[str, str]]:
    """Return names and case numbers; surnames recur, numbers do not."""
    return [
        (f"{rng.choice(GIVEN)} {rng.choice(FIRST)}{rng.choice(FIRST).lower()}{rng.choice(LAST)}",
         f"{rng.integers(10**6, 10**7)}/{rng.integers(10, 99)}")
        for _ in range(count)
    ]  # fmt: skip


def records(who: list[tuple[str, str]], prefix: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = [f"{name} brought case {number} before the house." for name, number in who]
    ids = [f"{prefix}{i}" for i in range(len(who))]
    spans = [
        (i, text.index(value), text.index(value) + len(value), label, "direct")
        for i, text, pair in zip(ids, texts, who, strict=True)
        for value, label in zip(pair, ("PERSON", "CODE"), strict=True)
    ]
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    return (
        pd.DataFrame({"record_id": ids, "text": texts, "source_id": None, "label": None}),
        pd.DataFrame(spans, columns=columns),
    )


def found(seed: int, size: int, texts: int, leaking: float) -> dict[tuple[str, str], object]:
    rng = np.random.default_rng(seed)
    train, train_spans = records(mine := people(rng, 3 * size), "t")
    holdout, holdout_spans = records(people(rng, size), "h")
    others = people(rng, texts)
    made = []
    for name, number in others:
        if rng.random() < leaking:
            name, number = mine[int(rng.integers(len(mine)))]
            number = number[:-1] + str((int(number[-1]) + 1) % 10)  # a digit away
            name = name.split()[1].upper()
        made.append(f"So {name} came under {number}.")
    synthetic = pd.DataFrame({"record_id": [f"s{i}" for i in range(texts)], "text": made, "label": None})
    synthetic["lineage"] = None
    given = ExamineInput(synthetic, train, holdout, train_spans, holdout_spans, seed=seed)
    return {(f.name, f.reference): f for f in examine_strict(prepare(given)).findings}


@pytest.mark.parametrize(("size", "texts"), [(12, 40), (60, 300)])
def test_text_about_others_has_no_excess(size: int, texts: int) -> None:
    rows = [found(seed, size, texts, 0.0) for seed in range(12)]
    for name in ("strict_pipp_excess", "strict_elp_excess", "strict_pipp_direct_excess", "strict_elp_direct_excess"):
        above = [row for row in rows if row[name, "holdout"].low > 0]  # type: ignore[attr-defined]
        assert len(above) <= 2, name  # 2.5% expected; three of twelve have a chance of 0.3%


def test_near_misses_and_surnames_of_training_people_are_an_excess_that_leads_the_verdict() -> None:
    rows = found(1, 60, 300, 0.6)
    excess = rows["strict_elp_excess", "holdout"]
    assert excess.low > 0  # type: ignore[attr-defined]
    train = rows["strict_pipp", "train"]
    assert train.settings["written_whole"] < 0.5  # type: ignore[attr-defined]
    first = privacy_verdict(list(rows.values()))[0]  # type: ignore[arg-type]
    assert first.text.startswith("Real identifiers: ")
    assert "values of records used more often than of records nobody used (" in first.text
    shares, difference, *_ = first.more.split("\n")
    assert "of the synthetic records give away" in shares
    assert re.fullmatch(r"Difference: \d+\.\d pp \(95% interval \d+\.\d pp to \d+\.\d pp\)\.", difference)


def test_no_spans_and_no_holdout_are_said() -> None:
    rng = np.random.default_rng(0)
    train, spans = records(people(rng, 6), "t")
    synthetic = pd.DataFrame({"record_id": ["s0"], "text": ["a b c"], "label": None, "lineage": None})
    part = examine_strict(
        prepare(ExamineInput(synthetic, train, train.iloc[:0], spans.iloc[:0], spans.iloc[:0], seed=0))
    )
    assert all(f.value != f.value and f.settings["why"] for f in part.findings)


def alone(made: list[str], *, holdout: bool = True) -> list[Sentence]:
    """Return the sentences about identifiers in a text about 30 training people and 30 others."""
    rng = np.random.default_rng(5)
    mine, others = people(rng, 30), people(rng, 30)
    train, train_spans = records(mine, "t")
    kept, kept_spans = records(others if holdout else [], "h")
    texts = [one.format(name=mine[0][0], surname=mine[1][0].split()[1], number=mine[2][1]) for one in made]
    synthetic = pd.DataFrame({"record_id": [f"s{i}" for i in range(len(texts))], "text": texts, "label": None})
    synthetic["lineage"] = None
    given = ExamineInput(synthetic, train, kept, train_spans, kept_spans, seed=1)
    said = privacy_verdict(examine_strict(prepare(given)).findings)
    return [one for one in said if one.text.startswith(("Real identifiers", "Identifiers of one person"))]


def test_a_full_name_or_number_of_one_person_alone_is_said_however_few_they_are() -> None:
    quiet = ["Nothing happened that day."] * 40
    assert len(alone(quiet)) == 1
    assert len(alone([*quiet, "So Mr {surname} came."])) == 1, "a surname is met by chance"
    said = alone([*quiet, "So {name} came.", "It was {name} again.", "Case {number} was heard."])
    assert [one.level for one in said] == ["unsure", "unsure"]
    assert (
        "2 of 59 full names, numbers and addresses stand in the text in full; of 59 such identifiers" in said[1].text
    )  # one name is in both parts
    assert said[1].more == "They are in 3 synthetic records."
    assert said[1].look
    assert [one.finding for one in ranked(said)] == [said[1].finding, said[0].finding], "a person looks at it first"


def test_a_name_in_text_that_no_record_went_into_is_chance_and_said_to_be() -> None:
    rng = np.random.default_rng(5)
    mine, others = people(rng, 30), people(rng, 30)
    train, train_spans = records(mine, "t")
    kept, kept_spans = records(others, "h")
    synthetic = pd.DataFrame({"record_id": ["s0"], "text": [f"So {mine[0][0]} came."], "label": None})
    synthetic["lineage"] = None
    found = examine_strict(prepare(ExamineInput(synthetic, train, kept, train_spans, kept_spans, seed=1))).findings
    nothing = {"kind": "dp", "epsilon": 0, "delta": 0.0}
    (alone,) = [one for one in privacy_verdict(found, guarantee=nothing) if one.text.startswith("Identifiers of one")]
    assert "No private record went into this text" in alone.text
    others_said = [one for one in privacy_verdict(found, guarantee=nothing) if one is not alone and one.level != "leak"]
    assert not any(
        "No private record" in one.text for one in others_said if one.finding not in ("guarantee", alone.finding)
    )


def test_without_a_holdout_a_share_is_said_in_words_and_never_stands_as_not_known() -> None:
    said = alone(["So {name} came.", "Nothing happened that day."], holdout=False)
    assert said[0].level == "unsure"
    assert said[0].text.startswith("Real identifiers: 50.0% (95% interval ")
    assert "of the synthetic records give away a private value of the training records" in said[0].text
    assert said[0].text.endswith("there is no holdout that would tell how much of it is chance.")
    assert "1 of 60 full names" in said[1].text
    assert "such identifiers" not in said[1].text


@pytest.mark.parametrize(("leaking", "clear"), [(0.0, False), (0.7, True)])
def test_what_one_person_alone_has_counts_against_the_whole_training_part(leaking, clear):
    for seed in range(3):
        kept = found(seed, 60, 150, leaking)
        share, chance = kept["strict_alone", "train"], kept["strict_alone", "holdout"]
        excess = kept["strict_alone_excess", "holdout"]
        assert (share.settings["people"], share.settings["people_aside"]) == (180, 60)
        assert excess.low <= excess.value <= excess.high <= max(share.high, excess.value)
        if clear:
            assert excess.low > 0
            assert excess.low <= leaking <= excess.high
            assert chance.value < share.value
        else:
            assert excess.low <= 0


def test_values_of_one_person_are_one_group_in_the_interval_of_their_share():
    rng = np.random.default_rng(3)
    train, spans = records(people(rng, 40), "t")
    empty = train.iloc[:0]
    synthetic = pd.DataFrame({"record_id": ["s0"], "text": ["Nothing."], "label": None, "lineage": None})
    side = prepare(ExamineInput(synthetic, train, empty, spans, spans.iloc[:0])).train
    index, entities = index_strict(side), index_entities(side)
    of_value = dict(zip(index.values.tolist(), index.units.tolist(), strict=True))
    of, by, names = entities.held
    of_entity = dict(zip(of.tolist(), names[by].tolist(), strict=True))
    for holder, known in ((index.holder(), of_value), (entities.holder, of_entity)):
        alike = {(int(holder[value]), unit) for value, unit in known.items()}
        assert len(alike) == len({number for number, _ in alike}) == len({unit for _, unit in alike}) > 30
