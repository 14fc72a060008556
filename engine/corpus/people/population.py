"""Recognise the same people in another file, by keyed hashes of whole records.

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


def unit_hashes(texts: Sequence[str], key: bytes) -> list[str]:
    """Return the sorted, distinct hashes of a corpus' records of at least eight words.

    Shorter ones, such as "no complaints", would make strangers look alike: see `engine.corpus.people.short_marks`.
    """
    return sorted({_hash(key, normal) for normal in map(normalised, texts) if _is_long(normal)})


def former_short_hashes(units: Sequence[str], texts: Sequence[str], key: bytes) -> list[str]:
    """Return the sorted, distinct hashes of units without a long record: of all their texts together.

    Workspaces of the first edition kept these in place of marks of short records.
    """
    short: dict[str, list[str]] = defaultdict(list)
    with_long: set[str] = set()
    for unit, text in zip(units, texts, strict=True):
        normal = normalised(text)
        if _is_long(normal):
            with_long.add(unit)
        else:
            short[unit].append(normal)
    return sorted({_hash(key, "\n".join(sorted(parts))) for unit, parts in short.items() if unit not in with_long})


def _is_long(normal: str) -> bool:
    return normal.count(" ") + 1 >= MIN_WORDS


def _hash(key: bytes, value: str) -> str:
    return keyed_digest(key, "population", value).hex()[:32]


def overlap(hashes_a: Iterable[str], hashes_b: Iterable[str]) -> Overlap:
    """Return how far two corpora's hashes agree."""
    a, b = set(hashes_a), set(hashes_b)
    shared = len(a & b)
    return Overlap(shared, shared / min(len(a), len(b)) if a and b else 0.0)
