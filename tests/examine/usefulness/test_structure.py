"""Sentences, tokens, reading level, headings and repeated texts, by hand and against brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.wording.duplicates import duplicates, near_duplicates
from engine.examine.usefulness.wording.features import (
    headings,
    lix,
    of_texts,
    reading_level,
    sentences_of,
    usual_headings,
    usual_headings_carried,
)
from engine.examine.usefulness.wording.lengths import distance_of

LETTER = "HISTORY: pain in the knee.\nPlan: rest\nDear Dr: {}"


def sample(texts: list[str], units: list[str] | None = None, usual: frozenset[str] = frozenset()) -> Sample:
    table = cut(texts, Vocabulary())
    names = np.array(units if units is not None else list(range(len(texts))), object)
    words = tuple(table.of(i) for i in range(len(texts)))
    return Sample(words, names, texts=tuple(texts), features=of_texts(texts, usual))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", 0), ("...", 0), ("Pain", 1), ("Pain. Fever!", 2), ("Temp 39.5 today. Rest", 2),
        ("11DEC97 fever 103;17DEC change; nausea", 2), ("One\n\ntwo\n- ", 2), ("痛い。熱がある。", 2),
    ],
)  # fmt: skip
def test_sentences_are_counted(text: str, sentences: int) -> None:
    assert sentences_of(text) == sentences


def test_lix_by_hand() -> None:
    assert lix("The examination was unremarkable. She went home.", 2) == pytest.approx(7 / 2 + 100 * 2 / 7)
    assert np.isnan(lix("...", 0))
    easy = sample(["The cat sat. It ate."] * 3)
    hard = sample(["Postoperative haemodynamic instability necessitated vasopressor administration"] * 3)
    assert reading_level(easy, hard).value < 20 < 90 < reading_level(hard, easy).value
    assert reading_level(sample(["...", "The cat sat."]), easy).value == pytest.approx(3.0), (
        "texts without words left out"
    )
    assert np.isnan(reading_level(sample(["..."]), easy).value)


def test_headings_are_lines_before_a_colon_and_lines_in_capitals() -> None:
    text = (
        "# Summary\n**Plan:** rest\nPAST HISTORY\nhe said: no\nThis is a long sentence that goes on: so\nX\n12:30 seen"
    )
    assert headings(text) == {"plan", "past history"}
    assert headings("HISTORY: knee") == {"history"}


def test_usual_headings_stand_in_a_quarter_of_the_texts_and_with_three_people() -> None:
    letters = [LETTER.format(i) for i in range(4)] + ["Rare: x"] + ["no heading here"] * 7
    assert usual_headings(sample(letters)) == {"history", "plan", "dear dr"}
    assert usual_headings(sample(letters, ["a", "a", "b", "b", *"cdefghij"])) == frozenset(), "of two people alone"
    assert usual_headings(sample(letters + ["none"] * 8)) == frozenset(), "in a fifth of the texts"


def test_headings_carried_by_hand() -> None:
    usual = frozenset({"history", "plan"})
    real = sample(["History: a\nPlan: b", "History: a", "nothing"], usual=usual)
    assert usual_headings_carried(real, real).value == pytest.approx((1 + 0.5 + 0) / 3)
    assert usual_headings_carried(sample(["none"] * 4, usual=usual), real).value == 0.0
    assert np.isnan(usual_headings_carried(sample(["History: a"]), real).value), "not applicable without usual ones"


def test_lengths_in_sentences_and_tokens() -> None:
    one, three = sample(["A b."] * 4), sample(["A b. C d. E f."] * 4)
    assert distance_of("sentences")(one, three, 0).value == pytest.approx(2 / 3)
    assert distance_of("sentences")(one, one, 0).value == 0.0
    assert distance_of("tokens")(one, three, 0).value > 0.4
    assert np.isnan(distance_of("tokens")(one.take(np.empty(0, np.int64)), three, 0).value)
    assert np.isnan(distance_of("tokens")(replace(one, features={}), three, 0).value)


def test_repeated_texts_are_counted_at_equal_numbers() -> None:
    rng = np.random.default_rng(0)
    fresh = [" ".join(f"w{i}" for i in rng.integers(0, 10**6, 40)) for _ in range(40)]
    plain = sample(fresh)
    near = [text + " tail" for text in fresh[:4]]  # of 41 words: 36 of 37 shingles are shared
    copies = sample([*fresh[:30], fresh[0].upper() + "!", fresh[0], *near])
    assert duplicates(plain, plain).value == near_duplicates(plain, plain).value == 0.0
    assert duplicates(copies, plain).value == pytest.approx(3 / 36)
    assert near_duplicates(copies, plain).value == pytest.approx((3 + 1 + 6) / 36)
    assert duplicates(copies, sample(fresh[:31])).value == pytest.approx(2 / 31), "as many texts as the other side has"
    first = np.arange(30)  # without the copies of the first text
    assert duplicates(copies, plain).again(first) == near_duplicates(copies, plain).again(first) == 0.0
    assert near_duplicates(copies, plain).again(np.array([0, 1, 32, 33])) == pytest.approx(4 / 4)
    repeated = sample([fresh[0]] * 20)
    assert duplicates(repeated, plain).value == near_duplicates(repeated, plain).value == 1.0
    assert np.isnan(duplicates(sample([]), plain).value)
    assert np.isnan(near_duplicates(sample(["a"]), plain).value)


@pytest.mark.parametrize("seed", range(3))
def test_near_duplicates_equal_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stems = [[f"w{i}" for i in rng.integers(0, 10**6, 60)] for _ in range(10)]
    texts = []
    for stem in stems:
        for _ in range(3):
            words = list(stem)
            for place in rng.integers(0, 60, rng.integers(0, 4)):
                words[place] = f"x{rng.integers(10**6)}"
            texts.append(" ".join(words))
    sets = [{tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in map(str.split, texts)]
    close = [
        any(len(a & b) / len(a | b) >= 0.8 for j, b in enumerate(sets) if j != i) for i, a in enumerate(sets)
    ]  # fmt: skip
    found = near_duplicates(sample(texts), sample(texts))
    assert found.value == np.mean(close)
    rows = rng.permutation(30)[:20]
    left = [any(len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= 0.8 for j in rows if j != i) for i in rows]
    assert found.again(rows) == np.mean(left)
