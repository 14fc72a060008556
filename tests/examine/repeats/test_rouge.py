"""ROUGE against counts made by hand, and against the reference implementation's formulas on random texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.examine.repeats.rouge import highest, pairs, rouge_2, rouge_l


def words(*numbers):
    return np.array(numbers, np.int32)


def test_hand_counted():
    made, reference = words(1, 2, 3, 1, 2), words(1, 2, 4, 3)
    # pairs: 12 23 31 12 against 12 24 43: one shared, since the reference has it once
    assert rouge_2(pairs(made), pairs(reference)) == pytest.approx(2 * 1 / (4 + 3))
    # longest common subsequence 1 2 3
    assert rouge_l(made, reference) == pytest.approx(2 * 3 / (5 + 4))
    assert rouge_2(pairs(words(1)), pairs(words(1))) == 0.0
    assert rouge_l(words(), words(1)) == 0.0


def longest_common(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i][j] = table[i - 1][j - 1] + 1 if x == y else max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_word_order_score_is_the_plain_recurrence(a, b):
    recall, precision = longest_common(a, b) / len(b), longest_common(a, b) / len(a)
    expected = 2 * recall * precision / (recall + precision) if recall else 0.0
    assert rouge_l(words(*a), words(*b)) == pytest.approx(expected)
    assert rouge_l(words(*a), words(*a)) == 1.0


def test_highest_finds_the_copied_reference():
    references = [words(1, 2, 3, 4, 5), words(6, 7, 8, 9)]
    two, longest = highest([words(6, 7, 8, 9), words(20, 21)], references)
    assert two.tolist() == [1.0, 0.0]
    assert longest.tolist() == [1.0, 0.0]
