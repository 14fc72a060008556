"""Neighbours by hand and against the full table."""

from __future__ import annotations

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.members.neighbours_scores import by_embedding, by_words


def test_similarity_of_word_sets_by_hand() -> None:
    vocabulary = Vocabulary()
    made = cut(["a b c d", "a a b", "x y", ""], vocabulary)
    private = cut(["a b", "A, b! c d", "z", ""], vocabulary)
    found = by_words(private, made, len(vocabulary), (1, 2, 4))
    assert found[0] == pytest.approx([1.0, (1 + 1 / 2) / 2, (1 + 1 / 2) / 4])  # {a, b} is the second's set
    assert found[1] == pytest.approx([1.0, (1 + 1 / 2) / 2, (1 + 1 / 2) / 4])
    assert found[2].tolist() == [0.0, 0.0, 0.0]
    assert found[3].tolist() == [0.0, 0.0, 0.0]  # no words: like nothing


@pytest.mark.parametrize("block", [1, 13, 512])
def test_blocks_equal_brute_force(block: int) -> None:
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary()
    texts = [" ".join(rng.choice([f"w{i}" for i in range(30)], rng.integers(0, 20))) for _ in range(90)]
    made, private = cut(texts[:40], vocabulary), cut(texts[40:], vocabulary)
    sets = [set(text.split()) for text in texts]
    table = np.array([[len(a & b) / max(1, len(a | b)) for b in sets[:40]] for a in sets[40:]])
    expected = -np.sort(-table, axis=1)
    told: list[tuple[int, int]] = []
    found = by_words(private, made, len(vocabulary), (1, 5, 25), lambda *at: told.append(at), block)
    for column, k in enumerate((1, 5, 25)):
        assert found[:, column] == pytest.approx(expected[:, :k].mean(axis=1), abs=1e-6)
    assert told[-1] == (50, 50)
    assert len(told) == -(-50 // block)


def test_cosines_equal_the_full_table() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = (rng.normal(size=(n, 8)).astype(np.float32) for n in (60, 30))
    ours, theirs = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (ours, theirs))
    expected = -np.sort(-(ours @ theirs.T), axis=1)
    found = by_embedding(ours, theirs, (1, 10, 30), block=7)
    for column, k in enumerate((1, 10, 30)):
        assert found[:, column] == pytest.approx(expected[:, :k].mean(axis=1), abs=1e-6)
