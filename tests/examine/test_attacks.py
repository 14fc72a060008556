"""Attacks on tables small enough to check by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from engine.corpus.text import runs
from engine.corpus.text.words import Vocabulary, cut
from engine.examine.base import Side
from engine.examine.repeats import nearest, verbatim
from engine.examine.values import detected, entities

SPAN_COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]


def side(
    texts: Sequence[str],
    vocabulary: Vocabulary,
    private: Sequence[tuple[int, str, str]] = (),
    lineage: Sequence[str | None] | None = None,
    prefix: str = "r",
) -> Side:
    """Build a side; `private` names (text number, surface, identifier type)."""
    ids = np.array([f"{prefix}{i}" for i in range(len(texts))], dtype=object)
    rows = [
        (f"{prefix}{i}", texts[i].index(surface), texts[i].index(surface) + len(surface), "PERSON", kind)
        for i, surface, kind in private
    ]
    spans = pd.DataFrame(rows, columns=SPAN_COLUMNS)
    sources = None if lineage is None else np.array(lineage, dtype=object)
    return Side(ids, np.array(texts, dtype=object), cut(texts, vocabulary), ids, sources, spans)


TRAIN = ["Anna Berg came on 3 May.", "Mr O'Neil, aged 45, saw Anna Berg.", "No name here."]
PRIVATE = [(0, "Anna Berg", "direct"), (0, "3 May", "quasi"), (1, "O'Neil", "direct"), (1, "45", "quasi"),
           (1, "Anna Berg", "direct"), (2, "No", "none")]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "pipp", "elp"),
    [
        (["Nothing at all."], [0], 0 / 4),  # four distinct entities; `none` is not one
        (["ANNA  BERG left."], [1], 1 / 4),  # case and spacing do not matter
        (["Anna and Berg."], [0], 0 / 4),  # both words, but not next to each other
        (["Annabel Bergman, 145 mg"], [0], 0 / 4),  # inside longer words does not count
        (["o neil’s knee", "at 45.", "3 May 45"], [1, 1, 1], 3 / 4),
        (["Anna Berg, Anna Berg, Anna Berg"], [1], 1 / 4),  # counted once
    ],
)
def test_pipp_and_elp_by_hand(texts: list[str], pipp: list[int], elp: float) -> None:
    vocabulary = Vocabulary()
    reference, made = side(TRAIN, vocabulary, PRIVATE), side(texts, vocabulary, prefix="s")
    index = entities.index_entities(reference)
    matches = entities.find_entities(made.words, index)
    assert entities.records_with(matches, len(made), index.mask("all")).tolist() == [bool(hit) for hit in pipp]
    assert entities.entities_found(matches, len(index)).mean() == pytest.approx(elp)


def test_the_context_edition_asks_for_the_own_source_only() -> None:
    vocabulary = Vocabulary()
    reference = side(TRAIN, vocabulary, PRIVATE)
    made = side(["Anna Berg, 45", "Anna Berg, 45", "Anna Berg"], vocabulary, lineage=["r0", "r1", "r2"], prefix="s")
    index = entities.index_entities(reference)
    matches = entities.find_entities(made.words, index)
    shares = entities.context_shares(matches, made.lineage, index)
    assert shares[:2].tolist() == pytest.approx([1 / 2, 2 / 3])  # of {Anna Berg, 3 May}; of {O'Neil, 45, Anna Berg}
    assert np.isnan(shares[2])  # its source has no private entity
    assert index.mask("rare").tolist() == [False, True, True, True]  # Anna Berg stands in two records


def test_an_entity_of_function_words_or_forms_of_address_is_left_out() -> None:
    vocabulary = Vocabulary()
    found = ("An", "To An", "An Berg", "DR")
    private = [(0, value, "direct") for value in found]
    index = entities.index_entities(side(["An came. To An, from An Berg. DR/sec"], vocabulary, private))
    assert (len(index), index.skipped) == (1, 3)


def test_an_entity_of_one_character_is_left_out() -> None:
    vocabulary = Vocabulary()
    index = entities.index_entities(side(["J came."], vocabulary, [(0, "J", "direct")]))
    assert (len(index), index.skipped) == (0, 1)


EIGHT = "one two three four five six seven eight"


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        (EIGHT, 1),
        (EIGHT.upper().replace(" ", ", "), 1),  # case and punctuation do not matter
        ("one two three four five six seven", 0),  # seven words
        ("one two three four five six seven nine", 0),
        (f"before {EIGHT} after", 1),
        ("two three four five six seven eight ten", 0),  # runs on into the next text
        ("", 0),
    ],
)
def test_verbatim_by_hand(text: str, copied: int) -> None:
    vocabulary = Vocabulary()
    reference = side([EIGHT, "ten eleven"], vocabulary)
    index = runs.index_windows(reference.words)
    assert runs.copies_anything(side([text], vocabulary, prefix="s").words, index).tolist() == [bool(copied)]


def test_copied_passages_are_as_long_as_they_can_be_and_prefer_the_own_source() -> None:
    vocabulary = Vocabulary()
    reference = side([f"{EIGHT} nine", f"{EIGHT} nine ten", f"x {EIGHT} nine ten"], vocabulary)
    text = f"Say: {EIGHT} nine ten."
    index = runs.index_windows(reference.words)
    free = verbatim.copied_spans(side([text], vocabulary, prefix="s"), reference, index).iloc[0]
    assert (free.source_record_id, free.words) == ("r1", 10)
    assert text[free.start : free.end] == f"{EIGHT} nine ten"
    own = verbatim.copied_spans(side([text], vocabulary, lineage=["r2"], prefix="s"), reference, index).iloc[0]
    assert own.source_record_id == "r2"
    assert reference.texts[2][own.source_start : own.source_end] == f"{EIGHT} nine ten"


def test_a_collision_of_hashes_is_not_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "mix", lambda numbers: np.zeros_like(numbers))  # every window has the same hash
    vocabulary = Vocabulary()
    reference = side(["a b c d e f g h i j", EIGHT], vocabulary)
    made = side([EIGHT, "k l m n o p q r"], vocabulary, prefix="s")
    assert runs.copies_anything(made.words, runs.index_windows(reference.words)).tolist() == [True, False]


def test_verbatim_equals_brute_force_on_random_texts() -> None:
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary()
    texts = [" ".join(rng.choice(["a", "b", "c"], rng.integers(3, 30))) for _ in range(120)]
    reference, made = side(texts[:60], vocabulary), side(texts[60:], vocabulary, prefix="s")
    known = {tuple(t.split()[i : i + 8]) for t in texts[:60] for i in range(len(t.split()) - 7)}
    expected = [any(tuple(t.split()[i : i + 8]) in known for i in range(len(t.split()) - 7)) for t in texts[60:]]
    index = runs.index_windows(reference.words)
    assert runs.copies_anything(made.words, index).tolist() == expected


def test_nearest_equals_the_full_table() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(n, 8)).astype(np.float32) for n in (70, 50))
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    best, where = nearest.nearest(a, b, block=16)
    assert best == pytest.approx((a @ b.T).max(axis=1), abs=1e-6)
    assert where.tolist() == (a @ b.T).argmax(axis=1).tolist()


class Digits:
    def detect(self, texts: Sequence[str]) -> list[list[dict[str, object]]]:
        return [
            [{"start": i, "end": i + 1, "label": "CODE", "identifier_type": "none" if ch == "0" else "direct"}
             for i, ch in enumerate(text) if ch.isdigit()]
            for text in texts
        ]  # fmt: skip


def test_detected_spans_are_counted_a_record_without_type_none() -> None:
    told: list[int] = []
    spans = detected.detect_spans(["a1", "", "203"], Digits(), batch=2, after_batch=told.append)
    assert detected.counts(spans, 3).tolist() == [1, 0, 2]
    assert told == [2, 3]


def test_words_of_scripts_without_spaces_are_characters() -> None:
    table = cut(["東京 Tokyo-2", "ﬁne ＡＢ"], vocabulary := Vocabulary())
    assert vocabulary.words() == ["東", "京", "tokyo", "2", "fine", "ab"]
    assert table.counts.tolist() == [4, 2]
    assert table.take(np.array([1, 0])).of(0).tolist() == [4, 5]
