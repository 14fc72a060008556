"""The strict meter on tables small enough to check by hand: it sees what PIPP and ELP cannot."""

from __future__ import annotations

import pytest

from engine.corpus.text.words import Vocabulary
from engine.examine.values import entities
from engine.examine.values.strict_scores import index_strict, mentions, read
from tests.examine.test_attacks import side

TRAIN = ["Mr Henrik Hasslund, application 36244/06, came.", "Ms Gul Yıldırım on 31 August 2006.", "The mother of Ann."]
PRIVATE = [(0, "Mr Henrik Hasslund", "direct"), (0, "36244/06", "direct"), (1, "Ms Gul Yıldırım", "direct"),
           (1, "31 August 2006", "quasi"), (2, "mother", "quasi"), (2, "Ann", "none")]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Hasslund said so.", {0}),
        ("MRS YILDIRIM", {2}),
        ("under 36244/07", {1}),
        ("under 36244-06, seen 31/08/2006", {1, 3}),
        ("Esther Hasslu", {0}),
        ("her mother came", set()),  # an everyday word among quasi-identifiers
        ("nobody", set()),
    ],
)
def test_what_the_strict_meter_sees(text: str, values: set[int]) -> None:
    vocabulary = Vocabulary()
    index = index_strict(side(TRAIN, vocabulary, PRIVATE))
    assert (len(index), index.skipped) == (4, 1)
    assert index.direct.tolist() == [True, True, True, False]
    found = mentions(read([text], index), index)
    assert set(found.value.tolist()) == values


def test_the_papers_measure_sees_none_of_these() -> None:
    vocabulary = Vocabulary()
    reference = side(TRAIN, vocabulary, PRIVATE)
    texts = ["Hasslund said so.", "MRS YILDIRIM", "under 36244/07", "seen 31/08/2006", "Esther Hasslu"]
    made = side(texts, vocabulary, prefix="s")
    assert not len(entities.find_entities(made.words, entities.index_entities(reference)).text)
    index = index_strict(reference)
    found = mentions(read(texts, index), index)
    assert set(found.text.tolist()) == {0, 1, 2, 3, 4}
    assert found.whole[found.text == 2].tolist() == [False]


def test_values_and_their_units() -> None:
    vocabulary = Vocabulary()
    texts = ["Ann Hasslund", "HASSLUND, ANN", "Ann  Hasslund"]
    index = index_strict(side(texts, vocabulary, [(0, texts[0], "direct"), (2, texts[2], "quasi")]))
    assert len(index) == 1
    assert set(index.units) == {"r0", "r2"}
