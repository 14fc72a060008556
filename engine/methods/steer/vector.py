"""From a noisy sum to what is added to a model's layers: it reads the sum and what is public, so it costs nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.methods.steer.public import PublicFrame


@dataclass(frozen=True)
class Found:
    """What a noisy sum says.

    Args:
        moves: what to add to each layer. shares: noisy share of each label, at least 0.
        length: of the noisy mean difference, in units of the cut. noise: the length that noise alone has.
        kept: what part of the difference stands above the noise, in [0, 1].
    """

    moves: dict[int, NDArray[np.float64]]
    shares: dict[str, float]
    length: float
    noise: float
    kept: float


def found_of(
    total: NDArray[np.float64],
    frame: PublicFrame,
    *,
    clip: float,
    strength: float,
    units: int,
    sigma: float,
    labels: Sequence[str] = (),
    label_share: float = 0.0,
) -> Found:
    """Return what to add to each layer, and the labels' shares.

    The mean difference is drawn towards nothing by what noise alone would make of it (James and Stein 1961): a sum
    that is all noise moves nothing.

    Args:
        total: the noisy sum, the labels' counts last. units: what it is divided by, public. sigma: of its noise.
    """
    weight = math.sqrt(1.0 - label_share) if labels else 1.0
    size = frame.size
    mean = total[:size] / (weight * units)
    noise = sigma * math.sqrt(size) / (weight * units)
    length = float(np.linalg.norm(mean))
    kept = max(0.0, 1.0 - noise**2 / length**2) if length > 0.0 else 0.0
    counts = np.maximum(total[size:], 0.0) if labels else np.zeros(0)
    return Found(
        frame.outwards(mean * (kept * clip * strength)),
        dict(zip(labels, counts.tolist(), strict=True)), length, noise, kept,
    )  # fmt: skip
