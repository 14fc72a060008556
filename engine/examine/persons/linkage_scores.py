"""Look for combinations of details that point to one person and stand together in the released text.

A detail is a private quasi-identifying entity. A combination of two or three is a *minimal sample unique* where one
unit of the private text alone holds all of them, and no part of it does so: each detail by itself, and each pair of a
triple, is held by several. Details that single somebody out by themselves are the business of `elp_rare`.

Sets of units are bits of one integer a detail, so meeting two details is one "and". Of a million units such an integer
takes 125 KB: they are made where they are asked for, and few are kept.

Sources: Ma and Rajtmajer (RPSG), limitations, number 2 (rare attribute combinations, aggregated over samples); Elliot,
Manning and Ford 2002 (A computational algorithm for handling the special uniques problem), section 3 (minimal sample
uniques of size 2 and 3); Sweeney 2002, section 2 (linking).

Privacy posture: entities appear as numbers only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MOST_DETAILS = 40  # a text; the rarest are kept
KEPT_BYTES = 64_000_000  # of integers kept for details that are met again


class Bits(Protocol):
    """Units as bits of one integer, by the number of a detail or text."""

    def __getitem__(self, number: int, /) -> int: ...


@dataclass(frozen=True)
class Link:
    """One combination in one text: `text` its number, `unit` the unit it points to, `details` entity numbers."""

    text: int
    unit: int
    details: tuple[int, ...]


class UnitBits:
    """For each detail the numbers of the units that hold it, as bits of one integer.

    Args:
        details, units: int arrays (p,), which detail is held by which unit. size: number of details.
    """

    def __init__(self, details: NDArray[np.int64], units: NDArray[np.int64], size: int) -> None:
        order = np.argsort(details, kind="stable")
        self._units = units[order]
        self._begins = np.searchsorted(details[order], np.arange(size + 1))
        widest = max(1, int(units.max(initial=0)) // 8)
        self._made = lru_cache(max(16, KEPT_BYTES // widest))(self._make)

    def __getitem__(self, detail: int) -> int:
        return self._made(detail)

    def _make(self, detail: int) -> int:
        own = self._units[self._begins[detail] : self._begins[detail + 1]]
        if not len(own):
            return 0
        held = np.zeros(int(own.max()) + 1, np.uint8)
        held[own] = 1
        return int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")


@dataclass(frozen=True)
class OneBit:
    """For each text the one unit that it stems from, as bits; `units`: int array (texts,)."""

    units: NDArray[np.int64]

    def __getitem__(self, text: int) -> int:
        return 1 << int(self.units[text])


def find_links(
    texts: Sequence[Iterable[int]],
    bits: Bits,
    apart: Bits | None = None,
    after: Callable[[int, int], None] = lambda done, total: None,
) -> list[Link]:
    """Return every minimal sample unique of size 2 or 3 that stands in a text.

    Args:
        texts: the numbers of the details that stand in each.
        bits: the units that hold each detail.
        apart: the units each text stems from, as bits; they do not count. None where texts are nobody's.
        after: told (done, total) now and then; may raise to stop.
    """
    found: list[Link] = []
    for text, standing in enumerate(texts):
        if text % 64 == 0:
            after(text, len(texts))
        own = 0 if apart is None else apart[text]
        held = [(detail, bits[detail] & ~own) for detail in sorted(set(standing))]
        shared = [(detail, units) for detail, units in held if units.bit_count() >= 2]
        shared.sort(key=lambda pair: (pair[1].bit_count(), pair[0]))
        found += [Link(text, unit, details) for unit, details in _unique(shared[:MOST_DETAILS])]
    after(len(texts), len(texts))
    return found


def _unique(shared: list[tuple[int, int]]) -> list[tuple[int, tuple[int, ...]]]:
    """Return (unit, details) of each minimal unique among details held by several units."""
    found = []
    several: list[dict[int, int]] = []  # first place -> second place -> units that hold both, at least two
    for first, (detail, units) in enumerate(shared):
        row: dict[int, int] = {}
        for second in range(first + 1, len(shared)):
            both = units & shared[second][1]
            if not both:
                continue
            if both.bit_count() == 1:
                found.append((both.bit_length() - 1, _details(detail, shared[second][0])))
            else:
                row[second] = both
        several.append(row)
    for first, row in enumerate(several):
        places = sorted(row)
        for at, second in enumerate(places):
            for third in places[at + 1 :]:
                if third not in several[second]:
                    continue
                units = row[second] & shared[third][1]
                if units.bit_count() == 1:
                    details = _details(shared[first][0], shared[second][0], shared[third][0])
                    found.append((units.bit_length() - 1, details))
    return found


def _details(*numbers: int) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def spread_links(
    groups: Sequence[Sequence[int]], texts: Sequence[Collection[int]], bits: Bits, apart: Bits | None
) -> list[Link]:
    """Return what texts of one group single out together but none of them alone; `text` is the group's number.

    Args:
        groups: numbers of the texts of each group; groups of one text give nothing.
        texts, bits: as for `find_links`. apart: own units of each group, as bits.
    """
    together = [
        {detail for text in group for detail in texts[text]} if len(group) > 1 else set[int]() for group in groups
    ]
    found = []
    for link in find_links(together, bits, apart):
        wanted = set(link.details)
        if not any(wanted <= set(texts[text]) for text in groups[link.text]):
            found.append(link)
    return found
