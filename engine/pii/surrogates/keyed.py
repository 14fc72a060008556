"""Draw keyed choices: the same key, unit, kind and value give the same draw, others tell nothing.

A draw is a SHA-256 HMAC, so without the key a surrogate cannot be traced back to its value and two
units' surrogates for one value cannot be linked.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def fold(value: str) -> str:
    """Return the value without case, accents and doubled blanks, so that spellings of one value meet."""
    if value.isascii():
        return " ".join(value.lower().split())
    decomposed = unicodedata.normalize("NFKD", value)
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).casefold().split())


class Draw:
    """A stream of choices fixed by a key and the parts that name what is drawn."""

    def __init__(self, key: bytes, *parts: str) -> None:
        self._key = key
        self._message = b"".join(len(p.encode("utf-8", "surrogatepass")).to_bytes(4, "big")
                                 + p.encode("utf-8", "surrogatepass") for p in parts)  # fmt: skip
        self._count = 0

    def number(self, below: int) -> int:
        """Return an integer in [0, below); the bias is under 2**-40 for `below` up to 2**24."""
        self._count += 1
        digest = hmac.digest(self._key, self._message + self._count.to_bytes(4, "big"), "sha256")
        return int.from_bytes(digest[:8], "big") % below

    def choice(self, options: Sequence[T]) -> T:
        """Return one of `options`."""
        return options[self.number(len(options))]

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return low + self.number(high - low + 1)

    def random(self) -> Random:
        """Return a generator for longer inventions; it makes choices, never mechanism noise."""
        return Random(self.number(2**62))
