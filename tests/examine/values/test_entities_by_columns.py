"""The index of private entities: what it says of units, rows and marks, against counting by hand."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.base import Side, join_sides
from engine.examine.values import entities
from engine.examine.values.entities import (
    context_shares,
    find_entities,
    index_entities,
    leak_table,
    standing,
    standing_pairs,
)

WORDS = ["ann", "bert", "cleo", "dora", "emil", "finn", "gus", "hal"]


def world(seed: int, people: int = 12) -> tuple[Side, Side, list[list[int]]]:
    """Return a reference with marked words, a synthetic side made from it, and which words stand where."""
    rng = np.random.default_rng(seed)
    count = 3 * people
    held = [rng.integers(0, len(WORDS), rng.integers(0, 6)).tolist() for _ in range(count)]
    texts = [" ".join(["so", *(WORDS[word] for word in words)]) for words in held]
    ids = np.array([f"r{row}" for row in range(count)], object)
    spans = []
    for row, words in enumerate(held):
        at = 3
        for word in words:
            if rng.random() < 0.7:
                label, kind = ("PERSON", "direct") if word < 3 else ("PLACE", "quasi")
                spans.append((ids[row], at, at + len(WORDS[word]), label, kind))
            at += len(WORDS[word]) + 1
    frame = pd.DataFrame(spans, columns=["record_id", "start", "end", "label", "identifier_type"])
    vocabulary = Vocabulary()
    units = np.array([f"p{rng.integers(people)}" for _ in range(count)], object)
    reference = Side(
        ids, np.array(texts, object), cut(texts, vocabulary), units, spans=frame.sample(frac=1, random_state=1)
    )
    sources = rng.integers(0, count, 40)
    made = [" ".join(WORDS[word] for word in [*held[row][:2], int(rng.integers(len(WORDS)))]) for row in sources]
    lineage = np.array([None if rng.random() < 0.2 else ids[row] for row in sources], object)
    names = np.array([f"s{at}" for at in range(40)], object)
    return reference, Side(names, np.array(made, object), cut(made, vocabulary), names, lineage), held


def _surface(reference: Side, index: entities.EntityIndex, mark: int) -> str:
    return str(reference.texts[index.row[mark]])[index.start[mark] : index.end[mark]]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_holders_and_rows_are_those_of_the_marks(seed: int) -> None:
    reference, _, _ = world(seed)
    index = index_entities(reference)
    named = {
        number: _surface(reference, index, int(np.flatnonzero(index.entity == number)[0]))
        for number in range(len(index))
    }
    units, rows = defaultdict(set), defaultdict(set)
    row_of = {record: row for row, record in enumerate(reference.record_ids)}
    for record, start, end in reference.spans[["record_id", "start", "end"]].itertuples(index=False):
        word = str(reference.texts[row_of[record]])[start:end]
        units[word].add(reference.units[row_of[record]])
        rows[row_of[record]].add(word)
    assert sorted(named.values()) == sorted(units)
    assert [int(n) for n in index.holders] == [len(units[named[number]]) for number in range(len(index))]
    assert index.mask("rare").tolist() == [len(units[named[number]]) == 1 for number in range(len(index))]
    for row in range(len(reference)):
        assert {named[number] for number in index.of_row(row)} == rows[row]
    of, by, names = index.held
    assert {(named[int(number)], str(names[unit])) for number, unit in zip(of, by, strict=True)} == {
        (word, unit) for word, held in units.items() for unit in held
    }


@pytest.mark.parametrize("block", [1, 5, 1000])
def test_people_who_hold_an_entity_are_counted_in_blocks_as_at_once(monkeypatch, block: int) -> None:
    reference, _, held = world(4)
    monkeypatch.setattr(entities, "BLOCK", block)
    index = index_entities(reference)
    codes = pd.factorize(reference.units)[0]
    people = defaultdict(set)
    for row, words in enumerate(held):
        for word in words:
            people[WORDS[word]].add(codes[row])
    marks = [int(np.flatnonzero(index.entity == number)[0]) for number in range(len(index))]
    assert standing(reference.words, index, codes).tolist() == [
        len(people[_surface(reference, index, mark)]) for mark in marks
    ]


@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize("block", [3, 20_000])
def test_a_leak_stands_where_its_own_source_marks_it_first(seed: int, block: int, monkeypatch) -> None:
    monkeypatch.setattr("engine.examine.values.entities.BLOCK", block)
    reference, made, _ = world(seed)
    index = index_entities(reference)
    matches = find_entities(made.words, index)
    aside = np.zeros(len(index), bool)
    aside[0] = True
    table = leak_table(made, matches, index, aside, 10_000)
    kept = [at for at in range(len(matches.text)) if matches.entity[at] != 0]
    assert len(table) == len(kept) > 20
    own = 0
    for row, at in zip(table.itertuples(), kept, strict=True):
        marks = np.flatnonzero(index.entity == matches.entity[at]).tolist()
        source = made.lineage[matches.text[at]]
        mine = [mark for mark in marks if reference.record_ids[index.row[mark]] == source]
        own += bool(mine)
        mark = (mine or marks)[0]
        assert (row.source_record_id, row.source_start, row.source_end) == (
            reference.record_ids[index.row[mark]], index.start[mark], index.end[mark],
        )  # fmt: skip
        assert str(made.texts[matches.text[at]])[row.start : row.end] == _surface(reference, index, mark)
        assert (row.units, row.identifier_type == "direct") == (index.holders[row.entity], index.direct[row.entity])
    assert 0 < own < len(table)
    ranked = sorted(range(len(table)), key=lambda at: (not index.direct[table.entity[at]], table.units[at], at))
    for most in range(len(table) + 2):
        few = leak_table(made, matches, index, aside, most)
        assert few.to_dict("records") == table.iloc[sorted(ranked[:most])].to_dict("records")


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("block", [3, 20_000])
def test_shares_of_the_own_source_are_those_of_sets(seed: int, block: int, monkeypatch) -> None:
    monkeypatch.setattr("engine.examine.values.entities.BLOCK", block)
    reference, made, _ = world(seed)
    index = index_entities(reference)
    matches = find_entities(made.words, index)
    seen = defaultdict(set)
    for text, number in zip(matches.text.tolist(), matches.entity.tolist(), strict=True):
        seen[text].add(number)
    row_of = {record: row for row, record in enumerate(reference.record_ids)}
    expected = []
    for text, source in enumerate(made.lineage):
        own = index.of_row(row_of[source]) if source is not None else set()
        expected.append(len(own & seen[text]) / len(own) if own else np.nan)
    np.testing.assert_allclose(context_shares(matches, made.lineage, index), expected)
    assert np.isnan(expected).any()
    assert not np.isnan(expected).all()


@pytest.mark.parametrize("block", [3, 20_000])
def test_two_references_are_indexed_as_if_they_were_one(block: int, monkeypatch) -> None:
    monkeypatch.setattr("engine.examine.values.entities.BLOCK", block)
    reference, _, held = world(9)
    half = len(reference) // 2
    sides = [reference.take(np.arange(0, half)), reference.take(np.arange(half, len(reference)))]
    whole, apart = index_entities(join_sides(sides)), index_entities(*sides)
    for name in ("labels", "by_words", "lengths", "skipped"):
        assert getattr(whole, name) == getattr(apart, name)
    for name in ("direct", "entity", "row", "start", "end", "record_ids", "units", "holder", "holders"):
        assert getattr(whole, name).tolist() == getattr(apart, name).tolist()
    codes = np.arange(len(sides[1])) // 2
    entity, unit = standing_pairs(sides[1].words, apart, codes)
    named = {number: words for words, number in apart.by_words.items()}
    expected = {
        (number, row // 2) for row in range(half, len(reference)) for number, words in named.items()
        if words[0] in reference.words.ids[slice(*reference.words.offsets[[row, row + 1]])]
    }  # fmt: skip
    assert len(entity) == len(expected)
    assert {(e, u + half // 2) for e, u in zip(entity.tolist(), unit.tolist(), strict=True)} == expected
    assert sum(map(len, held[half:])) > len(expected) > 10


def test_a_reference_without_marks_finds_nothing() -> None:
    vocabulary = Vocabulary()
    texts, ids = ["so it is"], np.array(["r0"], object)
    bare = Side(ids, np.array(texts, object), cut(texts, vocabulary), ids)
    index = index_entities(bare)
    matches = find_entities(bare.words, index)
    assert len(index) == len(matches.text) == len(leak_table(bare, matches, index, np.zeros(0, bool), 5)) == 0
    assert standing(bare.words, index, np.zeros(1, np.int64)).tolist() == []
    assert np.isnan(context_shares(matches, np.array(["r0"], object), index)).all()
