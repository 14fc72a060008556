"""What equal marks of short records tell: whether two files agree in rare texts more than chance has them agree.

Strangers say "yes" and "fine thanks" in the same words, so a shared text tells nothing by itself. Told apart is what
stands in exactly two records of both files together. Were the two files drawn from one stock of answers, other people
behind each, then which two records these are would not depend on the files: with n and m records they would be one of
each file with probability 2nm / ((n + m)(n + m - 1)), and two of the same file otherwise. So the pairs inside a file
say how many to expect between the files, and more than that is evidence of the same people (a permutation test;
Good 1953 on what the rare ones of a sample say of the next one). Files of different kinds agree less than one stock.

Each record stands in one pair at most. A pair is strong where it shares three marks or more, as equal texts of four
words do; the test is made of strong pairs and of all, each at half the level.

Where most of what the smaller file holds is common in the other, and it has too few rare texts to tell, that is said
too: it may hold the same people. The upper bound on the share of common people comes from the rare pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

STRONG_MARKS = 3
LEVEL, SURE = 0.05, 1e-6
LEAST, CLEAR_SHARE, MOST_SHARE, OPEN_SHARE = 3, 0.1, 0.5, 0.2
TELLING_SHARE = 0.1  # of the smaller file's short records must be rare for them to speak for the others

BETWEEN, OWN, OTHER = 0, 1, 2  # where the two records of a pair stand

Pair = tuple[int, int]


@dataclass(frozen=True)
class Pairs:
    """Pairs of records with marks that nobody else has, each record in one pair at most.

    between: (own record, other record). inside: how many pairs of two records of one side. strong_between,
    strong_inside: how many of these share three marks or more.
    """

    between: tuple[Pair, ...]
    strong_between: int
    inside: int
    strong_inside: int


@dataclass(frozen=True)
class ShortOverlap:
    """What a file's short records share with those of a known population.

    own, other: records with marks on each side. records: of the smaller side, long ones too. between, inside: pairs of
    records with rare marks, one of each side or both of one; strong_...: those that share three marks or more.
    common: records of the smaller side whose whole text stands on the other side too, each counted against one there.
    rare: records of the smaller side that would make a pair if they stood on the other side.
    """

    own: int
    other: int
    records: int
    between: int
    inside: int
    strong_between: int
    strong_inside: int
    common: int
    rare: int

    @property
    def chance(self) -> float:
        """Return the probability that two random records are one of each side."""
        return chance_of_between(self.own, self.other)

    @property
    def p_value(self) -> float:
        """Return the probability of as many pairs between files of strangers, twice the smaller of the two tests."""
        strong = tail(self.strong_between, self.strong_inside, self.chance)
        return min(1.0, 2.0 * min(strong, tail(self.between, self.inside, self.chance)))

    @property
    def excess(self) -> float:
        """Return how many pairs are more than chance explains; may be negative."""
        return max(
            more_than_chance(self.between, self.inside, self.chance),
            more_than_chance(self.strong_between, self.strong_inside, self.chance),
        )

    @property
    def possible(self) -> float:
        """Return the largest share in [0, 1] of the smaller side that may be common, as far as can be told."""
        from scipy.special import gammaincinv

        share = self.common / max(1, self.records)
        if self.rare < max(1.0, TELLING_SHARE * min(self.own, self.other)):
            return share
        # The pairs' Poisson upper bound (Garwood 1936), less those that chance explains.
        explained = self.between - more_than_chance(self.between, self.inside, self.chance)
        most = float(gammaincinv(self.between + 1, 1.0 - LEVEL)) - explained
        return min(share, max(0.0, most) / self.rare)

    @property
    def clear(self) -> bool:
        """Say whether these are the same people beyond doubt."""
        many = self.excess >= max(LEAST, CLEAR_SHARE * self.records) and self.p_value <= SURE
        alone = more_than_chance(self.strong_between, self.strong_inside, self.chance)
        most = alone >= max(LEAST, MOST_SHARE * min(self.own, self.other), MOST_SHARE / 2 * self.records)
        return many or (most and self.strong_inside == 0)

    @property
    def any(self) -> bool:
        """Say whether there is more than chance explains, or too little to tell, so that a person is asked."""
        return self.beyond_chance or self.untold

    @property
    def beyond_chance(self) -> bool:
        """Say whether there is more than chance explains."""
        lone = self.strong_between > 0 and self.inside == 0
        return lone or (self.p_value <= LEVEL and self.excess >= 1.0)

    @property
    def untold(self) -> bool:
        """Say whether the same people may be behind a large part of both without leaving a trace."""
        return self.common >= LEAST and self.possible >= OPEN_SHARE

    def sentence(self) -> str:
        """Return the evidence in words."""
        if self.beyond_chance:
            return f"{self.between:,} short records that hardly anybody else wrote like that"
        return f"{self.common:,} short records in common words, too common to tell people apart"


def pairs(own: Mapping[int, Sequence[int]], other: Mapping[int, Sequence[int]]) -> Pairs:
    """Return the pairs of records with rare marks.

    Args:
        own, other: mark → records that have it; of `other`, at least the marks in `own` and those of two records.
    """
    marks: dict[tuple[int, int, int], list[int]] = {}
    for value in {*own, *other}:
        here, there = own.get(value, ()), other.get(value, ())
        if len(here) + len(there) != 2:
            continue
        kind = BETWEEN if len(here) == 1 else OWN if here else OTHER
        a, b = (here[0], there[0]) if kind == BETWEEN else sorted(here or there)
        if kind == BETWEEN or a != b:
            marks.setdefault((kind, a, b), []).append(value)
    taken: set[tuple[bool, int]] = set()
    between: list[Pair] = []
    strong = inside = strong_inside = 0
    # Which of several pairs of a record is taken must not depend on the sides: strength decides, then a keyed hash.
    for (kind, a, b), shared in sorted(marks.items(), key=lambda item: (-len(item[1]), min(item[1]))):
        ends = ((kind == OTHER, a), (kind != OWN, b))
        if taken.intersection(ends):
            continue
        taken.update(ends)
        if kind == BETWEEN:
            between.append((a, b))
            strong += len(shared) >= STRONG_MARKS
        else:
            inside += 1
            strong_inside += len(shared) >= STRONG_MARKS
    return Pairs(tuple(between), strong, inside, strong_inside)


def compared(
    found: Pairs,
    own: Mapping[int, int],
    other: Mapping[int, int],
    *,
    sizes: tuple[int, int],
    other_once: int,
    records: int,
) -> ShortOverlap:
    """Return what pairs, and counts of whole texts on both sides, amount to.

    Args:
        own, other: whole text's mark → records that have it; of `other`, those in `own` are enough.
        sizes: records with marks on each side. other_once: whole texts that stand once on the other side.
        records: of the smaller side, long ones too.
    """
    common = sum(min(count, other.get(value, 0)) for value, count in own.items())
    if sizes[0] <= sizes[1]:
        rare = sum(count == 1 and other.get(value, 0) <= 1 for value, count in own.items())
    else:
        rare = other_once - sum(count > 1 and other.get(value) == 1 for value, count in own.items())
    return ShortOverlap(
        *sizes, records, len(found.between), found.inside, found.strong_between, found.strong_inside, common, rare
    )


def chance_of_between(own: int, other: int) -> float:
    """Return the probability that two random items of both sides together are one of each."""
    both = own + other
    return 2.0 * own * other / (both * (both - 1.0)) if both > 1 else 0.0


def more_than_chance(between: int, inside: int, chance: float) -> float:
    """Return how many pairs between the sides are more than those inside explain; may be negative."""
    return between - (inside * chance / (1.0 - chance) if chance < 1.0 else 0.0)


def tail(between: int, inside: int, chance: float) -> float:
    """Return the probability of at least `between` of all pairs between the sides."""
    from scipy.special import bdtrc

    return float(bdtrc(between - 1, between + inside, chance)) if between else 1.0
