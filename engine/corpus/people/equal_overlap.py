"""What equal lines or rests tell: whether two files share more of them than chance has them share.

The test is `engine.corpus.people.short_overlap`'s, for marks that stand in exactly two items of both files together:
were both drawn from one stock, these would be one of each file with probability 2nm / ((n + m)(n + m - 1)), and two of
the same file otherwise. Two records count as one pair, however many lines they share.

Where no pair stands inside a file, which few items leave open, three equal ones that are half of the smaller side ask.
Where a file says things several times (a note and its later versions), no mark is rare. So records most of whose lines
stand on the other side are counted too, and where they are a fifth of the smaller side, a person is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.corpus.people.equal_marks import COMMON, LINES, PLACES
from engine.corpus.people.short_overlap import (
    CLEAR_SHARE,
    LEAST,
    MOST_SHARE,
    OPEN_SHARE,
    SURE,
    chance_of_between,
    more_than_chance,
    tail,
)

LEVEL = 0.01
SEVERAL, MOST_LINES = 3, 2 / 3  # lines of a record; the share of them that must stand elsewhere


@dataclass(frozen=True)
class EqualPairs:
    """Pairs of records with a mark that nobody else has.

    again: own item → the other side's item with the same mark. between, inside: pairs of records, one of each side or
    both of one.
    """

    again: Mapping[int, int]
    between: int
    inside: int


@dataclass(frozen=True)
class EqualOverlap:
    """What a file's lines or rests share with those of a known population.

    kind: lines or rests. own, other: items of each side. records: of the smaller side. between, inside: pairs of
    records with a mark that nobody else has, one of each side or both of one. alike: own records of several lines of
    which most stand on the other side.
    """

    kind: str
    own: int
    other: int
    records: int
    between: int
    inside: int
    alike: int = 0

    @property
    def p_value(self) -> float:
        """Return the probability of as many pairs between files of strangers."""
        return tail(self.between, self.inside, chance_of_between(self.own, self.other))

    @property
    def excess(self) -> float:
        """Return how many pairs are more than chance explains; may be negative."""
        return more_than_chance(self.between, self.inside, chance_of_between(self.own, self.other))

    @property
    def clear(self) -> bool:
        """Say whether these are the same people beyond doubt."""
        return self.p_value <= SURE and self.excess >= max(LEAST, CLEAR_SHARE * self.records)

    @property
    def any(self) -> bool:
        """Say whether there is more than chance explains, or too little to tell, so that a person is asked."""
        return self.beyond_chance or self.alike > max(COMMON, OPEN_SHARE * self.records)

    @property
    def beyond_chance(self) -> bool:
        """Say whether there is more than chance explains."""
        lone = self.inside == 0 and self.between >= max(LEAST, MOST_SHARE * min(self.own, self.other))
        return lone or (self.p_value <= LEVEL and self.excess >= 1.0)

    def sentence(self) -> str:
        """Return the evidence in words."""
        if not self.beyond_chance:
            return f"{self.alike:,} records whose lines were written several times"
        if self.kind == LINES:
            return f"{self.between:,} pairs of records with a line that nobody else wrote"
        return f"{self.between:,} records that are equal but for words that most of their file holds"


def equal_pairs(own: Mapping[int, Sequence[int]], other: Mapping[int, Sequence[int]]) -> EqualPairs:
    """Return the pairs of records with a mark that nobody else has.

    Args:
        own, other: mark → items that have it; of `other`, at least the marks in `own` and those of two items.
    """
    again: dict[int, int] = {}
    between: set[tuple[int, int]] = set()
    inside: set[tuple[bool, int, int]] = set()
    for value in sorted({*own, *other}):
        here, there = own.get(value, ()), other.get(value, ())
        if len(here) == len(there) == 1:
            again.setdefault(here[0], there[0])
            between.add((here[0] // PLACES, there[0] // PLACES))
        elif len(here) + len(there) == 2:
            a, b = sorted(item // PLACES for item in here or there)
            if a != b:
                inside.add((bool(here), a, b))
    return EqualPairs(again, len(between), len(inside))


def alike(own: Mapping[int, Sequence[int]], other: Mapping[int, Sequence[int]]) -> int:
    """Return how many own records have several marks, most of which stand on the other side."""
    every = Counter(item // PLACES for items in own.values() for item in items)
    there = Counter(item // PLACES for value, items in own.items() if value in other for item in items)
    return sum(every[record] >= SEVERAL and count >= MOST_LINES * every[record] for record, count in there.items())
