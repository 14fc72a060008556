"""Shared word runs are found whatever the case, spacing and punctuation, and only those."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count

import pytest

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
