"""What every utility metric is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Need = Literal["words", "embeddings"]


@dataclass(frozen=True)
class Sample:
    """A sample of n texts as word numbers and, where needed, embeddings.

    Args:
        words: one int array of word numbers a text.
        units: object array (n,), the person or record behind each text.
        embeddings: float32 array (n, d) of unit rows, or None.
        centres: float32 array (k, d), the clusters in which texts are counted, or None.
    """

    words: tuple[NDArray[np.int32], ...]
    units: NDArray[np.object_]
    embeddings: NDArray[np.float32] | None = None
    centres: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words a text, int64 array (n,)."""
        return np.array([len(text) for text in self.words], np.int64)

    def take(self, index: NDArray[np.int64]) -> Sample:
        """Return the sample of the texts named by `index`, in that order."""
        return Sample(
            tuple(self.words[i] for i in index),
            self.units[index],
            None if self.embeddings is None else self.embeddings[index],
            self.centres,
        )


@dataclass(frozen=True)
class Value:
    """A metric's value, and its parts a text where it is their mean (float array (n,)), else None."""

    value: float
    parts: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Metric:
    """One utility metric.

    Args:
        name: stable identifier.
        title: plain name.
        pair: True where `score(sample, target, seed)` holds a sample against a target; False where it
            describes `sample` alone, and `target` is only what it must be cut to (equal texts and words).
        needs: what the samples must carry.
        largest: most texts a side that are used.
        bounds: smallest and largest possible value.
        least: fewest texts a side with which it is estimated.
        excess: True where the value is reported less that of real against real, which depends on n itself.
        headline: True for what the chart shows at once.
    """

    name: str
    title: str
    pair: bool
    needs: Need
    score: Callable[[Sample, Sample, int], Value]
    largest: int
    bounds: tuple[float, float]
    least: int = 2
    excess: bool = False
    headline: bool = True
