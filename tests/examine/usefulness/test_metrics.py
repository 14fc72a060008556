"""Utility metrics against closed forms and brute force."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.meaning.embeddings import embedding_similarity, mauve
from engine.examine.usefulness.meaning.text_map import lay_out
from engine.examine.usefulness.wording.diversity import (
    EPSILON,
    compression,
    distinct_grams,
    distinct_of,
    equal_texts,
    self_bleu,
    self_bleu_parts,
)
from engine.examine.usefulness.wording.lengths import length_distance
from engine.examine.usefulness.wording.ngrams import jensen_shannon, ngram_codes, ngram_divergence


def of(*texts: list[int]) -> Sample:
    return Sample(tuple(np.array(t, np.int32) for t in texts), np.arange(len(texts)).astype(object))


def written(texts: list[str]) -> Sample:
    table = cut(texts, Vocabulary())
    words = tuple(table.of(i) for i in range(len(texts)))
    return Sample(words, np.arange(len(texts)).astype(object), texts=tuple(texts))


def cloud(n: int, centre: int, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 32)) * 0.3
    x[np.arange(n), centre + rng.integers(0, 4, n)] += 2.0
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return Sample(tuple(np.zeros(1, np.int32) for _ in range(n)), np.arange(n).astype(object), x.astype(np.float32))


@pytest.mark.parametrize(
    ("p", "q", "bits"),
    [
        ([1, 0], [0, 1], 1.0),  # nothing in common
        ([0.5, 0.5], [0.5, 0.5], 0.0),
        ([1, 0], [0.5, 0.5], (math.log2(4 / 3) + (math.log2(2 / 3) + 1) / 2) / 2),
    ],
)
def test_jensen_shannon_by_hand(p: list[float], q: list[float], bits: float) -> None:
    assert jensen_shannon(np.array(p, float), np.array(q, float)) == pytest.approx(bits)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_equal_samples_are_at_zero_and_disjoint_ones_at_one(n: int) -> None:
    texts = of([1, 2, 3, 4], [2, 2, 3, 1, 5])
    other = of([11, 12, 13], [14, 15, 16, 17])
    assert ngram_divergence(texts, texts, n).value == 0.0
    assert ngram_divergence(texts, other, n).value == pytest.approx(1.0)


def test_ngrams_stay_inside_a_text() -> None:
    assert len(ngram_codes(of([1, 2], [3], [4, 5, 6]), 2, 10)) == 3
    assert ngram_codes(of([1, 2]), 2, 10).tolist() == [12]


def test_too_many_words_for_the_code_are_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        ngram_codes(of([1, 2, 3]), 3, 2**22)


def brute_force(texts: list[list[int]]) -> list[float]:
    """BLEU-4 by its definition, each text against all others, one reference after the other."""
    values = []
    for i, text in enumerate(texts):
        logs = []
        for n in range(1, 5):
            own = Counter(tuple(text[k : k + n]) for k in range(len(text) - n + 1))
            best: Counter[tuple[int, ...]] = Counter()
            for j, other in enumerate(texts):
                if j != i:
                    best |= Counter(tuple(other[k : k + n]) for k in range(len(other) - n + 1))
            total = sum(own.values())
            if total:
                matched = sum(min(count, best[gram]) for gram, count in own.items())
                logs.append(math.log((matched or EPSILON) / total))
        values.append(math.exp(sum(logs) / len(logs)))
    return values


@pytest.mark.parametrize("length", [5, 30])
def test_self_bleu_equals_a_library(length: int) -> None:
    from sacrebleu import sentence_bleu

    rng = np.random.default_rng(length)
    texts = [rng.integers(0, 12, length).tolist() for _ in range(25)]
    words = [" ".join(f"w{word}" for word in text) for text in texts]
    theirs = [
        sentence_bleu(text, [other for j, other in enumerate(words) if j != i], smooth_method="floor",
                      smooth_value=EPSILON, tokenize="none").score / 100
        for i, text in enumerate(words)
    ]  # fmt: skip
    assert self_bleu_parts(texts).tolist() == pytest.approx(theirs, rel=1e-6)


def test_self_bleu_of_a_hundred_texts_equals_brute_force() -> None:
    texts = (np.random.default_rng(1).zipf(1.4, (100, 40)) % 500).tolist()
    assert self_bleu_parts(texts).tolist() == pytest.approx(brute_force(texts))


def test_self_bleu_of_nothing_is_not_a_number() -> None:
    assert np.isnan(self_bleu_parts([[], [], []])).all()
    assert self_bleu_parts([]).tolist() == []
    assert self_bleu_parts([[1, 2], [], [1, 2]])[[0, 2]].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length", [3, 6, 12])
def test_self_bleu_equals_brute_force(seed: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, 5, length).tolist() for _ in range(12)]
    texts[3] = list(texts[1])
    assert self_bleu_parts(texts).tolist() == pytest.approx(brute_force(texts))


def test_self_bleu_is_one_for_copies_and_uses_equal_texts() -> None:
    same = of(*[[1, 2, 3, 4, 5, 6]] * 5)
    other = of(*[[1, 2, 3, 4]] * 3)
    assert self_bleu(same, same).value == pytest.approx(1.0)
    for pair in ((same, other), (other, same)):
        assert equal_texts(*pair) == ([[1, 2, 3, 4]] * 3, 4)
        assert self_bleu(*pair).value == pytest.approx(1.0)


def test_distinct_pairs_by_hand() -> None:
    texts = of([1, 2, 1, 2], [1, 2]).words  # pairs 12 21 12 | 12: two different of four
    assert distinct_grams(texts, 2, 100) == pytest.approx(2 / 4)
    assert distinct_grams(texts, 2, 4) == pytest.approx(2 / 3)
    assert distinct_grams(texts, 1, 100) == pytest.approx(2 / 6)
    assert distinct_grams(texts, 3, 100) == pytest.approx(2 / 2)
    assert math.isnan(distinct_grams(texts, 3, 2))
    assert math.isnan(distinct_grams((), 1, 10))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_distinct_ngrams_equal_a_set_and_count_equal_words(n: int) -> None:
    rng = np.random.default_rng(n)
    many, few = of(*rng.integers(0, 9, (40, 7)).tolist()), of(*rng.integers(0, 2**20, (6, 7)).tolist())
    grams = [tuple(text[i : i + n]) for text in many.words[:6] for i in range(7 - n + 1)]
    assert distinct_of(n)(many, few, 0).value == pytest.approx(len(set(grams)) / len(grams))
    assert distinct_of(n)(few, many, 0).value == 1.0


def test_compression_tells_copies_from_variety_at_equal_bytes() -> None:
    rng = np.random.default_rng(0)
    varied = written([" ".join(rng.choice(list("abcdefghij"), 60)) for _ in range(80)])
    repeated = written([varied.texts[0]] * 80)
    far = written([*varied.texts, *varied.texts])  # what returns stands far away
    assert compression(repeated, varied).value > 10 * compression(varied, varied).value
    assert compression(far, far).value > 1.7 * compression(varied, varied).value
    assert compression(far, varied).value == compression(varied, varied).value, "cut to equal bytes"
    assert math.isnan(compression(written([]), varied).value)


def test_length_distance_by_hand() -> None:
    short, long = of([1], [1]), of([1, 1, 1], [1, 1, 1])
    assert length_distance(short, long).value == pytest.approx(2 / 3)
    assert length_distance(long, long).value == 0.0
    assert math.isnan(length_distance(of(), long).value)


def test_embedding_similarity_is_the_mean_over_all_pairs() -> None:
    a, b = cloud(20, 0, 1), cloud(30, 5, 2)
    assert a.embeddings is not None
    assert b.embeddings is not None
    assert embedding_similarity(a, b).value == pytest.approx(float((a.embeddings @ b.embeddings.T).mean()), abs=1e-6)


def test_mauve_is_high_for_one_distribution_low_for_two_and_repeats(capfd: pytest.CaptureFixture[str]) -> None:
    same, far = mauve(cloud(800, 0, 1), cloud(800, 0, 2), 7).value, mauve(cloud(800, 0, 1), cloud(800, 20, 3), 7).value
    assert same > 0.9
    assert far < 0.1
    assert mauve(cloud(800, 0, 1), cloud(800, 0, 2), 7).value == same
    assert math.isnan(mauve(cloud(50, 0, 1), cloud(50, 0, 2), 7).value)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_the_map_keeps_two_clouds_apart_and_repeats() -> None:
    a, b = cloud(60, 0, 1), cloud(60, 20, 2)
    assert a.embeddings is not None
    assert b.embeddings is not None
    both = np.vstack([a.embeddings, b.embeddings])
    placed = lay_out(both, 3)
    assert placed.shape == (120, 2)
    apart = np.linalg.norm(placed[:, None] - placed[None], axis=2) + np.diag(np.full(120, np.inf))
    kinds = np.repeat([0, 1], 60)
    assert np.mean(kinds[apart.argmin(axis=1)] == kinds) > 0.95
    assert np.array_equal(placed, lay_out(both, 3))
    assert lay_out(both[:3], 3).shape == (3, 2)
