"""Draw n-grams straight from a corpus: what leaving out the sources U does to every output's chance.

The mechanism draws one n-gram by its frequency; X has all sources, Y lacks U (Stomakhin 2025, section 4). Leaving
out U changes the counts of U's n-grams only. Every other n-gram keeps its count while the total shrinks, so their
LBF is one shared constant, ln(N_Y / N_X), and a trial needs the n-grams of U alone.

Record-wise adjacency: each record is its own source. Source-wise: all records of a person are. Trials draw U at
random, so they show typical cases, not the worst one.

Censoring replaces n-grams that occur at most c times by one mark. `by="x"`: those rare in X, on both sides, as the
thesis does; which words those are is then known beforehand. `by="own"`: each side by its own counts, as a mechanism
must do that sees one data set only; leaving a source out can then push an n-gram under the mark.

Privacy posture: outputs are numbers of n-grams; nothing here holds text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.examine.curves.ngram_counts import Ints, NgramCounts

Censor = Literal["x", "own"]
MARK = -1


@dataclass(frozen=True)
class Outputs:
    """What one draw can give, under X and under Y.

    Args:
        x, y: occurrences under X and under Y of the outputs that leaving out U may have changed, int64 (a,).
        grams: int64 (a,), their index into the counts' keys; −1 is the mark of censored n-grams.
        shared: occurrences of all other outputs together, equal on both sides.
        total_x, total_y: occurrences in all.
    """

    x: Ints
    y: Ints
    grams: Ints
    shared: int
    total_x: int
    total_y: int


@dataclass(frozen=True)
class DirectSampling:
    """Direct sampling of n-grams from a corpus.

    Args:
        counts: n-grams a source.
        censor: n-grams that occur at most so often are replaced by one mark; 0: none.
        by: whose counts decide: `x`, or each side its `own`.
    """

    counts: NgramCounts
    censor: int = 0
    by: Censor = "x"

    def __post_init__(self) -> None:
        if self.censor < 0 or self.by not in ("x", "own"):
            raise UserError(f"censor: a count >= 0 by 'x' or 'own' counts is needed, got {self.censor} by {self.by!r}")

    @cached_property
    def _total(self) -> int:
        return self.counts.total

    @cached_property
    def _censored(self) -> int:
        """Occurrences of the n-grams censored in X."""
        totals = self.counts.totals
        return int(totals[totals <= self.censor].sum()) if self.censor else 0

    def removed(self, excluded: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """Return the n-grams that sources have together, rising, and how often."""
        parts = [self.counts.of(int(source)) for source in np.unique(excluded)]
        grams = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, np.int32)
        times = np.concatenate([part[1] for part in parts]) if parts else np.empty(0, np.int32)
        if len(parts) == 1:
            return grams.astype(np.int64), times.astype(np.int64)
        distinct, place = np.unique(grams, return_inverse=True)
        summed = np.bincount(place.ravel(), weights=times, minlength=distinct.size)
        return distinct.astype(np.int64), summed.astype(np.int64)

    def exclude(self, excluded: NDArray[np.int64]) -> Outputs:
        """Return what one draw gives with and without the sources of U, in time that depends on U alone.

        Raises:
            UserError: nothing is left of Y.
        """
        grams, times = self.removed(excluded)
        x = self.counts.totals[grams]
        y = x - times
        total_y = self._total - int(times.sum())
        if total_y <= 0:
            raise UserError("exclude: no n-gram is left without these sources; leave out fewer")
        shared = self._total - int(x.sum())
        if not self.censor:
            return Outputs(x, y, grams, shared, self._total, total_y)
        rare_x = x <= self.censor
        rare_y = rare_x if self.by == "x" else y <= self.censor
        untouched = self._censored - int(x[rare_x].sum())
        mark_x, mark_y = untouched + int(x[rare_x].sum()), untouched + int(y[rare_y].sum())
        x, y = np.where(rare_x, 0, x), np.where(rare_y, 0, y)
        seen = (x > 0) | (y > 0)
        return Outputs(
            np.append(x[seen], mark_x), np.append(y[seen], mark_y), np.append(grams[seen], MARK),
            shared - untouched, self._total, total_y,
        )  # fmt: skip

    def grouped(self, excluded: NDArray[np.int64]) -> tuple[Ints, Ints, Ints]:
        """Return distinct pairs of counts under X and Y, and how many n-grams have them; nothing is censored.

        Raises:
            UserError: nothing is left of Y.
        """
        outputs = DirectSampling(self.counts).exclude(excluded)
        pairs, times = np.unique(np.stack([outputs.x, outputs.y], axis=1), axis=0, return_counts=True)
        size = int(self.counts.totals.max(initial=0)) + 1
        alike = np.bincount(self.counts.totals, minlength=size) - np.bincount(outputs.x, minlength=size)
        kept = np.flatnonzero(alike)
        x, y = (np.concatenate([part, kept]).astype(np.int64) for part in (pairs[:, 0], pairs[:, 1]))
        return x, y, np.concatenate([times, alike[kept]]).astype(np.int64)


def draw_sources(sources: int, size: int, trials: int, seed: int) -> list[NDArray[np.int64]]:
    """Return `trials` random sets of `size` sources each, one stream a size so that sizes do not depend on each other.

    Raises:
        UserError: fewer than size + 1 sources.
    """
    if not 1 <= size < sources:
        raise UserError(f"exclude: between 1 and {sources - 1} of {sources} sources can be left out, got {size}")
    rng = np.random.default_rng([seed, size])
    return [np.sort(rng.choice(sources, size, replace=False)) for _ in range(trials)]
