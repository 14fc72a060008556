"""Private data behind mechanisms: the only way a `dp` method touches records.

Privacy posture: this module reads private text. It hands out noisy statistics only, and names no content in
messages. Each call opens the data once, adds the noise, records an event and stores the output before the
caller sees it; a stored output is returned again instead of being redrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.dp.events import Event

if TYPE_CHECKING:
    import pandas as pd

Measure = Callable[[str], int]


@dataclass(frozen=True)
class Stored:
    """A mechanism's output as it was drawn: what was asked, what it cost, what came out."""

    request: Mapping[str, Any]
    event: Event
    values: NDArray[np.float64]


class OutputStore(Protocol):
    """Keeps outputs of one run; `save` is atomic and durable before it returns."""

    def load(self, key: str) -> Stored | None:
        """Return what was stored under this key, or None."""
        ...

    def save(self, key: str, request: Mapping[str, Any], event: Event, values: NDArray[np.float64]) -> None:
        """Keep an output, and its ledger line, for good."""
        ...


class MemoryOutputs:
    """Outputs kept in this process only."""

    def __init__(self) -> None:
        self.stored: dict[str, Stored] = {}

    def load(self, key: str) -> Stored | None:
        """Return what was stored under this key, or None."""
        return self.stored.get(key)

    def save(self, key: str, request: Mapping[str, Any], event: Event, values: NDArray[np.float64]) -> None:
        """Keep an output."""
        self.stored[key] = Stored(dict(request), event, values)


class PrivateData:
    """The training part, each unit capped to its first records in keyed-hash order."""

    def __init__(
        self,
        records: pd.DataFrame,
        *,
        unit: str = "record",
        cap: int = 1,
        embed: Callable[[list[str]], NDArray[np.float32]] | None = None,
        order_key: bytes,
    ) -> None:
        raise NotImplementedError


class Mechanisms:
    """Data-bound noisy statistics of one run."""

    def __init__(
        self,
        data: PrivateData | None,
        outputs: OutputStore,
        *,
        unit: str = "record",
        cap: int = 1,
        adjacency: str = "zero-out",
    ) -> None:
        raise NotImplementedError

    def noisy_votes(
        self,
        key: str,
        embeddings: NDArray[np.float32],
        *,
        fingerprint: str,
        noise_multiplier: float | None = None,
        epsilon: float | None = None,
        sampling_probability: float = 1.0,
        groups: Sequence[str] | None = None,
        clusters: NDArray[np.int64] | None = None,
        what: str = "votes",
    ) -> NDArray[np.float64]:
        """Return, a candidate (or a cluster), how many records are nearest to it, with noise."""
        raise NotImplementedError

    def noisy_histogram(
        self,
        key: str,
        feature: str,
        bins: Sequence[Any],
        *,
        noise_multiplier: float | None = None,
        epsilon: float | None = None,
        measure: Measure | None = None,
        what: str | None = None,
    ) -> NDArray[np.float64]:
        """Return noisy counts a bin: labels of the public list, or lengths between n + 1 edges."""
        raise NotImplementedError

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
        """Return the index of the first query whose noisy count is at most the noisy threshold."""
        raise NotImplementedError

    def noisy_mean(
        self, key: str, feature: str = "self_similarity", *, epsilon: float, what: str | None = None
    ) -> float:
        """Return the noisy mean similarity over all pairs of units."""
        raise NotImplementedError

    def declared(self, key: str, feature: str) -> NDArray[np.float64]:
        """Return a statistic without noise, because the custodian declared it public."""
        raise NotImplementedError

    def noisy_selection(
        self, key: str, utilities: NDArray[np.float64], *, sigma: float | None = None, epsilon: float | None = None
    ) -> NDArray[np.int64]:
        """Return, a row, the candidate chosen by noisy utility; no data are opened here."""
        raise NotImplementedError
