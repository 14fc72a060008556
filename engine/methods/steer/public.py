"""What public texts fix before anything private is read: which layers, and the centre, spread and scale of each.

Everything here follows from the model and from texts that it wrote without private input, so it costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.models.contracts import Steerable

_FLAT = 1e-3  # of a layer's usual spread: coordinates that hardly vary among public texts are no finer than this


def layers_of(depth: int, share: float, wanted: int) -> tuple[int, ...]:
    """Return the layers that are read and moved, from 0: `wanted` in a row around a share of the model's depth."""
    wanted = min(wanted, depth)
    last = min(depth, max(wanted, round(depth * share) + wanted // 2))
    return tuple(range(last - wanted, last))


@dataclass(frozen=True)
class PublicFrame:
    """How a layer's states are measured: from a public centre, in public spreads, along public directions.

    Args:
        layers: which. centre, spread: (layers, d). basis: (layers, k, d), orthonormal rows, or None for all directions.
        scale: usual length of a public text's difference, all layers together.
    """

    layers: tuple[int, ...]
    centre: NDArray[np.float64]
    spread: NDArray[np.float64]
    basis: NDArray[np.float64] | None
    scale: float

    @property
    def size(self) -> int:
        """Return how many numbers a difference has."""
        return self.centre.size if self.basis is None else self.basis.shape[0] * self.basis.shape[1]

    def inwards(self, states: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return states (n, layers, d) as differences (n, size); a public text's usually has length 1.

        A row of zeros, which is a text without a token, stays one.
        """
        own = (states.astype(np.float64) - self.centre) / self.spread
        if self.basis is not None:
            own = np.einsum("nld,lkd->nlk", own, self.basis)
        own[~states.any(axis=(1, 2))] = 0.0
        return np.asarray(own.reshape(len(states), self.size) / self.scale)

    def outwards(self, difference: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
        """Return what a difference (size,) adds to each layer's state, (d,) each."""
        own = difference.reshape(len(self.layers), -1) * self.scale
        if self.basis is not None:
            own = np.einsum("lk,lkd->ld", own, self.basis)
        return dict(zip(self.layers, own * self.spread, strict=True))


def frame_of(states: NDArray[np.float32], layers: Sequence[int], basis: int = 0) -> PublicFrame:
    """Return the frame of public texts' states (n, layers, d); `basis` directions a layer, 0 for all."""
    own = states[states.any(axis=(1, 2))].astype(np.float64)
    centre = own.mean(axis=0)
    deviation = own - centre
    spread = deviation.std(axis=0)  # (layers, d)
    usual = np.sqrt(np.mean(spread**2, axis=1, keepdims=True))
    spread = np.maximum(spread, np.maximum(_FLAT * usual, 1e-6))
    directions = None
    if basis:
        wide = deviation / spread
        kept = min(basis, len(own) - 1, wide.shape[2])
        directions = np.stack([np.linalg.svd(wide[:, i], full_matrices=False)[2][:kept] for i in range(len(layers))])
    plain = PublicFrame(tuple(layers), centre, spread, directions, 1.0)
    lengths = np.square(plain.inwards(own.astype(np.float32))).sum(axis=1)
    return PublicFrame(tuple(layers), centre, spread, directions, max(float(np.sqrt(lengths.mean())), 1e-6))


def reader_of(
    model: Steerable, frame: PublicFrame, clip: float, tokens: int, report: Callable[[int, int], None]
) -> Callable[[list[str]], NDArray[np.float32]]:
    """Return what turns private texts into differences whose cut length is 1, (n, size), each text by itself.

    Args:
        clip: longest difference, in usual lengths. tokens: read of a text. report: told how many of all are read.
    """

    def read(texts: list[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), frame.size), dtype=np.float32)
        for place, text in enumerate(texts):
            report(place, len(texts))
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite counts as nothing in the sum
                rows[place] = frame.inwards(model.states([text], frame.layers, tokens))[0] / clip
        return rows

    return read


def fingerprint(model: str, texts: Sequence[str], settings: Sequence[object]) -> str:
    """Return a digest of what a sum's reader follows from: the model, the public texts, the settings."""
    found = hashlib.sha256()
    for part in (model, *map(repr, settings), *texts):
        body = part.encode("utf-8", "surrogatepass")
        found.update(len(body).to_bytes(8, "big") + body)
    return found.hexdigest()
