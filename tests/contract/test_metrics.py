"""One suite over every registered attack and every registered metric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.errors import InternalError
from engine.examine.attack_list import ATTACKS, Attack, Side
from engine.examine.measures import MEASURES
from engine.examine.usefulness.metrics import METRICS, Metric, Sample
from engine.examine.words import Vocabulary, cut

WORDS = [f"word{i}" for i in range(400)]


def texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [" ".join(rng.choice(WORDS, rng.integers(12, 40), p=weights / weights.sum())) for _ in range(n)]


def vectors(n: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, 16)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def side(content: list[str], vocabulary: Vocabulary, prefix: str, seed: int) -> Side:
    ids = np.array([f"{prefix}{i}" for i in range(len(content))], dtype=object)
    spans = pd.DataFrame(
        {"record_id": ids, "start": 0, "end": [t.index(" ", t.index(" ") + 1) for t in content], "label": "MISC",
         "identifier_type": "direct"}
    )  # fmt: skip
    return Side(ids, np.array(content, dtype=object), cut(content, vocabulary), ids, None, spans,
                vectors(len(content), seed), np.arange(len(content)) % 3)  # fmt: skip


@pytest.fixture(params=ATTACKS, ids=lambda attack: attack.name)
def attack(request: pytest.FixtureRequest) -> Attack:
    return request.param


@pytest.fixture(params=METRICS, ids=lambda metric: metric.name)
def metric(request: pytest.FixtureRequest) -> Metric:
    return request.param


def test_names_are_unique_and_explained() -> None:
    names = [a.name for a in ATTACKS] + [m.name for m in METRICS]
    assert len(names) == len(set(names))
    for name in names:
        measure = MEASURES[name]
        assert measure.source
        assert measure.means
        assert measure.caveat
    assert all(MEASURES[a.name].group == "privacy" for a in ATTACKS)
    assert all(MEASURES[m.name].group == "utility" for m in METRICS)


def test_an_attack_scores_copies_higher_than_other_text(attack: Attack) -> None:
    vocabulary = Vocabulary()
    reference = side(texts(40, 1), vocabulary, "r", 1)
    copies = replace(side(texts(40, 1), vocabulary, "s", 1), detections=np.full(40, 3))
    other = replace(
        side([t.replace("word", "other") for t in texts(40, 2)], vocabulary, "s", 2), detections=np.zeros(40, int)
    )
    high, low = attack.score(copies, reference), attack.score(other, reference)
    assert len(high.values) == (40 if high.per == "record" else len(low.values))
    assert np.isfinite(high.values).all()
    assert high.values.mean() > low.values.mean()
    assert "text" not in high.detail.columns
    assert not any(str(value).startswith("word") for value in high.detail.to_numpy().ravel())


def test_an_attack_is_a_function_of_its_input(attack: Attack) -> None:
    vocabulary = Vocabulary()
    reference, made = side(texts(30, 1), vocabulary, "r", 1), side(texts(30, 3), vocabulary, "s", 3)
    first, second = attack.score(made, reference), attack.score(made, reference)
    assert np.array_equal(first.values, second.values)
    assert first.detail.equals(second.detail)


def test_an_attack_says_what_it_lacks(attack: Attack) -> None:
    vocabulary = Vocabulary()
    bare = replace(side(texts(3, 1), vocabulary, "s", 1), embeddings=None, detections=None)
    if {"embeddings", "detections"} & set(attack.needs):
        with pytest.raises(InternalError):
            attack.score(bare, bare)
    else:
        assert len(attack.score(bare, bare).values)


def sample(content: list[str], seed: int, vocabulary: Vocabulary) -> Sample:
    table = cut(content, vocabulary)
    ids = np.arange(len(content)).astype(object)
    return Sample(tuple(table.of(i) for i in range(len(content))), ids, vectors(len(content), seed))


def test_a_metric_is_in_its_bounds_and_repeats(metric: Metric) -> None:
    vocabulary = Vocabulary()
    a, b = sample(texts(150, 1), 1, vocabulary), sample(texts(150, 2), 2, vocabulary)
    value = metric.score(a, b, 5)
    assert metric.bounds[0] <= value.value <= metric.bounds[1]
    assert metric.score(a, b, 5).value == value.value
    if value.parts is not None:
        assert float(np.mean(value.parts)) == pytest.approx(value.value)


def test_a_metric_is_at_its_best_for_equal_samples(metric: Metric) -> None:
    vocabulary = Vocabulary()
    a, b = sample(texts(150, 1), 1, vocabulary), sample(texts(150, 2), 2, vocabulary)
    same, other = metric.score(a, a, 5).value, metric.score(a, b, 5).value
    direction = MEASURES[metric.name].direction
    if direction == "lower is better":
        assert same == pytest.approx(0.0, abs=1e-9)
        assert other > same
    elif direction == "higher is better":
        assert same == pytest.approx(1.0, abs=1e-6)
        assert other <= same


def test_a_metric_of_nothing_is_not_a_number(metric: Metric) -> None:
    vocabulary = Vocabulary()
    nothing = replace(sample(texts(3, 1), 1, vocabulary).take(np.empty(0, np.int64)))
    value = metric.score(nothing, nothing, 0).value
    assert value != value
