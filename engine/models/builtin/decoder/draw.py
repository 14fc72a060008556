"""Draw next tokens for a whole batch at once; each sequence has a random stream of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.models.contracts import Sampling


def draw_tokens(
    values: NDArray[np.float32], sampling: Sampling, randoms: Sequence[np.random.Generator]
) -> NDArray[np.int64]:
    """Return one token id a row of logits (B, V), by temperature, top-k and top-p; greedy at temperature 0.

    Args:
        values: Next-token logits. sampling: How to draw.
        randoms: One stream a row; a row's draw depends on its logits and its stream alone.

    Source of top-p: Holtzman et al. 2020, section 3.1.
    """
    if sampling.temperature <= 0:
        return values.argmax(axis=1).astype(np.int64)
    k = min(max(sampling.top_k, 1), values.shape[1])
    top = np.argpartition(values, -k, axis=1)[:, -k:]
    order = np.lexsort((top, -np.take_along_axis(values, top, axis=1)), axis=1)  # ties by token id
    top = np.take_along_axis(top, order, axis=1)
    held = np.take_along_axis(values, top, axis=1)
    mass = np.exp((held - held[:, :1]).astype(np.float64) / sampling.temperature).cumsum(axis=1)
    last = (mass < sampling.top_p * mass[:, -1:]).sum(axis=1, keepdims=True)  # the first place that reaches top_p
    last = np.minimum(last, k - 1)
    aim = np.array([[random.random()] for random in randoms]) * np.take_along_axis(mass, last, axis=1)
    place = np.minimum((mass <= aim).sum(axis=1, keepdims=True), last)
    return np.take_along_axis(top, place, axis=1)[:, 0].astype(np.int64)


def penalise(values: NDArray[np.float32], seen: Sequence[int], penalty: float) -> None:
    """Lower the logits (V,) of tokens already made, in place (Keskar et al. 2019, section 4.1)."""
    ids = np.unique(np.asarray(seen, dtype=np.int64))
    held = values[ids]
    values[ids] = np.where(held > 0, held / penalty, held * penalty)
