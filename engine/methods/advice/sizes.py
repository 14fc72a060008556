"""How large a corpus has to be before noise leaves something of it: functions of ε, from public quantities alone.

Sources: the noise-batch ratio as what decides whether training under noise learns, McKenna et al. 2025 (Scaling Laws
for Differentially Private Language Models); the central limit of Poisson-sampled Gaussians, Bu, Dong, Long and Su 2020
(Deep Learning with Gaussian Differential Privacy), corollary 4.
"""

from __future__ import annotations

import math
from functools import lru_cache

from engine.dp.accounting.closed_form import default_delta, mu_of, noise_multiplier, smallest

AS_PUBLISHED = 8e-3  # noise-batch ratio up to which published training with noise learned (CTCL, ACTG)
NOTHING_LEARNED = 2e-2  # and from which none that we know of did
STEPS, BATCH = 300, 1_024  # of such training
ENOUGH_SIGNAL = 0.5  # votes a candidate over their noise with which half of what votes can tell comes through
LITTLE_SIGNAL = 0.1  # and with which hardly a tenth does; both from public text, see `engine.methods.advice.signal`
ENOUGH_DENSE = 1.0  # dense votes over their noise with which a set chosen by them is nearer than any by chance
EMBEDDING = 385  # coordinates of the shipped embedder and a constant: noise outside their span can be taken off
_EPSILON, _ROUNDS = 4.0, 10  # what the sizes below were measured for
_FEW = 300  # records to which texts by topics, and those of one round of dense votes, were nearer than public ones
_ONE_VOTE, _TEN_ROUNDS, _METADATA = 1_000, 3_000, 20_000


def dense_signal(units: float, candidates: int, sigma: float) -> float:
    """Return how far dense votes stand out from their noise where units agree: n / (σ √min(c, d + 1)).

    Measured with adverse-event narratives as records, the noise of three rounds, a fourth of the candidates kept, as
    kernel distance times 1,000. 320 texts of the built-in model (198 by themselves): at 300 records and ε = 1, where
    this is 3.3, dense votes came to 55 and single ones to 154; at 1,000 and ε = 4 to 26 and 127. 800 texts of seven
    unlike sources: 69 and 761, 62 and 292. Half narratives, half abstracts among those: 34 and 123.
    """
    return units / (sigma * math.sqrt(min(candidates, EMBEDDING)))


def training_ratio(units: int, epsilon: float, steps: int = STEPS, batch: int = BATCH) -> float:
    """Return r = σ / (q N) of a training, in closed form and about right; the exact σ is the accountant's."""
    rate = min(1.0, batch / max(1, units))
    mu = mu_of(epsilon, default_delta(units))
    sigma = 1.0 / math.sqrt(math.log1p((mu / (rate * math.sqrt(steps))) ** 2))
    return sigma / (rate * max(1, units))


@lru_cache(maxsize=64)
def training_units(epsilon: float, steps: int = STEPS, batch: int = BATCH) -> int:
    """Return the least N at which training with noise reaches the ratio of published successes."""
    return two_digits_up(smallest(lambda n: n >= 1 and training_ratio(int(n), epsilon, steps, batch) <= AS_PUBLISHED))


def least_units(epsilon: float) -> int:
    """Return the least N at which a histogram of topics, or one round of dense votes, is known to say something.

    Measured at ε = 1; less may do, but nobody looked.
    """
    delta = default_delta(_FEW)
    return two_digits_up(_FEW * noise_multiplier(epsilon, delta, 3) / noise_multiplier(1.0, delta, 3))


def single_vote_units(epsilon: float) -> int:
    """Return the least N at which one vote, cast once, says something."""
    return _scaled(_ONE_VOTE, epsilon, 1)


def voting_units(epsilon: float) -> int:
    """Return the least N at which rounds of votes say something."""
    return _scaled(_TEN_ROUNDS, epsilon, _ROUNDS)


def metadata_units(epsilon: float) -> int:
    """Return the least N at which a part of the budget may go into key words, lengths and labels as well."""
    return _scaled(_METADATA, epsilon, _ROUNDS)


def _scaled(units: int, epsilon: float, count: int) -> int:
    """Return a size that was measured at ε = 4, in proportion to the noise at another ε."""
    delta = default_delta(units)
    return two_digits_up(units * noise_multiplier(epsilon, delta, count) / noise_multiplier(_EPSILON, delta, count))


def two_digits_up(units: float) -> int:
    """Return a size to two digits, upwards: more would be pretence."""
    if not math.isfinite(units):
        return 10**12
    step = 10 ** max(0, math.floor(math.log10(max(units, 1.0))) - 1)
    return int(math.ceil(units / step - 1e-9) * step)
