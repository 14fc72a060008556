"""One suite over every part of a privacy examination that is registered.

The attacks that train models are run on fewer records.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.examine.battery import SO_FAR
from engine.examine.findings.findings import Finding
from engine.examine.findings.part import Part
from engine.examine.findings.uses import use_table
from engine.examine.measures import MEASURES
from engine.examine.prepare import ExamineInput, Prepared, prepare
from engine.examine.registry import EXAMINATIONS, LAST, USEFULNESS, Examination, Need
from engine.examine.usefulness.metrics import METRICS
from engine.examine.usefulness.part import examine_usefulness
from engine.store.records import read_table, write_table
from tests.contract.examining import MARK, world

EVERY = (*EXAMINATIONS, *LAST, *USEFULNESS)
WITHOUT: dict[Need, dict[str, Any]] = {
    "holdout": {"holdout": 0}, "spans": {"given_spans": False}, "embedder": {"embedder": False},
    "detector": {"detector": False}, "labels": {"labels": False}, "canaries": {"canaries": False},
    "columns": {"columns": False},
}  # fmt: skip
FEW = {"people": 2, "holdout": 1, "copies": 1, "made": 1}
SMALL = {"people": 24, "holdout": 12, "copies": 12, "made": 36}
RISES: dict[str, tuple[str, ...]] = {  # by findings against the training part
    "strict": ("strict_pipp_direct",), "leaks": ("pipp_direct", "elp_direct"), "originals": ("original_records",),
    "copies": ("verbatim_8gram",), "near_copies": ("near_copies_05",), "closeness": ("nearest_similarity",),
    "canaries": ("canary_echo",), "ngrams": ("ngram",), "neighbours": ("neighbours_jaccard_1",),
}  # fmt: skip


@pytest.fixture(params=EVERY, ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Examination:
    return request.param


@cache
def given(**options: Any) -> Prepared:
    """Return the input of a made-up examination, prepared; for reading alone."""
    return prepare(world(**options))


@cache
def found(**options: Any) -> dict[str, Part]:
    """Return what each part finds in a made-up examination, in the battery's order."""
    prepared, whole, parts = prepare(world(**options)), Part(), {}
    for one in EVERY:
        prepared.kept[SO_FAR] = whole
        parts[one.key] = one.run(prepared)
        whole.add(parts[one.key])
    return parts


def of(part: Examination, **options: Any) -> Part:
    if "models" in part.needs:
        return found(**{**SMALL, "models": True, **options})[part.key]
    return found(**options)[part.key]


def valued(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if math.isfinite(f.value)]


def test_keys_and_titles_are_unique() -> None:
    assert len({part.key for part in EVERY}) == len({part.title for part in EVERY}) == len(EVERY)


def test_a_part_finds_something_and_says_what_it_measures(part: Examination) -> None:
    result = of(part)
    assert valued(result.findings) or (part in LAST and result.tables)
    for one in result.findings:
        measure = MEASURES[one.name]
        assert one.measure == measure.measure
        assert one.settings["source"]
        assert measure.means
        assert measure.caveat


def test_every_measure_is_found_by_some_part() -> None:
    """None stands in `measures.yaml` for nothing; that each finding stands there, every part is asked above."""
    emitted = {one.name for part in EVERY for one in of(part).findings} | {metric.name for metric in METRICS}
    assert emitted == set(MEASURES)


def test_a_number_has_its_interval_or_a_sentence_says_why_there_is_none(part: Examination) -> None:
    for options in ({}, FEW):
        for one in of(part, **options).findings:
            if math.isfinite(one.value):
                assert one.n >= 1
                if one.low is not None and one.high is not None:
                    assert one.low - 1e-9 <= one.value <= one.high + 1e-9
            else:
                assert len(one.settings["why"].split()) >= 3, (one.name, one.settings["why"])


def test_with_a_few_people_no_attack_says_who_took_part(part: Examination) -> None:
    """Two people against one: whatever the scores, no attack is told from guessing and no rate is given."""
    result = of(part, **FEW)
    attacks = result.tables.get("attacks", pd.DataFrame())
    for row in attacks.to_dict("records"):
        assert row["p"] > 0.05
        assert not row["low"] > 0.5  # chance; NaN where there is no interval
        assert math.isnan(row["tpr_01"])
        assert math.isnan(row["tpr_001"])
    assert not [f.name for f in valued(result.findings) if f.name.endswith("_tpr01")]


@pytest.mark.parametrize("need", list(WITHOUT))
def test_a_part_lacks_exactly_what_it_needs(part: Examination, need: Need) -> None:
    if "models" in part.needs and need != "holdout":
        pytest.skip("models are trained twice only")
    options = {**WITHOUT[need], **({"models": True} | SMALL | WITHOUT[need] if "models" in part.needs else {})}
    assert (need in part.lacks(given(**options))) == (need in part.needs)
    result = of(part, **options)
    if need in part.needs:
        assert result.findings
        assert not valued(result.findings)
    elif part not in LAST:
        assert valued(result.findings)


def test_attacks_by_models_wait_for_leave() -> None:
    waiting = [part for part in EVERY if "models" in part.needs]
    assert {part.key for part in waiting} == {"models", "language"}
    for part in waiting:
        assert part.lacks(given()) == ("models",)
        assert not valued(found()[part.key].findings)


def test_the_same_seed_gives_the_same(part: Examination) -> None:
    if "models" in part.needs:
        pytest.skip("second trainings are in tests/examine")
    first, second = of(part), of(part, seed=3, made=30)  # the same settings, computed again
    assert first is not second
    assert [str(f) for f in first.findings] == [str(f) for f in second.findings]
    assert first.tables.keys() == second.tables.keys()
    for name, table in first.tables.items():
        pd.testing.assert_frame_equal(table, second.tables[name])
    assert {k: v.tolist() for k, v in first.signals.items()} == {k: v.tolist() for k, v in second.signals.items()}


@pytest.mark.parametrize("key", list(RISES))
def test_copies_raise_it(key: str) -> None:
    leaking, clean = found()[key], found(copies=0, made=60)[key]
    for name in RISES[key]:
        high, low = (
            next(f.value for f in result.findings if (f.name, f.reference) == (name, "train"))
            for result in (leaking, clean)
        )
        assert high > low, name


def test_what_is_kept_holds_no_private_text(part: Examination) -> None:
    """Neither a private word nor four words in a row; what it holds of a record is its id and places in it."""
    result, read = of(part), given(**({"models": True} | SMALL if "models" in part.needs else {})).given
    kept = json.dumps([f.as_dict() for f in result.findings], default=str)
    kept += "".join(table.to_csv() for table in result.tables.values())
    assert not MARK.search(kept)
    words = kept.split()
    runs = {tuple(words[i : i + 4]) for i in range(len(words) - 3)}
    for text in (*read.train["text"], *read.holdout["text"], *read.synthetic["text"]):
        own = text.split()
        assert not runs & {tuple(own[i : i + 4]) for i in range(len(own) - 3)}


def test_what_is_kept_comes_back_as_it_was(part: Examination, tmp_path: Path) -> None:
    result = of(part)
    for one in result.findings:
        assert str(Finding(**json.loads(json.dumps(one.as_dict())))) == str(one)
    for name, table in result.tables.items():
        path = tmp_path / f"{name}.parquet"
        write_table(path, table)
        back = read_table(path)
        assert (list(back.columns), len(back)) == (list(table.columns), len(table))


def at_the_end(kind: str) -> ExamineInput:
    """Return an examination of texts that a method should not make: copies, one sentence, nothing, three records."""
    given = world(copies=30, made=60)
    made = given.synthetic
    copies = given.train.assign(lineage=given.train["record_id"], record_id=[f"s-{i}" for i in given.train.index])
    changed = {
        "copies": copies[list(made.columns)], "one sentence": made.assign(text="She came because of pain in the knee."),
        "nothing": made.assign(text=""), "three records": made.tail(3),
    }  # fmt: skip
    return replace(given, synthetic=changed[kind].reset_index(drop=True))


@cache
def usefulness_at(kind: str) -> tuple[Finding, ...]:
    """Return all findings of usefulness, and whether the texts can be read."""
    prepared = prepare(at_the_end(kind))
    parts = [part for part in (*EXAMINATIONS, *USEFULNESS) if part in USEFULNESS or part.key == "readable"]
    rows = [one for part in parts if "models" not in part.needs for one in part.run(prepared).findings]
    return (*rows, *examine_usefulness(prepared, None))


@pytest.mark.parametrize("kind", ["copies", "one sentence", "nothing", "three records"])
def test_texts_that_no_method_should_make_have_numbers_with_their_intervals_or_a_reason(kind: str) -> None:
    for one in usefulness_at(kind):
        if math.isfinite(one.value):
            assert one.n >= 1
            if one.low is not None and one.high is not None:
                assert one.low - 1e-9 <= one.value <= one.high + 1e-9
        else:
            assert len(one.settings["why"].split()) >= 3, (one.name, one.settings["why"])


def test_three_records_have_no_measure_of_use_and_nothing_has_no_use() -> None:
    counted = ("readable", "seconds_per_1000")  # of records as such, not of what they are worth
    assert {one.name for one in valued([*usefulness_at("three records")]) if one.reference == "train"} == set()
    assert {one.name for one in valued([*usefulness_at("three records")]) if one.reference == "none"} <= {*counted}
    for kind in ("three records", "nothing"):
        assert not {use.mark for use in use_table(usefulness_at(kind))} & {"tick", "warning"}
    (teaching,) = [use for use in use_table(usefulness_at("one sentence")) if use.use.startswith("Teaching")]
    assert teaching.mark == "cross"


def test_of_copies_every_measure_reaches_what_real_text_has() -> None:
    """Records that name their sources are held against other people's, and nothing tells them from real text."""
    found = {(one.name, one.reference): one for one in valued([*usefulness_at("copies")])}
    apart = []
    for (name, reference), ours in found.items():
        real = found.get((name, "real"))
        if reference != "train" or real is None or None in (ours.low, ours.high, real.low, real.high):
            continue
        worse = {"lower is better": ours.low > real.high, "higher is better": ours.high < real.low}
        if worse.get(ours.direction, ours.low > real.high or ours.high < real.low):
            apart.append(name)
    assert not apart
