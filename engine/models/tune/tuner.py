"""Fit a network to prompted records without noise, step by step, from a seed.

The order of the records follows from the seed and the epoch alone and the newest step is kept, so that a training
that was cut off goes on and ends as it would have.

Privacy posture: weights fitted to private text are private text. They stay in memory or in the folder given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from engine.dp.noise.train import Document
from engine.dp.noise.train_store import FolderKeeper, Keeper, MemoryKeeper
from engine.errors import UserError
from engine.models.tune.learner import NetLearner

_ALIKE = 8  # batches' worth of texts that are sorted by length


class Tuner:
    """Trains a learner on documents for some epochs.

    Args:
        documents: at least one with a text. epochs: passes over them. batch: documents a step. seed: of the order.
        folder: where the newest step is kept, or None.

    Raises:
        UserError: there is nothing to train on.
    """

    def __init__(
        self,
        learner: NetLearner,
        documents: Sequence[Document],
        *,
        epochs: int,
        batch: int,
        seed: int,
        folder: Path | None = None,
    ) -> None:
        self._documents = [one for one in documents if one.text.strip()]
        if not self._documents:
            raise UserError("training needs at least one record with a text; none was given")
        self.learner, self._batch, self._seed = learner, batch, seed
        self._epoch_steps = steps_of(len(self._documents), 1, batch)
        self.total = epochs * self._epoch_steps
        self.step = 0
        self.losses: list[float] = []
        self._keeper: Keeper = MemoryKeeper() if folder is None else FolderKeeper(folder)
        self._name = self._digest()
        held = self._keeper.load()
        if held is not None and held[0].get("of") == self._name:
            learner.restore(held[1])
            self.step, self.losses = int(held[0]["step"]), json.loads(held[0]["losses"])

    def advance(self, step: int) -> None:
        """Train until `step` steps are done, and keep the newest."""
        before = self.step
        while self.step < min(step, self.total):
            gradient, loss = self.learner.mean_gradient(self._drawn())
            self.learner.update(self.step, gradient)
            self.step += 1
            self.losses.append(round(loss, 5))
        if self.step > before:
            about = {"of": self._name, "step": str(self.step), "losses": json.dumps(self.losses)}
            self._keeper.save(about, self.learner.state())

    def _drawn(self) -> list[Document]:
        """Return this step's documents: an epoch's order, cut into batches of like length, the batches shuffled."""
        epoch, at = divmod(self.step, self._epoch_steps)
        rng = np.random.default_rng((self._seed, epoch))
        order, wide = rng.permutation(len(self._documents)).tolist(), self._batch * _ALIKE
        alike = [
            i
            for begin in range(0, len(order), wide)
            for i in sorted(order[begin : begin + wide], key=lambda i: len(self._documents[i].text))
        ]
        begin = int(rng.permutation(self._epoch_steps)[at]) * self._batch
        return [self._documents[i] for i in alike[begin : begin + self._batch]]

    def _digest(self) -> str:
        settings = [self.learner.digest(), asdict(self.learner.settings), self._batch, self.total, self._seed]
        found = hashlib.blake2b(json.dumps(settings).encode(), digest_size=16)
        for one in self._documents:
            for part in (one.text, one.label or ""):
                body = part.encode("utf-8", "surrogatepass")
                found.update(len(body).to_bytes(8, "little") + body)
        return found.hexdigest()


def steps_of(documents: int, epochs: int, batch: int) -> int:
    """Return how many steps so many epochs take."""
    return epochs * -(-documents // batch)
