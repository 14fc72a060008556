"""The Sinkhorn divergence against a library, equal sources and planted shifts."""

from __future__ import annotations

import os

import numpy as np
import pytest

from engine.errors import InternalError
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.meaning.sinkhorn import BLUR, sinkhorn, transport


def sample(n: int, seed: int, shift: float = 0.0, dimensions: int = 24) -> Sample:
    rows = np.random.default_rng(seed).normal(size=(n, dimensions))
    rows[:, 0] += 3.0
    rows[:, 1] += shift
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Sample(tuple(np.zeros(1, np.int32) for _ in range(n)), np.arange(n).astype(object), rows.astype(np.float32))


@pytest.mark.parametrize(("n", "m", "shift"), [(30, 30, 0.0), (20, 45, 0.0), (40, 40, 3.0)])
def test_it_equals_the_library(n: int, m: int, shift: float) -> None:
    for backend in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    import ot

    one, two = sample(n, 1, shift), sample(m, 2)
    x, y = (side.embeddings.astype(float) for side in (one, two))

    def theirs(a: np.ndarray, b: np.ndarray) -> float:
        return float(ot.solve(1.0 - a @ b.T, reg=BLUR, reg_type="KL", max_iter=20_000, tol=1e-12).value)

    assert transport(1.0 - x @ y.T) == pytest.approx(theirs(x, y), abs=1e-5)
    assert transport(1.0 - x @ x.T) == pytest.approx(theirs(x, x), abs=1e-5)
    expected = theirs(x, y) - (theirs(x, x) + theirs(y, y)) / 2
    assert sinkhorn(one, two).value == pytest.approx(expected, abs=2e-5)


def test_equal_sets_are_at_zero_and_a_shift_lies_above_chance() -> None:
    assert sinkhorn(sample(60, 1), sample(60, 1)).value == 0.0
    equal = [sinkhorn(sample(60, 2 * s), sample(60, 2 * s + 1)).value for s in range(40)]
    moved = [sinkhorn(sample(60, 2 * s), sample(60, 2 * s + 1, 2.0)).value for s in range(40)]
    assert min(equal) > 0
    assert min(moved) > max(equal)


def test_the_excess_over_real_text_is_zero_on_average_for_equal_sources() -> None:
    excess = []
    for s in range(200):
        made, target, real = (sample(40, 3 * s + i, dimensions=12) for i in range(3))
        excess.append(sinkhorn(made, target).value - sinkhorn(real, target).value)
    assert abs(np.mean(excess)) < 3 * np.std(excess) / np.sqrt(200)


def test_one_repeated_text_nothing_and_three_texts() -> None:
    real, none = sample(50, 1), sample(50, 1).take(np.empty(0, np.int64))
    repeated = real.take(np.zeros(50, np.int64))
    assert sinkhorn(repeated, real).value > 3 * sinkhorn(sample(50, 2), real).value
    assert np.isnan(sinkhorn(none, real).value)
    assert np.isfinite(sinkhorn(sample(3, 1), sample(3, 2)).value)


def test_costs_beyond_a_float_are_refused() -> None:
    with pytest.raises(InternalError, match="too far apart"):
        transport(np.array([[0.0, 1e3], [1e3, 0.0]]))
