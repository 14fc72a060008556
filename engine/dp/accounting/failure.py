"""The chance that the privacy loss of what somebody sees passes ε, from δs that hold for all that is seen.

Pr[loss > ε] of the noisy statistics themselves (the strict δ of a curve) says nothing of text made from them: a coarser
view merges outputs whose loss is just below ε with those whose loss is above, and may pass ε more often. The standard δ
only falls by post-processing, and holds for runs that choose each step by the outputs before it, so the chance is
bounded by it:

Let P and Q be what is seen with and without a unit, and S all outputs whose loss passes ε, so that P(S) > e^ε Q(S). For
any e < ε, P(S) ≤ e^e Q(S) + δ(e) < e^(e − ε) P(S) + δ(e), hence P(S) ≤ δ(e) / (1 − e^(e − ε)); the least over e holds.
Where δ(e) = 0 for an e ≤ ε, P(S) > e^ε Q(S) cannot be, and the chance is 0. δ is that of the worse direction, so the
same holds with P and Q exchanged, and for any mixture of the two, whatever an attacker's prior.

The bound is tight: of a Gaussian release it is the chance of the single bit "statistic above t", with t set where that
bit's likelihood ratio is e^ε (no event with that ratio is more probable, by Neyman and Pearson's lemma). Each quotient
is a convex function of e^e over a positive linear one, so it falls to its least value and then rises.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from scipy.special import log_ndtr

from engine.dp.accounting.closed_form import delta_standard, smallest

FAR = 40.0  # standard deviations below the mean, where a threshold's likelihood ratio is 1


def failure(epsilon: float, points: Iterable[tuple[float, float]]) -> float:
    """Return an upper bound in [0, 1] on Pr[privacy loss > ε] of whatever is seen.

    Args:
        epsilon: of the loss. points: (e, standard δ at e), each true of all that is seen; those above ε say nothing.
    """
    found = 1.0
    for e, delta in points:
        if delta <= 0.0 and e <= epsilon:
            return 0.0
        if e < epsilon:
            found = min(found, delta / -math.expm1(e - epsilon))
    return found


def gaussian_failure(mu: float, epsilon: float) -> float:
    """Return Pr[privacy loss > ε] of the worst view of a Gaussian release with parameter μ; ε > 0."""
    if mu <= 0.0 or epsilon <= 0.0:
        return 0.0 if epsilon >= 0.0 and mu <= 0.0 else 1.0
    t = smallest(lambda x: float(log_ndtr(mu + FAR - x) - log_ndtr(FAR - x)) >= epsilon, 2.0 * FAR) - FAR
    e = mu * t - mu**2 / 2.0  # the loss at t itself
    return failure(epsilon, [(e, delta_standard(mu, e))])
