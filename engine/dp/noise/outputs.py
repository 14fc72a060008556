"""What mechanisms drew, kept: a stored output is returned again instead of being redrawn.

Privacy posture: outputs are noisy, or were declared public; requests hold public parameters and digests of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.dp.events import Event


@dataclass(frozen=True)
class Stored:
    """A mechanism's output as it was drawn: what was asked, what it cost, what came out."""

    request: Mapping[str, object]
    event: Event
    values: NDArray[np.float64]


class OutputStore(Protocol):
    """Keeps outputs of one run; `save` is atomic and durable before it returns."""

    def load(self, key: str) -> Stored | None:
        """Return what was stored under this key, or None."""
        ...

    def save(self, key: str, request: Mapping[str, object], event: Event, values: NDArray[np.float64]) -> None:
        """Keep an output, and its ledger line, for good."""
        ...


class MemoryOutputs:
    """Outputs kept in this process only."""

    def __init__(self) -> None:
        self.stored: dict[str, Stored] = {}

    def load(self, key: str) -> Stored | None:
        """Return what was stored under this key, or None."""
        return self.stored.get(key)

    def save(self, key: str, request: Mapping[str, object], event: Event, values: NDArray[np.float64]) -> None:
        """Keep an output."""
        self.stored[key] = Stored(dict(request), event, values)


def digest(value: Mapping[str, object] | Iterable[object] | None) -> str:
    """Return a digest of public parameters, the same in every process; empty for None."""
    if value is None:
        return ""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    ready = value if isinstance(value, Mapping) else list(value)
    return hashlib.sha256(json.dumps(ready, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else str(value)
