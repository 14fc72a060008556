"""Profiles of texts, counted in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.persons.profiles import grams, holding, units_holding


@pytest.mark.parametrize("block", [1, 3, 50_000])
def test_texts_that_hold_a_word_are_those_of_the_table(block, monkeypatch):
    monkeypatch.setattr("engine.examine.persons.profiles.BLOCK", block)
    rng = np.random.default_rng(3)
    vocabulary = Vocabulary()
    words = cut([" ".join(f"w{i}" for i in rng.integers(0, 9, size)) for size in (0, 3, 12, 5, 30, 1, 0)], vocabulary)
    (table,) = grams([words], 1)
    expected = np.asarray((table > 0).sum(axis=0)).ravel()
    assert holding(words, table.shape[1]).tolist() == expected.tolist()
    assert holding(words, 4).tolist() == expected[:4].tolist()
    units = np.array([0, 1, 1, 0, 2, 2, 1])
    of_units = [len({int(units[row]) for row in range(words.size) if word in words.of(row)}) for word in range(9)]
    assert units_holding(words, units, 9).tolist() == of_units
    assert max(of_units) == 3
    assert units_holding(words, np.arange(7), table.shape[1]).tolist() == expected.tolist()
