"""Shared word runs are found whatever the case, spacing and punctuation, and only those."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest

from engine.corpus.text.runs import copies_anything, index_windows
from engine.corpus.text.words import Vocabulary, cut
from engine.release.copies import check_copies

SOURCE = "The patient was seen by Dr Smith on the third of May and felt well afterwards"


def longest_common_words(released: Sequence[str], sources: Sequence[str]) -> int:
    """Return the lowest limit that passes: the longest run that a released and a source text share."""
    return next(k for k in count() if check_copies(released, sources, k).passed)


@pytest.mark.parametrize(
    ("released", "longest"),
    [
        ("nothing here", 0),
        ("The weather", 1),
        ("xx the patient was seen yy", 4),
        ("THE   patient, was\nseen: yy", 4),  # case, spacing and punctuation do not hide a copy
        (SOURCE, 16),
        ("seen was patient the", 1),  # other order
        ("", 0),
    ],
)
def test_longest_run(released: str, longest: int) -> None:
    assert longest_common_words([released], ["unrelated words", SOURCE]) == longest


def test_runs_do_not_cross_texts() -> None:
    assert longest_common_words(["a b", "c d"], ["a b c d"]) == 2
    assert longest_common_words(["a b c d"], ["a b", "c d"]) == 2


@pytest.mark.parametrize(("allowed", "texts"), [(3, (1,)), (4, ()), (0, (1, 2))])
def test_limit_is_the_longest_that_passes(allowed: int, texts: tuple[int, ...]) -> None:
    check = check_copies(["zzz", "xx the patient was seen yy", "patient"], [SOURCE], allowed)
    assert check.texts == texts
    assert check.passed is (not texts)


def test_agrees_with_brute_force_on_random_text() -> None:
    rng = random.Random(7)
    for _ in range(60):
        texts = [" ".join(rng.choices("abcdef", k=rng.randrange(0, 25))) for _ in range(6)]
        ours, theirs = texts[:3], texts[3:]
        best = 0
        for a in (t.split() for t in ours):
            for b in (t.split() for t in theirs):
                for i in range(len(a)):
                    for j in range(len(b)):
                        k = 0
                        while i + k < len(a) and j + k < len(b) and a[i + k] == b[j + k]:
                            k += 1
                        best = max(best, k)
        assert longest_common_words(ours, theirs) == best


def test_empty_sides() -> None:
    assert check_copies([], [SOURCE], 3).passed
    assert check_copies([SOURCE], [], 3).passed


@pytest.mark.parametrize(
    ("released", "source", "longest"),
    [
        ("\uff26\uff49\uff4c\uff45 number seven", "file number seven", 3),  # full-width letters
        ("the o\ufb03ce of Dr Smith's", "the office of Dr Smith\u2019s", 6),  # a ligature; an apostrophe ends a word
        (
            "\u60a3\u8005\u4e94\u6708\u5165\u9662",
            "\u8be5\u60a3\u8005\u4e94\u6708\u51fa\u9662",
            4,
        ),  # a character is a word
        ("STRASSE", "stra\u00dfe", 1),
    ],
)
def test_other_letters_and_scripts_do_not_hide_a_copy(released: str, source: str, longest: int) -> None:
    assert longest_common_words([released], [source]) == longest


def test_a_release_counts_copies_as_an_examination_does() -> None:
    rng, vocabulary = random.Random(3), Vocabulary()
    words = ["O'Neil", "\uff21\uff42", "stra\u00dfe", "\u5165\u9662", "x_1", "caf\u00e9", "cafe\u0301", "45", "a"]
    texts = [" ".join(rng.choices(words, k=rng.randrange(0, 40))) for _ in range(80)]
    index = index_windows(cut(texts[:40], vocabulary), 4)
    expected = np.flatnonzero(copies_anything(cut(texts[40:], vocabulary), index)).tolist()
    assert 0 < len(expected) < 40
    assert list(check_copies(texts[40:], texts[:40], 3).texts) == expected
