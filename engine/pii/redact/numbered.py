"""Redact with the type and a number that is the same for the same value of a record: `[PERSON 1]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.pii.redact.base import Memory
from engine.pii.surrogates.keyed import fold
from engine.pii.surrogates.people import TITLES


@dataclass(frozen=True)
class Numbered:
    """Write the type and a running number."""

    id: str = "numbered"
    title: str = "Numbered types"
    sentence: str = "Each value becomes its type with a number; within a record, the same value has the same number."

    def replacement(self, value: str, label: str, memory: Memory) -> str:
        """Return the bracketed type with the value's number in this record."""
        known = memory.numbers.setdefault(label, {})
        key = _key(value, label)
        if key not in known:
            known[key] = (label == "PERSON" and _same_person(key, known)) or max(known.values(), default=0) + 1
        return f"[{label} {known[key]}]"


def _key(value: str, label: str) -> str:
    if label != "PERSON":
        return fold(value)
    words = [w for w in re.findall(r"[^\W\d_]+", fold(value)) if w not in TITLES and w != "s"]
    return " ".join(words) or fold(value)


def _same_person(key: str, known: dict[str, int]) -> int:
    """Return the number of the one person whose name has all these words (or is among them), else 0."""
    words = set(key.split())
    hits = {n for other, n in known.items() if words <= set(other.split()) or set(other.split()) <= words}
    return hits.pop() if len(hits) == 1 else 0
