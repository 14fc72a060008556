"""Mechanisms without noise (ε = ∞): what a method would give if privacy cost nothing.

For internal references alone. They record no event, store no output and pay nothing, so no claim can be made from
them: nothing but the study that compares noise with none may use them, and a test holds to that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.dp.events import Event
from engine.dp.noise.private import Measure, Mechanisms
from engine.errors import UserError

_CERTAIN = 1e3  # pure loss: noise of 0.004 on counts, which half a step of the threshold makes sure of


class NoiselessMechanisms(Mechanisms):
    """Exact statistics under the interface of noisy ones."""

    def above_threshold(
        self,
        key: str,
        feature: str = "length",
        *,
        queries: Sequence[float],
        direction: str,
        threshold: float = 0.0,
        epsilon: float,
        measure: Measure | None = None,
        what: str | None = None,
    ) -> int:
        """Return the index of the first query whose count is at most the threshold, or their number."""
        return super().above_threshold(
            key, feature, queries=queries, direction=direction, threshold=threshold + 0.5, epsilon=_CERTAIN,
            measure=measure, what=what,
        )  # fmt: skip

    def noisy_mean(
        self, key: str, feature: str = "self_similarity", *, epsilon: float, what: str | None = None
    ) -> float:
        """Return the mean cosine over all pairs of units, to a thousandth of what one unit can change."""
        return super().noisy_mean(key, feature, epsilon=_CERTAIN, what=what)

    def noisy_selection(
        self, key: str, utilities: NDArray[np.float64], *, sigma: float | None = None, epsilon: float | None = None
    ) -> NDArray[np.int64]:
        """Return, for each row, the candidate of greatest utility, the first at a tie."""
        return np.atleast_2d(np.asarray(utilities, dtype=np.float64)).argmax(axis=1).astype(np.int64)

    @staticmethod
    def _best(points: NDArray[np.int64], epsilon: float, sensitivity: float) -> NDArray[np.float64]:
        return np.array([points.argmax()], dtype=np.float64)

    def private_logits(self, *given: object, **named: object) -> NoReturn:
        """Refuse: tokens of private prediction are not votes."""
        raise UserError("private prediction has no reference without noise here")

    def train_dp(self, *given: object, **named: object) -> NoReturn:
        """Refuse: training without noise is the method `finetune`."""
        raise UserError("noisy training has no reference without noise here; compare with the method finetune")

    @staticmethod
    def _with_noise(counts: ArrayLike, event: Event) -> NDArray[np.float64]:
        return np.asarray(counts, dtype=np.float64)

    def _once(
        self, key: str, request: Mapping[str, object], event: Event, draw: Callable[[], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return what is drawn; neither the output nor an event is kept."""
        return np.asarray(draw(), dtype=np.float64)
