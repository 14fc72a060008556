"""What every utility metric is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.examine.samples import sample_units
from engine.json_types import JSON

Need = Literal["words", "features", "embeddings"]


def left(least: int) -> int:
    """Return how many of `least` texts a side remain, at the fewest, where an interval leaves out a tenth of both."""
    return least * 4 // 5


@dataclass(frozen=True)
class Sample:
    """A sample of n texts as word numbers and, where needed, embeddings and what was counted in each text.

    Args:
        words: one int array of word numbers a text.
        units: object array (n,), the person or record behind each text.
        embeddings: float32 array (n, d) of unit rows, or None.
        centres: float32 array (k, d), the clusters in which texts are counted, or None.
        texts: the texts themselves, or none of them.
        features: float64 arrays (n,) by name, counted once a text (`features.of_texts`).
        order: for what its units were put in seeded order (`samples.sample_units`): fewer of them are the first ones.
    """

    words: tuple[NDArray[np.int32], ...]
    units: NDArray[np.object_]
    embeddings: NDArray[np.float32] | None = None
    centres: NDArray[np.float32] | None = None
    texts: tuple[str, ...] = ()
    features: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    order: str = "fewer"

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
            tuple(self.texts[i] for i in index) if self.texts else (),
            {name: values[index] for name, values in self.features.items()},
            self.order,
        )

    def drawn(self, size: int, seed: int) -> Sample:
        """Return so many of the texts, by whole units in seeded order."""
        return self.take(sample_units(self.units, size, seed, self.order)) if size < len(self) else self


@dataclass(frozen=True)
class Value:
    """A metric's value, and its parts a text where it is the mean of what each text has whatever the others are.

    parts: float array (n,), or None where a text's part hangs on other texts or there are no parts.
    groups: array (n,), which texts count as one in the interval where records are not grouped by person, or None.
    again: of a metric of one sample, the value of some of its rows, where that takes less than scoring them anew.
    """

    value: float
    parts: NDArray[np.float64] | None = None
    groups: NDArray[np.object_] | None = None
    again: Callable[[NDArray[np.int64]], float] | None = None


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
        share: True for a share of texts: its interval is no narrower than Wilson's of as many people.
        excess: True where the value is reported less that of real against real, which depends on n itself.
        headline: True for what the chart shows at once.
        steady: True where the value does not move with the number of texts; others compare at equal numbers alone,
            and are taken at fixed smaller ones too (`engine.examine.findings.sizes`).
        settings: what else the value depends on, for the finding.
        nothing: why there is no value where enough texts give none.
    """

    name: str
    title: str
    pair: bool
    needs: Need
    score: Callable[[Sample, Sample, int], Value]
    largest: int
    bounds: tuple[float, float]
    least: int = 10
    share: bool = False
    excess: bool = False
    headline: bool = True
    steady: bool = False
    settings: Mapping[str, JSON] = field(default_factory=dict)
    nothing: str = "there is nothing to measure"
