"""Training with noise: the gradients of units drawn at random, clipped, added up, noised, a fixed number of times.

Mechanism: T times, each unit takes part on its own with probability q (Poisson sampling, uniforms of 53 bits from the
operating system). A unit's gradient is the mean over its documents of the gradient of a document's mean loss; it is
scaled down to length C at most. Their sum gets Gaussian noise on every coordinate and is divided by q N, the expected
number of units and not the number drawn; an empty draw takes its step on noise alone. The optimiser sees that
quotient and nothing else, and the last step's weights are what is used: no step is chosen by looking.
Sensitivity: a unit moves the sum by at most C in L2 norm, whatever it holds and however many documents it has;
under replace-one by 2 C. Gradients that are not finite count as nothing. The batch is worked through in parts for
memory; clipping is a unit's, noise the whole batch's, so the parts do not show.
Unit: a record or a source, its documents capped beforehand. Adjacency: zero-out (a unit's data become null; N is
public), or replace-one.
Public: N, q, T, C, the noise, the network, its start weights, the optimiser and its rates, the prompts.
An attacker sees the noisy sum of every step, and so every step's weights, and all public quantities and other units'
data; not who was drawn, not losses, not the time a step takes.
Assumptions: noise is a floating-point Gaussian (NumPy, PCG64DXSM) from a generator that gets 256 fresh bits from the
operating system a step; it is not cryptographic, and sums are rounded (Mironov 2012). PyTorch's own generator is not
used: on a CPU it keeps 32 bits of its seed. A unit's gradient depends on others only in the rounding of matrix
products that are computed side by side: where a unit goes, those behind it are grouped anew and padded otherwise. The
noise is not enlarged for that. With the built-in model, nine short documents in groups of three, one's going moved
the clipped gradients of two others by 0.012 C and 0.0023 C in bfloat16, and by 2e-6 C at most in float32; so learners
compute these gradients in float32 (`engine.models.tune.learner`), and the claim names the assumption. GPUs: not
measured.

Killed and resumed: the spend of the whole schedule is stored before the first step, and what a step made is stored
before anything of it is shown, its loss included. A step that a kill caught in memory is drawn anew: nobody saw what
it made, and whether it was lost does not depend on it, so what can be seen is distributed as in one training. Where
the spend is stored and the weights are gone, training does not begin again: the lost ones may have been seen.

Sources: Abadi et al. 2016 (DP-SGD, algorithm 1); Poisson sampling and its loss, Zhu and Wang 2019 and
`engine.dp.accounting.pld_events`; expected batch size, Ponomareva et al. 2023, section 5.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.dp.events import Event, vector_sensitivity
from engine.dp.noise import mechanisms
from engine.dp.noise.private_data import PrivateData
from engine.dp.noise.train_store import Keeper
from engine.errors import InternalError, UserError

if TYPE_CHECKING:
    from torch import Tensor

WHAT = "gradients of training"
_SHRINK = 1.0 - 1e-6  # a rounded quotient must not reach past the clip


@dataclass(frozen=True)
class Document:
    """One record as training reads it. topic: its nearest public topic, where records carry one."""

    text: str
    label: str | None = None
    topic: int | None = None


@dataclass(frozen=True)
class Training:
    """Public settings of the mechanism.

    Args:
        steps: T. clip: C, in the gradient's own unit. noise_multiplier: standard deviation over sensitivity.
        sampling_probability: q, in (0, 1]. expected: q N, units a step on average; the sum is divided by it.
        keep_every: steps between two stored ones; those in between live in memory only.
    """

    steps: int
    clip: float
    noise_multiplier: float
    sampling_probability: float
    expected: float
    keep_every: int = 1


@dataclass(frozen=True)
class Progress:
    """How far training is: steps done, steps in all, and each step's mean loss over the units drawn (NaN: none).

    The losses are exact and of private text: internal, and outside the guarantee.
    """

    step: int
    total: int
    losses: tuple[float, ...]


class Learner(Protocol):
    """Weights in training. Gradients and weights come in one fixed order; `side_by_side` documents fit into memory."""

    side_by_side: int

    def gradients(self, documents: Sequence[Document]) -> tuple[Sequence[Tensor], Tensor]:
        """Return each weight's gradients, one a document (n, *shape), and the documents' losses (n,)."""
        ...

    def shapes(self) -> Sequence[tuple[int, ...]]:
        """Return the weights' shapes."""
        ...

    def update(self, step: int, gradient: Sequence[Tensor]) -> None:
        """Take one step along a gradient."""
        ...

    def state(self) -> Mapping[str, Tensor]:
        """Return weights and optimiser as named tensors."""
        ...

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` returned."""
        ...


def event_of(asked: Training, unit: str, adjacency: str) -> Event:
    """Return the event of the whole schedule."""
    return Event(
        "gaussian", WHAT, noise_multiplier=asked.noise_multiplier, sampling_probability=asked.sampling_probability,
        count=asked.steps, sensitivity=vector_sensitivity(asked.clip, adjacency), unit=unit, adjacency=adjacency,
        geometry="vectors",
    )  # fmt: skip


class Trainer:
    """One schedule: where it stands, and how it goes on.

    Args:
        learner: weights at their public start. asked: the schedule. event: what it costs.
        keeper: where steps are stored. name: digest of schedule and network. spent: whether the cost is in the ledger.

    Raises:
        UserError: the cost is in the ledger and the stored steps are gone.
        InternalError: steps were stored that nothing paid for, or of another schedule.
    """

    def __init__(
        self, learner: Learner, asked: Training, event: Event, keeper: Keeper, name: str, *, spent: bool
    ) -> None:
        self.learner, self._asked, self._keeper, self._name = learner, asked, keeper, name
        self._sigma = float(event.noise_multiplier or 0.0) * event.sensitivity
        self.step = 0
        self.losses: list[float | None] = []
        self._data: PrivateData | None = None
        held = keeper.load()
        mine = held is not None and held[0].get("of") == name
        if spent and not mine:
            raise UserError(
                "The training's stored weights are gone, and its budget is spent: weights that were lost may have "
                "been seen, so it cannot begin again. Start a new run, which costs its own budget."
            )
        if held is not None and mine:
            self.step, self.losses = int(held[0]["step"]), json.loads(held[0]["losses"])
            if self.step and not spent:
                raise InternalError("training was stored that no ledger line pays for")
            learner.restore(held[1])
        else:
            self._keep()

    def progress(self) -> Progress:
        """Return how far training is."""
        return Progress(self.step, self._asked.steps, tuple(math.nan if x is None else x for x in self.losses))

    def begin(self, data: PrivateData) -> NDArray[np.float64]:
        """Take the data as opened, and return what stands for the schedule among the run's outputs: its steps."""
        self._data = data
        return np.array([self._asked.steps], dtype=np.float64)

    def advance(self, bound: PrivateData, until: int, cancelled: Callable[[], bool]) -> None:
        """Train until `until` steps are done or somebody asks to stop; what was done is stored before this returns."""
        last, stored = min(until, self._asked.steps), self.step
        if self.step < last and self._data is None:
            self._data = bound.open()  # resumed: the schedule was paid when it began
        begun = self.step
        while self.step < last and self._data is not None and (self.step == begun or not cancelled()):
            found = noisy_step(self._data, self.learner, self._asked, self._sigma, cancelled)
            if found is None:
                break
            gradient, loss = found
            self.learner.update(self.step, gradient)
            self.step += 1
            self.losses.append(None if math.isnan(loss) else round(loss, 5))
            if self.step - stored >= self._asked.keep_every:
                self._keep()
                stored = self.step
        if self.step > stored:
            self._keep()

    def _keep(self) -> None:
        about = {"of": self._name, "step": str(self.step), "losses": json.dumps(self.losses)}
        self._keeper.save(about, self.learner.state())


def noisy_step(
    data: PrivateData, learner: Learner, asked: Training, sigma: float, cancelled: Callable[[], bool] = lambda: False
) -> tuple[list[Tensor], float] | None:
    """Return the noisy mean gradient of one draw of units, and the exact mean loss; None where asked to stop.

    Args:
        sigma: standard deviation of the noise on the sum.
    """
    chosen = mechanisms.poisson_sample(data.units, asked.sampling_probability)
    total: list[Tensor] | None = None
    losses: list[float] = []
    for place, group in enumerate(_groups(data, chosen, learner.side_by_side)):
        if place and cancelled():
            return None
        means, loss = _unit_gradients(learner, group)
        clipped = clipped_sum(means, asked.clip)
        total = clipped if total is None else [a + b for a, b in zip(total, clipped, strict=True)]
        losses += loss
    noise = gaussian_noise(learner.shapes(), sigma)
    return [_blurred(part, None if total is None else total[i], asked.expected) for i, part in enumerate(noise)], float(
        np.mean(losses)
    ) if losses else math.nan


def clipped_sum(gradients: Sequence[Tensor], clip: float) -> list[Tensor]:
    """Return the sum over units of gradients scaled to length `clip` at most; what is not finite counts as nothing.

    Args:
        gradients: a tensor (units, *shape) a weight; the length is over all weights together.
    """
    import torch

    rows = [part.reshape(len(part), -1) for part in gradients]
    squares = torch.stack([(row.double() ** 2).sum(dim=1) for row in rows]).sum(dim=0)  # (units,)
    factor = (clip / squares.sqrt().clamp(min=clip)) * _SHRINK
    factor = torch.where(torch.isfinite(squares), factor, torch.zeros_like(factor))
    found = []
    for part, row in zip(gradients, rows, strict=True):
        safe = torch.where(torch.isfinite(squares)[:, None], row, torch.zeros_like(row))
        found.append((factor.to(row.dtype) @ safe).reshape(part.shape[1:]))
    return found


def gaussian_noise(shapes: Sequence[tuple[int, ...]], sigma: float) -> list[NDArray[np.float64]]:
    """Return Gaussian noise of standard deviation sigma of these shapes, from 256 fresh bits of the system."""
    seed = np.random.SeedSequence(int.from_bytes(os.urandom(32), "little"), pool_size=8)
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    return [sigma * rng.standard_normal(shape) for shape in shapes]


def _blurred(noise: NDArray[np.float64], total: Tensor | None, expected: float) -> Tensor:
    import torch

    drawn = torch.from_numpy(noise)
    if total is None:
        return (drawn / expected).float()
    return ((total.double() + drawn.to(total.device)) / expected).float()


def _groups(data: PrivateData, chosen: NDArray[np.bool_], most: int) -> list[list[list[Document]]]:
    """Return the drawn units' documents in groups of whole units, at most so many documents unless one unit has more.

    Units of like length stand together, so that little padding is computed; the sum does not depend on it.
    """
    units: dict[int, list[Document]] = {}
    topics: list[int | None] = data.topics.tolist() if data.has_topics else [None] * len(data.texts)
    for unit, text, label, topic in zip(data.unit_of.tolist(), data.texts, data.labels, topics, strict=True):
        if chosen[unit]:
            units.setdefault(unit, []).append(Document(text, label, topic))
    found: list[list[list[Document]]] = []
    held = most
    for documents in sorted(units.values(), key=lambda own: max(len(one.text) for one in own)):
        if held + len(documents) > most:
            found.append([])
            held = 0
        found[-1].append(documents)
        held += len(documents)
    return found


def _unit_gradients(learner: Learner, group: list[list[Document]]) -> tuple[list[Tensor], list[float]]:
    """Return each unit's mean gradient over its documents, a tensor (units, *shape) a weight, and its mean loss."""
    owner = [i for i, documents in enumerate(group) for _ in documents]
    documents = [one for own in group for one in own]
    sizes = [len(own) for own in group]
    sums: list[Tensor] | None = None
    losses = np.zeros(len(group))
    for at in range(0, len(documents), learner.side_by_side):
        part = slice(at, at + learner.side_by_side)
        gradients, loss = learner.gradients(documents[part])
        if sums is None:
            sums = [one.new_zeros((len(group), *one.shape[1:])) for one in gradients]
        for i, unit in enumerate(owner[part]):
            losses[unit] += float(loss[i]) / sizes[unit]
            for total, one in zip(sums, gradients, strict=True):
                total[unit] += one[i] / sizes[unit]
    return sums or [], losses.tolist()
