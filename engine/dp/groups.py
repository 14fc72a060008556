"""What a claim about one unit is worth for somebody who stands in the data of several: group privacy.

Whom it is about: a person *named* in the records of k units. The claim protects each of those units; nothing protects
the person beyond that, and an attacker who sees the output and knows all else may tell the presence of all k at once.
Mechanism: none of its own; it follows from a claim and draws nothing.
Unit and adjacency: those of the claim. The corpora that are compared differ in k units' whole data: with their data or
without (zero-out), with theirs or any others (replace-one). A corpus in which the name alone is struck from these k
units' records is k replacements away: a group of k under replace-one, of 2k under zero-out (out, and in again).

The bound: k neighbours in a row give (kε, δ Σ_{i<k} e^(iε)) for any claim (Vadhan 2017, The Complexity of Differential
Privacy, lemma 2.2). Where everything drawn is full Gaussian noise or zCDP, μ is k times and ρ is k² times as large
(Dong, Roth and Su 2022, theorem 2.14; Bun and Steinke 2016, proposition 27), which is smaller and keeps δ. For
sampled Gaussians the first rule is far from tight, and soon says nothing; a tight bound takes seconds to minutes
(`engine.dp.accounting.accountant`), so a sentence that is made at every move of a slider has none.

What may leave: the sentence names fixed k alone. In how many units somebody is named is read from private text; it
belongs into no guarantee, card or file name, unless it was declared public or bought with noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.dp.accounting import closed_form, rdp
from engine.dp.events import acting
from engine.dp.guarantee import Guarantee
from engine.dp.upward import upward

SIZES = (2, 5, 10)  # what a sentence that leaves says; fixed, so that it says nothing of the corpus
NAMED = "The bound is for those whose records these are."
_WHERE = {"record": "k records", "source": "the records of k people or other sources"}


@dataclass(frozen=True)
class GroupBound:
    """What a claim promises k units that change at once.

    size: k, >= 1. epsilon: >= 0. delta: in [0, 1]; 1 says nothing.
    """

    size: int
    epsilon: float
    delta: float

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return self.delta >= 1.0 or not math.isfinite(self.epsilon)


def group_bound(claim: Guarantee, size: int) -> GroupBound:
    """Return what a formal claim promises a group of units.

    Args:
        claim: of kind `dp`, not pending. size: units that change at once, >= 1.

    Raises:
        InternalError: there is no formal claim.
    """
    epsilon, delta = claim.bound
    if size <= 1:
        return GroupBound(1, epsilon, delta)
    direct = _at_same_delta(claim, size) if 0.0 < delta <= closed_form.MAX_DELTA else None
    if direct is not None:
        return GroupBound(size, direct, delta)
    return GroupBound(size, size * epsilon, min(1.0, delta * _chained(epsilon, size)))


def _chained(epsilon: float, size: int) -> float:
    """Return Σ e^(iε) over i from 0 to k − 1, infinite where it is past any number."""
    if epsilon * size > 700.0:
        return math.inf
    return sum(math.exp(step * epsilon) for step in range(size))


def _at_same_delta(claim: Guarantee, size: int) -> float | None:
    """Return ε of the group at the claim's own δ, or None where the events do not tell it in a moment."""
    drawn = acting(claim.mechanisms)
    whole = all(
        event.type in ("gaussian", "zcdp") and event.sampling_probability == 1.0 and event.delta == 0.0
        for event in drawn
    )
    if not drawn or not whole or claim.drawn != claim.bound:  # a model's own spend is in the claim, not in its events
        return None
    mu, delta = closed_form.gaussian_mu(drawn, size), claim.bound[1]
    return rdp.epsilon_rdp(drawn, delta, size) if mu is None else closed_form.epsilon(mu, delta)


def with_named(claim: Guarantee) -> Guarantee:
    """Return a claim whose last assumption says what it is worth for people named in the records of others."""
    if claim.kind != "dp" or claim.pending or not claim.epsilon:
        return claim
    others = (line for line in claim.assumptions if not line.startswith(NAMED))
    return replace(claim, assumptions=(*others, _sentence(claim)))


def _sentence(claim: Guarantee) -> str:
    bounds = [group_bound(claim, size) for size in SIZES]
    listed = "; ".join(f"k = {bound.size}: {words(bound)}" for bound in bounds)
    if claim.adjacency == "replace-one":
        against = "with any other data in place of all k, the same records without the name among them"
    else:
        against = "without the data of all k; against the same records without the name alone, 2k stands in place of k"
    return (
        f"{NAMED} Somebody who is named in {_WHERE[claim.unit]} is protected as a group of k ({listed}), held against "
        f"a corpus {against}. In how many anybody is named is not told here."
    )


def words(bound: GroupBound) -> str:
    """Return a bound in words, rounded up."""
    if bound.empty:
        return "no bound is given"
    return f"ε = {upward(bound.epsilon)}, δ = {upward(bound.delta, 2)}"
