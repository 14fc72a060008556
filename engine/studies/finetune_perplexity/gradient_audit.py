"""Audit of the noise of a training: the mechanism itself, run many times with and without one made-up unit.

The unit pulls at one weight alone as hard as it can, the others never do, and the adversary sees every noisy step
(Nasr et al. 2021, "Adversary instantiation", section 4.4: dirac gradients). Its statistic, declared here, is the
log-likelihood ratio of a Poisson-sampled Gaussian. The bound holds for the code that trains, with the schedule, the
sampling and the noise of the claim; the number of units is small, since only the sampling probability matters.
No private record is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms
from engine.dp.noise.private_data import PrivateData
from engine.dp.noise.train import Document, Training

UNITS = 4
TARGET = "target"
_EVERY = 20  # runs between two reports
_GRID = 200


class _Weight:
    """Two weights; only the target's gradient touches the first."""

    side_by_side = UNITS

    def __init__(self) -> None:
        self.seen: list[float] = []

    def gradients(self, documents: Sequence[Document]) -> tuple[list[Tensor], Tensor]:
        rows = [[1e6, 0.0] if one.text == TARGET else [0.0, 3.0] for one in documents]
        return [torch.tensor(rows)], torch.zeros(len(documents))

    def shapes(self) -> list[tuple[int, ...]]:
        return [(2,)]

    def update(self, step: int, gradient: Sequence[Tensor]) -> None:
        self.seen.append(float(gradient[0][0]))

    def state(self) -> Mapping[str, Tensor]:
        return {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        self.seen = []


@dataclass(frozen=True)
class Worlds:
    """The statistic of each run with the unit and without it, (runs,) each; larger speaks for the unit."""

    inside: NDArray[np.float64]
    outside: NDArray[np.float64]


def worlds(
    asked: Training, adjacency: str, runs: int, told: Callable[[int, int], None] = lambda done, total: None
) -> Worlds:
    """Run the training's mechanism `runs` times with the unit and as often without it."""
    import pandas as pd

    texts = [f"unit {i}" for i in range(UNITS - 1)] + [TARGET]
    columns = {"record_id": texts, "text": texts, "source_id": None, "label": None}
    whole, key = pd.DataFrame(columns), b"gradient audit".ljust(32, b".")
    toy = replace(asked, expected=asked.sampling_probability * UNITS, keep_every=asked.steps)
    found: dict[bool, list[float]] = {True: [], False: []}
    for number in range(runs):
        for there in (True, False):
            rows = whole if there else whole.iloc[:-1]
            learner = _Weight()
            held = Mechanisms(PrivateData(rows, order_key=key, units=UNITS), MemoryOutputs(), adjacency=adjacency)
            held.train_dp("training", learner, toy, fingerprint="audit")
            found[there].append(_ratio(np.array(learner.seen) * toy.expected, toy, adjacency))
        if number % _EVERY == 0:
            told(number, runs)
    return Worlds(np.array(found[True]), np.array(found[False]))


def _ratio(seen: NDArray[np.float64], asked: Training, adjacency: str) -> float:
    """Return ln of the likelihood of a run's noisy sums with the unit over that without it."""
    q, clip = asked.sampling_probability, asked.clip
    sigma = asked.noise_multiplier * clip * (1.0 if adjacency == "zero-out" else 2.0)
    shift = (seen * clip - clip**2 / 2.0) / sigma**2
    stays = math.log1p(-q) if q < 1.0 else -math.inf
    return float(np.logaddexp(stays, math.log(q) + shift).sum())


def bound(found: Worlds, delta: float) -> float:
    """Return the lower bound on ε at confidence 95%: the threshold from one half of the runs, judged on the other."""
    from engine.studies.audit_bounds import two_sample_epsilon

    half = len(found.inside) // 2

    def epsilon(inside: NDArray[np.float64], outside: NDArray[np.float64], threshold: float) -> float:
        hits = int((inside > threshold).sum()), int((outside > threshold).sum())
        return two_sample_epsilon(hits[0], len(inside), hits[1], len(outside), delta)

    first = np.concatenate([found.inside[:half], found.outside[:half]])
    thresholds = np.quantile(first, np.linspace(0.005, 0.995, _GRID))
    gains = [epsilon(found.inside[:half], found.outside[:half], float(t)) for t in thresholds]
    return epsilon(found.inside[half:], found.outside[half:], float(thresholds[int(np.argmax(gains))]))
