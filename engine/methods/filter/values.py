"""Hold windows of an output against known values: like with like, in one normal form.

A window is a run of words whose letters and digits, folded and run together, are about as many as a value's. Its
similarity to a value is 1 where it is the value in another way of writing (`engine.corpus.text.private_values`), else
one minus the optimal string alignment distance over the longer length. So 0.95, 0.92, 0.90 and 0.85 allow one edit from
20, 13, 10 and 7 letters and digits on, and two from 40, 25, 20 and 14; what each finds on public text is written by
`tests/benchmarks/filter_similarity.py`.

Whole sentences are compared with sentences elsewhere (`stages`), by embedding: an embedding of a sentence is not
near that of a bare value, even where the sentence holds it word for word (0.45 to 0.75 for the shipped embedder).

Privacy posture: the values live in memory for the length of a run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from engine.corpus.text.folding import folded
from engine.corpus.text.private_values import Part, PrivateValues, parts_of

FLOOR = 0.80  # similarities below are of no use to any threshold in (0.8, 1]
_SHORTEST = 5  # letters and digits from which anything but the value itself is looked for
_MORE_PARTS = 2  # a window may be cut into so many parts more than the value


@dataclass(frozen=True)
class Near:
    """A window of a text: half-open code-point offsets, and its similarity to the nearest value in [0, 1]."""

    start: int
    end: int
    similarity: float


class KnownValues:
    """Finds windows near known values; built once, used for many texts.

    Args:
        values: what is known. everyday: folded words that are never near anything by themselves.
    """

    def __init__(self, values: Iterable[str], everyday: frozenset[str] = frozenset()) -> None:
        kept = tuple(dict.fromkeys(values))
        self._written = PrivateValues(kept, (), everyday)
        self._everyday = everyday
        self._keys: dict[int, list[str]] = defaultdict(list)
        most = 0
        for value in kept:
            key = folded(value).replace(" ", "").replace("-", "")
            if len(key) >= _SHORTEST and key not in self._keys[len(key)]:
                self._keys[len(key)].append(key)
                most = max(most, len(parts_of(value)))
        self._most_parts = most + _MORE_PARTS
        self._sizes = {
            size: [own for own in self._keys if self._keys[own] and min(own, size) >= FLOOR * max(own, size)]
            for size in range(1, 2 * max(self._keys, default=0) + 2)
        }

    def __bool__(self) -> bool:
        return bool(self._written)

    def near(self, text: str) -> list[Near]:
        """Return the windows at least `FLOOR` near a value, the nearest first."""
        if not self:
            return []
        found = [Near(hit.start, hit.end, 1.0) for hit in self._written.find(text) if hit.how == "whole"]
        parts = parts_of(text)
        windows: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
        for first in range(len(parts)):
            for key, place in self._windows(parts, first):
                windows[len(key)][key].append(place)
        for size, keys in windows.items():
            theirs = [key for own in self._sizes[size] for key in self._keys[own]]
            table = process.cdist(
                list(keys), theirs, scorer=OSA.normalized_similarity, score_cutoff=FLOOR, dtype=np.float32, workers=1
            )
            best = table.max(axis=1)
            for places, value in zip(keys.values(), best.tolist(), strict=True):
                if value >= FLOOR:
                    found += [Near(start, end, float(value)) for start, end in places]
        return sorted(found, key=lambda near: (-near.similarity, near.start, -near.end))

    def _windows(self, parts: Sequence[Part], first: int) -> Iterable[tuple[str, tuple[int, int]]]:
        key = ""
        for last in range(first, min(len(parts), first + self._most_parts)):
            key += parts[last].key
            if len(key) not in self._sizes:
                return
            if self._sizes[len(key)] and len(key) >= _SHORTEST - 1 and not (last == first and key in self._everyday):
                yield key, (parts[first].start, parts[last].end)


def chosen(near: Sequence[Near], limit: float, taken: Sequence[tuple[int, int]] = ()) -> list[Near]:
    """Return the windows at or above `limit` that overlap neither each other nor `taken`, the nearest first."""
    kept: list[Near] = []
    for window in near:
        others = [*taken, *((one.start, one.end) for one in kept)]
        if window.similarity >= limit and all(window.end <= a or window.start >= b for a, b in others):
            kept.append(window)
    return kept
