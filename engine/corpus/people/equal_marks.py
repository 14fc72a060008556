"""Marks of what stays equal when records are cut, joined or framed: keyed hashes of their lines, and of their rests.

A line is a piece of a record between ends of lines, sentences and brackets, of two to fifteen words; a record keeps six
at most, the smallest by hash (Broder 1997). So a file whose records were joined or split by line, or put behind a
"Note:", shares them with the first one.

A rest is what is left of a record without the words that stand in most of its file's texts, up to fifteen words, kept
with its numbers and without, unless it is short numbers alone. So letters of one form, or answers that each got the
same words before or after them, have the rests that they had before.

Both in the form that `engine.corpus.text.folding` gives. What equal marks tell: `engine.corpus.people.equal_overlap`.

Privacy posture: hashes are keyed by the workspace; without that key they confirm no guess.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.corpus.keyed import keyed_digest
from engine.corpus.people.folded_texts import FoldedTexts, earlier
from engine.corpus.text.folding import folded

LINES, RESTS = "lines", "rests"
LONGEST, SHORTEST_LINE = 15, 2  # words
KEPT_LINES = 6
PLACES = 8  # an item's number is its record's, times this, and its place in the record
COMMON = 3  # items with the same mark: more of them tell nothing more
REMEMBERED = 50_000  # parts
TELLING_DIGITS = 6  # in one number: shorter ones alone are running numbers and readings, which strangers share
MOST = 0.5  # of a file's texts: words of more of them belong to its form
_ENDS = re.compile(r"[\r\n\v\f\x85\u2028\u2029]+|[.!?;:|](?:\s+|\Z)|\s[-\u2013\u2014]+\s|[<>(){}\[\]\"“”„«»]+|[。！？]")
_DIGIT = re.compile(r"\d")

Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class EqualMarks:
    """Marks of one kind of a file.

    hashes, item: int64 (m,), a keyed hash and the number of its item; an item's record is its number over `PLACES`,
    from 1. At most `COMMON` items a hash.
    """

    hashes: Hashes = field(repr=False)
    item: Hashes = field(repr=False)

    @property
    def items(self) -> int:
        """Return how many items have a mark."""
        return len(np.unique(self.item))


def equal_marks(
    texts: Sequence[str], sources: Sequence[str | None], key: bytes, whole: FoldedTexts | None = None
) -> dict[str, EqualMarks]:
    """Return a file's marks, kind → marks; what one source repeats counts once.

    Args:
        texts: of the records. sources: of each, where it has one. key: of the workspace. whole: the texts folded, where
            they are already.
    """
    whole = FoldedTexts(texts) if whole is None else whole
    template = _template(whole)
    lines, rests = _Kept(key, LINES), _Kept(key, RESTS)
    for record, (text, source, words) in enumerate(zip(texts, sources, whole, strict=True), start=1):
        who = source.strip() if source is not None else ""
        found = {line: lines.number(line) for line in _lines(text, words)}
        for place, line in enumerate(sorted(found, key=found.__getitem__)[:KEPT_LINES]):
            lines.add(record * PLACES + place, [line], who)
        rest = tuple(word for word in words if word not in template)
        bare = tuple(word for word in rest if not _DIGIT.search(word))
        told = bool(bare) or any(len(_DIGIT.findall(word)) >= TELLING_DIGITS for word in rest)
        kept = [part for part in dict.fromkeys((rest, bare)) if told and 0 < len(part) <= LONGEST]
        rests.add(record * PLACES, kept, who)
    return {LINES: lines.marks(), RESTS: rests.marks()}


def _lines(text: str, words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Return the distinct lines of a record whose folded words are given."""
    pieces = [piece for piece in _ENDS.split(text) if piece and not piece.isspace()]
    found = [words] if len(pieces) <= 1 else [tuple(folded(piece).split()) for piece in pieces]
    return dict.fromkeys(line for line in found if SHORTEST_LINE <= len(line) <= LONGEST)


def _template(whole: FoldedTexts) -> frozenset[str]:
    """Return the words that stand in most of the distinct texts."""
    held, texts = whole.held()
    return frozenset(word for word, count in zip(whole.words, held.tolist()) if count > MOST * texts)


class _Kept:
    """Marks of one kind while a file is read."""

    def __init__(self, key: bytes, kind: str) -> None:
        self._number: Callable[[tuple[str, ...]], int] = _Numbers(key, f"population {kind}").__getitem__
        self._said: set[tuple[str, int]] = set()
        self._hashes, self._items = array("q"), array("q")

    def number(self, part: tuple[str, ...]) -> int:
        """Return a part's keyed hash."""
        return self._number(part)

    def add(self, item: int, parts: Sequence[tuple[str, ...]], who: str) -> None:
        """Add an item with one mark or more, unless its source has it already."""
        if not parts or (who and (who, self._number(parts[0])) in self._said):
            return
        if who:
            self._said.add((who, self._number(parts[0])))
        for part in parts:
            self._hashes.append(self._number(part))
            self._items.append(item)

    def marks(self) -> EqualMarks:
        """Return what was added."""
        hashes = np.array(self._hashes, dtype=np.int64)
        kept = earlier(hashes) < COMMON
        return EqualMarks(hashes[kept], np.array(self._items, dtype=np.int64)[kept])


class _Numbers(dict[tuple[str, ...], int]):
    """64 keyed bits of each part as a signed number; a part that is asked for again soon is not made again."""

    def __init__(self, key: bytes, purpose: str) -> None:
        super().__init__()
        self._key, self._purpose = key, purpose

    def __missing__(self, part: tuple[str, ...]) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        found = self[part] = int(struct.unpack("<q", keyed_digest(self._key, self._purpose, " ".join(part))[:8])[0])
        return found
