"""Intervals of metrics under simulation: of 200 draws, how many hold what the metric is on average at as many texts.

Texts are drawn from twelve kinds, and words from a distribution with a long tail; a planted difference is in other
shares of kinds, less spread, other words, shorter texts and, where repeats are measured, more of them. What an interval
must hold is the mean of the metric over the draws: a metric that moves with the number of texts is read beside real
against real, not corrected.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.examine.usefulness.base import Metric, Sample
from engine.examine.usefulness.metrics import METRICS
from engine.examine.usefulness.part import _measured

DRAWS = 200
DIMENSIONS, KINDS = 24, 12
MEANS = np.random.default_rng(99).normal(size=(KINDS, DIMENSIONS)) * 1.2
CENTRES = (MEANS / np.linalg.norm(MEANS, axis=1, keepdims=True)).astype(np.float32)
SHARES = np.linspace(2, 1, KINDS) / np.linspace(2, 1, KINDS).sum()
OTHER = SHARES[::-1] ** 2 / np.sum(SHARES**2)
TAIL = 1 / np.arange(1, 401) / np.sum(1 / np.arange(1, 401))
OTHER_TAIL = np.roll(TAIL**1.3, 3) / np.sum(TAIL**1.3)
TEXTS = ("near_duplicates", "compression")
REPEATS = ("duplicates", "near_duplicates")  # elsewhere a text that stands there twice is too rare to be held at few
SLOW = {"mauve": (100, 40), "sinkhorn": (24, 100)}  # texts a side and draws, where each draw takes long
ALONE = ("sentences", "tokens", "reading_level", "headings")  # as length_distance, and plain means


def rows_of(rng: np.random.Generator, n: int, planted: bool) -> np.ndarray:
    kinds = rng.choice(KINDS, n, p=OTHER if planted else SHARES)
    rows = MEANS[kinds] + rng.normal(size=(n, DIMENSIONS)) * (0.8 if planted else 1.0)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def words_of(rng: np.random.Generator, n: int, planted: bool, repeats: bool) -> tuple[np.ndarray, ...]:
    sizes = rng.integers(8, 30, n) if planted else rng.integers(12, 40, n)
    drawn = rng.choice(400, sizes.sum(), p=OTHER_TAIL if planted else TAIL).astype(np.int32)
    texts = np.split(drawn, np.cumsum(sizes)[:-1])
    for i in np.flatnonzero(repeats * (rng.random(n) < (0.2 if planted else 0.05))):
        texts[i] = texts[int(rng.integers(max(1, i)))]
    return tuple(texts)


def sample(rng: np.random.Generator, n: int, planted: bool, metric: Metric) -> Sample:
    units = rng.permutation(10**6)[:n].astype(object)
    if metric.needs == "embeddings":
        return Sample(tuple(np.zeros(1, np.int32) for _ in range(n)), units, rows_of(rng, n, planted), CENTRES)
    words = words_of(rng, n, planted, metric.name in REPEATS)
    texts = tuple(" ".join(f"w{word}" for word in text) for text in words) if metric.name in TEXTS else ()
    return Sample(words, units, texts=texts)


def drawn(metric: Metric, n: int, planted: bool, draws: int) -> np.ndarray:
    """Return value, low and high a draw, float array (draws, 3)."""
    found = []
    for draw in range(draws):
        rng = np.random.default_rng([draw, n, planted])
        made, target, real = (sample(rng, n, shift, metric) for shift in (planted, False, False))
        prepared: Any = SimpleNamespace(seed=draw, grouped=False, check=lambda: None)
        less = real if metric.excess else None
        one = _measured(metric, made, target if metric.pair else real, less, prepared, spread=True)
        found.append((one.value, one.low, one.high))
    return np.array(found, float)


def cases() -> Iterator[Any]:
    """Each metric, few and many texts, with and without a difference: one of eight, in turn, is slow, others long."""
    worlds = list(itertools.product((False, True), repeat=2))
    for turn, metric in enumerate(m for m in METRICS if m.name not in ALONE):
        sized = [world for world in worlds if not (world[0] and metric.name in SLOW)]  # each draw of these takes long
        for place, (large, planted) in enumerate(sized):
            mark = pytest.mark.slow if place == turn % (2 * len(sized)) else pytest.mark.long
            name = f"{metric.name}-{'many' if large else 'few'}-{'planted' if planted else 'equal'}"
            yield pytest.param(metric, large, planted, marks=mark, id=name)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("metric", "large", "planted"), cases())
def test_an_interval_holds_what_the_metric_is_on_average(metric: Metric, large: bool, planted: bool) -> None:
    n, draws = max(24, metric.least), DRAWS
    if metric.name in SLOW:
        n, draws = SLOW[metric.name]
    found = drawn(metric, 120 if large else n, planted, draws)
    truth = 0.0 if metric.excess and not planted else float(found[:, 0].mean())
    held = (found[:, 1] <= truth) & (truth <= found[:, 2])
    assert held.mean() >= (0.9 if large and draws == DRAWS else 0.87)  # of few texts, skewed ones are held in 88
    needed = 2 * 1.96 * float(found[:, 0].std())
    assert np.mean(found[:, 2] - found[:, 1]) < (3.5 if metric.share else 2.5) * needed
