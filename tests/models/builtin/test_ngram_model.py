"""The 3-gram baseline is a proper distribution and learns its text."""

import numpy as np
import pytest

from engine.models.builtin.ngram_model import KneserNey

RNG = np.random.default_rng(0)
DOCUMENTS = [np.array([*RNG.integers(3, 9, size=12), 2], dtype=np.uint64) for _ in range(200)]


@pytest.mark.parametrize("context", [(), (3,), (3, 4), (8, 8)])
def test_probabilities_sum_to_one(context):
    model = KneserNey(DOCUMENTS, 10, 1)

    def bits(ids):
        return model.bits(np.array(ids, dtype=np.uint64)) if ids else 0.0

    total = sum(2 ** -(bits([*context, w]) - bits(list(context))) for w in range(10))
    assert total == pytest.approx(1.0, abs=1e-9)


def test_seen_text_is_cheaper_than_unseen_text():
    pattern = [np.array([3, 4, 5, 6, 2], dtype=np.uint64)] * 5 + DOCUMENTS[:20]
    model = KneserNey(pattern, 10, 1)
    assert model.bits(pattern[0]) < model.bits(np.array([6, 5, 4, 3, 2], dtype=np.uint64))


@pytest.mark.parametrize("block", [1, 7, 200])
def test_blocks_of_documents_count_the_same(block, monkeypatch):
    whole = KneserNey(DOCUMENTS, 10, 1)
    monkeypatch.setattr("engine.models.builtin.ngram_model.BLOCK", block)
    parts = KneserNey(iter(DOCUMENTS), 10, 1)
    for name in ("unigrams", "bigrams", "trigrams"):
        for one, other in zip(getattr(whole, name), getattr(parts, name), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole.probabilities(DOCUMENTS[:5]), parts.probabilities(DOCUMENTS[:5]))
