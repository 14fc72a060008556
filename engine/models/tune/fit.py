"""Take a learner through its steps, keep the newest and go on from it: the one loop of training without noise.

Which records a step sees follows from the seed and the step alone, so that a training that was cut off ends as it
would have. Training with noise has a loop of its own (`engine.dp.noise.train`), since there a step is paid before it is
taken; `stacked` trains many networks at once in memory, each by its own schedule.

Privacy posture: weights fitted to private text are private text. They stay in memory or in the folder given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from engine.dp.noise.train_store import FILE, FolderKeeper

_ALIKE = 8  # batches' worth of records that are sorted by length, so that little padding is computed

Named = Iterable[tuple[str, Tensor]]
Noted = TypeVar("Noted", covariant=True)
"""What a step notes: a loss, or a loss by part."""


class Stepping(Protocol[Noted]):
    """Weights in training, one step after the other."""

    def take(self, step: int) -> Noted:
        """Take step number `step`, 0 the first; return what is noted of it (JSON-ready)."""
        ...

    def state(self) -> Mapping[str, Tensor]:
        """Return weights and optimiser as named tensors."""
        ...

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` returned."""
        ...


class Fit(Generic[Noted]):
    """One training: where it stands, and how it goes on.

    Args:
        learner: weights at their start. total: steps in all. name: digest of records, settings and start: what is kept
            of another training is not taken up.
        folder, file: where the newest step is kept, or None.
    """

    def __init__(self, learner: Stepping[Noted], total: int, name: str, folder: Path | None, file: str = FILE) -> None:
        self._learner, self._name, self.total = learner, name, total
        self._keeper = None if folder is None else FolderKeeper(folder, file)
        self.step = 0
        self.losses: list[Noted] = []
        held = None if self._keeper is None else self._keeper.load()
        if held is not None and held[0].get("of") == name:
            learner.restore(held[1])
            self.losses = json.loads(held[0]["losses"])
            self.step = int(held[0].get("step", len(self.losses)))

    def advance(self, until: int) -> None:
        """Train until `until` steps are done, and keep the newest."""
        before = self.step
        while self.step < min(until, self.total):
            self.losses.append(self._learner.take(self.step))
            self.step += 1
        if self.step > before and self._keeper is not None:
            about = {"of": self._name, "step": str(self.step), "losses": json.dumps(self.losses)}
            self._keeper.save(about, self._learner.state())


def steps_of(records: int, epochs: int, batch: int) -> int:
    """Return how many steps so many epochs take."""
    return epochs * -(-records // batch)


def batch_of(step: int, lengths: Sequence[int], batch: int, seed: int) -> list[int]:
    """Return the records of a step: an epoch's order, cut into batches of like length, the batches shuffled."""
    steps = steps_of(len(lengths), 1, batch)
    epoch, at = divmod(step, steps)
    rng = np.random.default_rng((seed, epoch))
    order, wide = rng.permutation(len(lengths)).tolist(), batch * _ALIKE
    alike = [
        i for begin in range(0, len(order), wide) for i in sorted(order[begin : begin + wide], key=lambda i: lengths[i])
    ]
    begin = int(rng.permutation(steps)[at]) * batch
    return alike[begin : begin + batch]


def state_of(kind: str, named: Named, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return weights as `<kind>.<name>` and the optimiser's moments as `adam.<number>.<name>`."""
    tensors = {f"{kind}.{name}": weight.detach() for name, weight in named}
    for index, state in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{key}": torch.as_tensor(value) for key, value in state.items()}
    return tensors


def restore(kind: str, named: Named, optimiser: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Take up what `state_of` returned."""
    own: dict[int, dict[str, Tensor]] = {}
    for key, value in state.items():
        if key.startswith("adam."):
            _, index, name = key.split(".", 2)
            own.setdefault(int(index), {})[name] = value
    with torch.no_grad():
        for name, weight in named:
            weight.copy_(state[f"{kind}.{name}"])
    optimiser.load_state_dict({**optimiser.state_dict(), "state": own})


def half_pays(device: str) -> bool:
    """Say whether multiplying in bfloat16 is fast on a kind of device."""
    from engine.models.builtin.embedder import bf16_pays

    return device == "cuda" or bf16_pays()
