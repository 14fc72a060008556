"""Fit a network to prompted records without noise.

Privacy posture: weights fitted to private text are private text. They stay in memory or in the folder given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from engine.dp.noise.train import Document
from engine.errors import UserError
from engine.models.tune.fit import Fit, batch_of, steps_of
from engine.models.tune.learner import NetLearner


def tuning(
    learner: NetLearner,
    documents: Sequence[Document],
    *,
    epochs: int,
    batch: int,
    seed: int,
    folder: Path | None = None,
) -> Fit[float]:
    """Return the training of a learner on documents; losses are nats a token, one a step.

    Args:
        documents: at least one with a text. epochs: passes over them. batch: documents a step. seed: of the order.
        folder: where the newest step is kept, or None.

    Raises:
        UserError: there is nothing to train on.
    """
    told = [one for one in documents if one.text.strip()]
    if not told:
        raise UserError("training needs at least one record with a text; none was given")
    total = steps_of(len(told), epochs, batch)
    return Fit(_Plain(learner, told, batch, seed), total, _digest(learner, told, batch, total, seed), folder)


class _Plain:
    """Follows the mean gradient of each batch."""

    def __init__(self, learner: NetLearner, documents: Sequence[Document], batch: int, seed: int) -> None:
        self._learner, self._documents, self._batch, self._seed = learner, documents, batch, seed
        self._lengths = [len(one.text) for one in documents]

    def take(self, step: int) -> float:
        chosen = [self._documents[i] for i in batch_of(step, self._lengths, self._batch, self._seed)]
        gradient, loss = self._learner.mean_gradient(chosen)
        self._learner.update(step, gradient)
        return round(loss, 5)

    def state(self) -> Mapping[str, Tensor]:
        return self._learner.state()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        self._learner.restore(state)


def _digest(learner: NetLearner, documents: Sequence[Document], batch: int, total: int, seed: int) -> str:
    settings = [learner.digest(), asdict(learner.settings), batch, total, seed]
    found = hashlib.blake2b(json.dumps(settings).encode(), digest_size=16)
    for one in documents:
        for part in (one.text, one.label or ""):
            body = part.encode("utf-8", "surrogatepass")
            found.update(len(body).to_bytes(8, "little") + body)
    return found.hexdigest()
