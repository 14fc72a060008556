"""One suite over every registered metric of usefulness."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.findings.sizes import FEWER, SIZES, at
from engine.examine.measures import MEASURES
from engine.examine.usefulness.metrics import METRICS, Metric, Sample
from engine.examine.usefulness.part import _rows
from engine.examine.usefulness.sides import Trio
from engine.examine.usefulness.wording.features import of_texts

WORDS = [f"word{i}" for i in range(400)]
CENTRED = ("frechet",)  # of equal sources it is 0 on average, on either side: another source has to lie apart
ONE_IS_ENOUGH = ("precision", "density", "headings")  # a text among real ones is so however often it stands there


def texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    drawn = [rng.choice(WORDS, rng.integers(12, 40), p=weights / weights.sum()).astype(object) for _ in range(n)]
    for words in drawn:
        words[rng.random(len(words)) < 0.2] += "."
    return [f"Note: {i % 7}\n" + " ".join(words) for i, words in enumerate(drawn)]


def vectors(n: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, 16)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture(params=METRICS, ids=lambda metric: metric.name)
def metric(request: pytest.FixtureRequest) -> Metric:
    return request.param


def test_names_are_unique_and_explained() -> None:
    names = [m.name for m in METRICS]
    assert len(names) == len(set(names))
    for name in names:
        measure = MEASURES[name]
        assert measure.source
        assert measure.means
        assert measure.caveat
        assert measure.group == "utility"


def sample(content: list[str], seed: int, vocabulary: Vocabulary) -> Sample:
    table = cut(content, vocabulary)
    ids = np.arange(len(content)).astype(object)
    words = tuple(table.of(i) for i in range(len(content)))
    counted = of_texts(content, frozenset({"note"}))
    return Sample(words, ids, vectors(len(content), seed), texts=tuple(content), features=counted)


def test_a_metric_is_in_its_bounds_and_repeats(metric: Metric) -> None:
    vocabulary = Vocabulary()
    a, b = sample(texts(150, 1), 1, vocabulary), sample(texts(150, 2), 2, vocabulary)
    value = metric.score(a, b, 5)
    assert metric.bounds[0] <= value.value <= metric.bounds[1]
    assert metric.score(a, b, 5).value == value.value
    if value.parts is not None:
        assert float(np.mean(value.parts)) == pytest.approx(value.value)
        assert value.groups is None or len(value.groups) == len(value.parts)


def test_a_metric_is_at_its_best_for_equal_samples(metric: Metric) -> None:
    vocabulary = Vocabulary()
    a, b = sample(texts(150, 1), 1, vocabulary), sample(texts(150, 2), 2, vocabulary)
    if metric.name in CENTRED:
        assert b.embeddings is not None
        b = replace(b, embeddings=np.abs(b.embeddings))
    same, other = metric.score(a, a, 5).value, metric.score(a, b, 5).value
    direction = MEASURES[metric.name].direction
    if direction == "lower is better":
        assert same == pytest.approx(0.0, abs=1e-9) or (metric.name == "kid" and -0.2 < same < 0)  # unbiased
        assert other > same
    elif direction == "higher is better":
        assert same == pytest.approx(1.0, abs=1e-6)
        assert other <= same


def test_a_metric_of_nothing_is_not_a_number(metric: Metric) -> None:
    vocabulary = Vocabulary()
    nothing = replace(sample(texts(3, 1), 1, vocabulary).take(np.empty(0, np.int64)))
    value = metric.score(nothing, nothing, 0).value
    assert value != value


def test_a_metric_of_one_repeated_text_is_finite_and_not_at_its_best(metric: Metric) -> None:
    vocabulary = Vocabulary()
    real = sample(texts(150, 1), 1, vocabulary)
    repeated = real.take(np.zeros(150, np.int64))
    value, same = metric.score(repeated, real, 5).value, metric.score(real, real, 5).value
    assert np.isfinite(value)
    direction = MEASURES[metric.name].direction
    if direction == "lower is better":
        assert value > same
    elif direction == "higher is better":
        assert value < same
    else:
        assert abs(value - same) > 1e-6 or metric.name in ONE_IS_ENOUGH


def test_a_metric_of_three_texts_is_not_reported(metric: Metric) -> None:
    vocabulary = Vocabulary()
    three = sample(texts(3, 1), 1, vocabulary)
    assert metric.least > 3
    assert not np.isinf(metric.score(three, three, 0).value)


def test_a_metric_that_moves_with_the_number_of_texts_is_taken_of_fewer_of_them_too(metric: Metric) -> None:
    """To the last digit what an examination of as many of these texts says, interval and all."""
    vocabulary = Vocabulary()
    prepared: Any = SimpleNamespace(seed=3, grouped=False, check=lambda: None)
    centres = vectors(4, 9)
    sides = [replace(sample(texts(120, i), i, vocabulary), centres=centres) for i in range(3)]
    whole = [row for row in _rows(metric, Trio(*sides, None, False), prepared) if row.value == row.value]
    expected = [] if metric.steady else [size for size in SIZES if metric.least <= size < 120]
    for row in whole:
        assert [int(size) for size in row.settings.get(FEWER, {})] == expected
    for size in expected if whole else ():
        few = _rows(metric, Trio(*(side.drawn(size, 3) for side in sides), None, False), prepared)
        for row, alone in zip(whole, few, strict=True):
            found = at(row, size)
            assert found is not None
            assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)
            assert found.settings["texts_a_side"] == alone.settings["texts_a_side"] == size
