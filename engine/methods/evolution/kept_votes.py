"""How many of the true votes a selection by noisy votes keeps, from the noisy votes alone.

The noisy votes of the winners overstate it: what was chosen for being large was partly lucky. A noisy count
v = t + σ z is therefore thinned into two that are independent of each other (Neufeld et al. 2024, Data thinning for
convolution-closed distributions; the Gaussian case): v + γ σ w to choose by, v - σ w / γ to count with. Choosing by
the former is a little worse than the run's own choice, so the figure errs on the low side. Post-processing: no ε.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.methods.evolution.common import Pair

_THINNED = 0.5  # γ: the noise that is chosen by grows by √(1 + γ²) = 1.12
_DRAWS = 12


@dataclass(frozen=True)
class KeptVotes:
    """Share that chance keeps, estimated share of the true votes kept, and its standard error.

    The latter two are None where the noise hides how many votes there were.
    """

    chance: float
    share: float | None = None
    error: float | None = None

    def notes(self) -> dict[str, float]:
        """Return the numbers by the names they have in a run's notes."""
        if self.share is None or self.error is None:
            return {"votes_chance": self.chance}
        return {"true_votes_kept": self.share, "true_votes_error": self.error, "votes_chance": self.chance}


def kept_votes(
    votes: NDArray[np.float64],
    sigma: float,
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    choose: Callable[[NDArray[np.float64]], Sequence[int]],
    rng: np.random.Generator,
) -> KeptVotes:
    """Return what a choice by these votes keeps of the true ones.

    Args:
        votes: noisy, (n,). sigma: standard deviation of their Gaussian noise, 0 for none.
        pool: text and label a candidate. wanted: survivors a label. choose: votes to the survivors.
        rng: draws the thinning; it must not be the source of the mechanism's noise.
    """
    sizes, total = Counter(label for _, label in pool), float(votes.sum())
    even = np.array([wanted.get(label, 0) / sizes[label] for _, label in pool])
    if not pool or total <= 2.0 * sigma * math.sqrt(len(pool)):
        return KeptVotes(float(even.mean()) if pool else 0.0)
    chance = float((even * votes).sum() / total)
    if sigma <= 0.0:
        return KeptVotes(chance, float(votes[list(choose(votes))].sum() / total), 0.0)
    shares, kept = [], 0
    for _ in range(_DRAWS):
        noise = sigma * rng.standard_normal(len(votes))
        chosen = list(choose(votes + _THINNED * noise))
        kept = len(chosen)
        shares.append(float((votes - noise / _THINNED)[chosen].sum() / total))
    own = sigma * math.sqrt(kept) / total  # of the run's own noise, which no further draw takes away
    drawn = float(np.std(shares, ddof=1)) / math.sqrt(_DRAWS)
    return KeptVotes(chance, float(np.mean(shares)), math.hypot(own, drawn))
