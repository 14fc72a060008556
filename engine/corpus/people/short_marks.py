"""Marks of short records: keyed hashes of what is left of a short text when a word of it is changed.

A record of fewer than sixteen words, in the form that `engine.corpus.text.folding` gives, so that case, punctuation
and accents make no difference, keeps its whole text, of four to eight words also its text without each one of its
words, and of eight words or more its runs of four words without digits (numbers and days recur in forms). Two records
that differ in one word share one of them.

What equal marks tell follows from how rare they are: `engine.corpus.people.short_overlap`.

Privacy posture: hashes are keyed by the workspace; without that key they confirm no guess.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.corpus.keyed import keyed_digest
from engine.corpus.people.folded_texts import FoldedTexts, earlier

LONGEST_SHORT, RUN_WORDS = 15, 4
LEAST_LEFT, MOST_LEFT_OUT = 4, 8  # words of a text that is also kept without one of its words
REMEMBERED = 50_000  # parts whose marks are not made again at once
COMMON = 3  # records with the same mark: more of them tell nothing more
_DIGIT = re.compile(r"\d")

Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ShortMarks:
    """The marks of a file's short records.

    hashes, record: int64 (m,), a keyed hash and the number of its record, from 1, ordered by record; at most `COMMON`
    records a hash, but for whole texts. whole: bool (m,), whether the hash is of the whole text. total: records of the
    file that hold a word, long ones too.
    """

    hashes: Hashes = field(repr=False)
    record: Hashes = field(repr=False)
    whole: npt.NDArray[np.bool_] = field(repr=False)
    total: int

    @property
    def records(self) -> int:
        """Return how many records have a mark."""
        return int(self.whole.sum())


def short_marks(texts: Sequence[str] | FoldedTexts, sources: Sequence[str | None], key: bytes) -> ShortMarks:
    """Return the marks of a file's short records; a text that one source repeats counts once."""
    whole = texts if isinstance(texts, FoldedTexts) else FoldedTexts(texts)
    known: dict[tuple[str, ...], int] = {}
    seen: set[tuple[str, int]] = set()
    hashes, records, wholes = array("q"), array("q"), bytearray()
    total = 0
    for record, (words, source) in enumerate(zip(whole, sources, strict=True), start=1):
        total += bool(words)
        if not 0 < len(words) <= LONGEST_SHORT:
            continue
        if source is not None and source.strip():
            if (source, _number(key, words)) in seen:
                continue
            seen.add((source, _number(key, words)))
        for place, part in enumerate(_parts(words)):
            if part not in known:
                if len(known) >= REMEMBERED:
                    known.clear()
                known[part] = _number(key, part)
            hashes.append(known[part])
            records.append(record)
            wholes.append(place == 0)
    every, whole_ones = np.array(hashes, dtype=np.int64), np.array(wholes, dtype=np.bool_)
    kept = whole_ones | (earlier(every) < COMMON)
    return ShortMarks(every[kept], np.array(records, dtype=np.int64)[kept], whole_ones[kept], total)


def _parts(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the distinct parts of a short text that are hashed, the whole text first."""
    parts = {words: None}
    if LEAST_LEFT <= len(words) <= MOST_LEFT_OUT:
        parts.update({words[:at] + words[at + 1 :]: None for at in range(len(words))})
    if len(words) >= MOST_LEFT_OUT:
        plain = [word for word in words if not _DIGIT.search(word)]
        parts.update({("", *plain[at : at + RUN_WORDS]): None for at in range(len(plain) - RUN_WORDS + 1)})
    yield from parts


def _number(key: bytes, part: tuple[str, ...]) -> int:
    """Return 64 keyed bits as a signed number."""
    return int(struct.unpack("<q", keyed_digest(key, "population short", " ".join(part))[:8])[0])
