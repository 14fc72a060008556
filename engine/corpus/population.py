"""Recognise the same people in another file, by keyed hashes of their units' records.

Privacy posture: hashes are HMACs under the workspace key; without it they confirm no guess.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.corpus.keyed import keyed_digest

MIN_WORDS = 8
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Overlap:
    """How many hashes two corpora share, and their share in [0, 1] of the smaller one."""

    shared: int
    share: float


def normalised(text: str) -> str:
    """Return text without differences of case, width and blanks."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def unit_hashes(units: Sequence[str], texts: Sequence[str], key: bytes) -> list[str]:
    """Return the sorted, distinct hashes of a corpus' units.

    One hash a record of at least eight words, so that one added record does not hide a unit; a unit
    that has only shorter ones gets one hash of all its texts together, since common phrases such as
    "no complaints" would make strangers look alike.
    """
    hashes: set[str] = set()
    short: dict[str, list[str]] = defaultdict(list)
    with_long: set[str] = set()
    for unit, text in zip(units, texts):
        normal = normalised(text)
        if normal.count(" ") + 1 >= MIN_WORDS:
            hashes.add(keyed_digest(key, "population", normal).hex()[:32])
            with_long.add(unit)
        else:
            short[unit].append(normal)
    for unit, parts in short.items():
        if unit not in with_long:
            hashes.add(keyed_digest(key, "population", "\n".join(sorted(parts))).hex()[:32])
    return sorted(hashes)


def overlap(hashes_a: Iterable[str], hashes_b: Iterable[str]) -> Overlap:
    """Return how far two corpora's hashes agree."""
    a, b = set(hashes_a), set(hashes_b)
    shared = len(a & b)
    return Overlap(shared, shared / min(len(a), len(b)) if a and b else 0.0)
