"""What a second reader says of the first: how often both agree, and how much both may have overlooked.

Source: Clopper and Pearson 1934 for the share; Chapman 1951 (Univ. Calif. Publ. Statist. 1) for the estimate of what
neither saw, and the hypergeometric test turned round for its interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.pii.decide.missed import clopper_pearson

Place = tuple[int, int]
ASSUMES = (
    "This holds only if the two read apart from each other and each identifier was as easy to see as any other. Hard "
    "ones are hard for both, so take it as a lower limit."
)


@dataclass(frozen=True)
class Agreement:
    """How far two readers agree on what had been missed in the same records.

    Attributes:
        texts, alike: records that both read, and those in which both found the same, nothing included.
        value, low, high: the share of such records with its 95% interval; higher is better.
        both, first, second: identifiers found by both, by the first alone and by the second alone.
    """

    texts: int
    alike: int
    value: float
    low: float
    high: float
    both: int
    first: int
    second: int


@dataclass(frozen=True)
class Unseen:
    """Identifiers in the records read twice that neither reader found, by capture and recapture; see `ASSUMES`."""

    value: float
    low: int
    high: int


def pairs(first: list[Place], second: list[Place]) -> tuple[int, list[Place], list[Place]]:
    """Match the places of two readers of one record: those that overlap are the same identifier.

    Returns:
        How many the two have in common, places of the first alone, places of the second alone.
    """
    alone = [mine for mine in first if not any(_overlap(mine, other) for other in second)]
    others = [other for other in second if not any(_overlap(mine, other) for mine in first)]
    return len(first) - len(alone), alone, others


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def agreement(read: list[tuple[list[Place], list[Place]]]) -> Agreement | None:
    """Return how far two readers agree; None where no record was read by both.

    Args:
        read: of each record that both read, what the first and what the second says had been missed.
    """
    if not read:
        return None
    found = [pairs(first, second) for first, second in read]
    alike = sum(not alone and not others for _, alone, others in found)
    low, high = clopper_pearson(alike, len(read))
    return Agreement(
        len(read), alike, alike / len(read), low, high, sum(both for both, _, _ in found),
        sum(len(alone) for _, alone, _ in found), sum(len(others) for _, _, others in found),
    )  # fmt: skip


def unseen(both: int, first: int, second: int, level: float = 0.95) -> Unseen | None:
    """Return how many identifiers neither reader found; None where they found none in common: nothing is known then.

    Args:
        both, first, second: identifiers found by both, by the first alone and by the second alone.
    """
    from scipy.stats import hypergeom

    ones, others, seen = both + first, both + second, both + first + second
    if not both:
        return None
    tail = (1.0 - level) / 2
    value = (ones + 1) * (others + 1) / (both + 1) - 1 - seen

    def enough(total: int) -> bool:
        """Return whether an overlap this small is not too unlikely among so many."""
        return bool(hypergeom.cdf(both, total, ones, others) > tail)

    def few(total: int) -> bool:
        """Return whether an overlap this large is not too unlikely among so many."""
        return bool(hypergeom.sf(both - 1, total, ones, others) > tail)

    low = _smallest(seen, enough)
    high = max(low, _smallest(seen, lambda total: not few(total)) - 1)
    return Unseen(max(0.0, value), low - seen, high - seen)


def _smallest(start: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest number from `start` on that holds, where all above it do."""
    step = 1
    while not holds(start + step - 1):
        step *= 2
    low, up = start + step // 2, start + step - 1
    while low < up:
        middle = (low + up) // 2
        low, up = (low, middle) if holds(middle) else (middle + 1, up)
    return low
