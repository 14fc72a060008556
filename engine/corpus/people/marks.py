"""Marks by which the same people are recognised in another file: keyed hashes of word runs, and of source ids.

Each record keeps the six smallest keyed hashes of its runs of eight words (min-wise hashing, Broder 1997), in the
form that `engine.corpus.text.folding` gives and without words that hold digits, so that a footer, a header, other
punctuation, masked numbers, replaced names or half of a record leave some of them. Runs that stand in three or more
different texts of a file are its template and are left out: letters from one form are not the same people.
Records of fewer than eight such words keep none of these; `short_marks` marks records of up to fifteen, `equal_marks`
lines and what differs in a form.

A source id is kept as it is, and without marks or by its number: "MRN-1234567" and "1234567" are one person's.

Recognition is a count of records that share at least three runs with one earlier record, and of shared source ids
beyond those that two files numbered alike would share by chance.

Not seen: other text about the same people without source ids, translations, paraphrases, images.
Privacy posture: hashes are keyed by the workspace; without that key they confirm no guess.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from engine.corpus.keyed import keyed_digest
from engine.corpus.people.equal_marks import EqualMarks, equal_marks
from engine.corpus.people.folded_texts import FoldedTexts
from engine.corpus.people.short_marks import ShortMarks, short_marks
from engine.corpus.text.windows import IntArray, UintArray, mix, window_hashes

RUN_WORDS, KEPT_RUNS = 8, 6
TEMPLATE_TEXTS = 3  # different texts that share a run make it a template
STRONG_RUNS = 3  # shared with one earlier record
AT_ONCE = 20_000  # records whose runs are made at once
RUNS_AT_ONCE = 500_000  # runs that are compared at once
TELLING_DIGITS = 7  # of an id, to be kept without what stands around them
_TENTHS = re.compile(r"\.0+\Z")  # a whole number that a table program wrote
_NUMBERED = re.compile(r"(\D*)(\d{1,18})(\D*)")

Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PeopleMarks:
    """The marks of one file.

    runs, record: int64 (m,), a keyed hash and the number of its record, from 1. sources, bare: int64 (k,), distinct
    keyed hashes of source ids as they are, and without marks or by their numbers. chance: share in [0, 1] of ids that a
    file of other people, numbered alike, would have too.
    short: the marks of short records. equal: those of lines and rests, kind → marks.
    """

    runs: Hashes = field(repr=False)
    record: Hashes = field(repr=False)
    sources: Hashes = field(repr=False)
    bare: Hashes = field(repr=False)
    chance: float
    short: ShortMarks = field(repr=False)
    equal: Mapping[str, EqualMarks] = field(repr=False)

    @property
    def records(self) -> int:
        """Return how many records have marks of long runs."""
        return len(np.unique(self.record))


def people_marks(texts: Sequence[str], sources: Sequence[str | None], key: bytes) -> PeopleMarks:
    """Return the marks of a file's records and source ids."""
    whole = FoldedTexts(texts)
    runs, record = _runs(whole, key)
    ids = sorted({_plain_id(source) for source in sources if source is not None and source.strip()})
    hashes = np.array([_number(key, "population source", one) for one in ids], dtype=np.int64)
    numbers = np.array([_number(key, "population source bare", _bare_id(one)) for one in ids], dtype=np.int64)
    short, equal = short_marks(whole, sources, key), equal_marks(texts, sources, key, whole)
    return PeopleMarks(runs, record, np.unique(hashes), np.unique(numbers), chance_of(ids), short, equal)


def chance_of(ids: Sequence[str]) -> float:
    """Return the share of these ids that a file of other people, numbered in the same way, would have too.

    Numbers, with the same letters around them, count as drawn from their own range: 1 to 1,000 says nothing, eight
    random digits say much. Other ids of fewer than six characters, initials say, may stand for anybody.
    """
    if not ids:
        return 1.0
    parts = [_NUMBERED.fullmatch(one) for one in ids]
    if all(parts):
        numbers = [int(part[2]) for part in parts if part]
        alike = len({(part[1], part[3]) for part in parts if part})
        return min(1.0, len(set(numbers)) / (max(numbers) - min(numbers) + 1) / alike)
    return 1.0 if sorted(len(one) for one in ids)[len(ids) // 2] < 6 else 0.0


def _runs(whole: FoldedTexts, key: bytes) -> tuple[Hashes, Hashes]:
    """Return the marks of runs and the numbers of their records; texts are taken in parts, so that little is held."""
    secret = np.uint64(struct.unpack("<Q", keyed_digest(key, "population runs", "")[:8])[0])
    parts = [_of_part(whole, begin, secret) for begin in range(0, len(whole), AT_ONCE)]
    ends = np.cumsum([0, *(len(hashes) for hashes, _ in parts)]).tolist()
    hashes = np.concatenate([hashes for hashes, _ in parts] or [np.zeros(0, dtype=np.uint64)])
    record = np.concatenate([record for _, record in parts] or [np.zeros(0, dtype=np.int32)])
    del parts
    template = _in_template(hashes, record, whole.distinct())
    stored, of = array("q"), array("q")
    for begin, end in pairwise(ends):  # a record's runs all lie in one part
        kept = ~template[begin:end]
        values, records = hashes[begin:end][kept], record[begin:end][kept]
        least = np.arange(len(records)) - np.searchsorted(records, records) < KEPT_RUNS
        # The selection used a fast mixing of a keyed value; what is stored is an HMAC of it.
        stored.extend(_number(key, "population run", f"{value:016x}") for value in values[least].tolist())
        of.extend((records[least] + 1).tolist())
    return np.array(stored, dtype=np.int64), np.array(of, dtype=np.int64)


def _of_part(whole: FoldedTexts, begin: int, secret: np.uint64) -> tuple[UintArray, IntArray]:
    """Return the distinct runs of some of the records, by record, the smallest first, and the records' numbers."""
    windows = window_hashes(whole.bare(begin, begin + AT_ONCE), RUN_WORDS)
    hashes, record = mix(windows.hashes ^ secret), windows.record
    order = np.lexsort((hashes, record))
    hashes, record = hashes[order], record[order]
    first = np.ones(len(hashes), dtype=bool)
    first[1:] = (record[1:] != record[:-1]) | (hashes[1:] != hashes[:-1])
    return hashes[first], record[first] + np.int32(begin)


def _in_template(hashes: UintArray, record: IntArray, distinct: Hashes) -> npt.NDArray[np.bool_]:
    """Say of each (run, record) whether the run stands in several different texts of the file.

    Runs are compared in parts, by their first bits.
    """
    found = np.zeros(len(hashes), dtype=bool)
    bits = max(0, (len(hashes) // RUNS_AT_ONCE).bit_length())
    for part in range(1 << bits):
        places = np.flatnonzero(hashes >> np.uint64(64 - bits) == part) if bits else np.arange(len(hashes))
        some, text = hashes[places], distinct[record[places]]
        order = np.lexsort((text, some))
        by_hash, by_text = some[order], text[order]
        new = np.ones(len(some), dtype=bool)
        new[1:] = (by_hash[1:] != by_hash[:-1]) | (by_text[1:] != by_text[:-1])
        values, counts = np.unique(by_hash[new], return_counts=True)
        found[places] = counts[np.searchsorted(values, some)] >= TEMPLATE_TEXTS
    return found


def _plain_id(source: str) -> str:
    return unicodedata.normalize("NFKC", source).casefold().strip()


def _bare_id(plain: str) -> str:
    """Return an id without marks, and its number alone where that is long."""
    bare = "".join(character for character in _TENTHS.sub("", plain) if character.isalnum())
    digits = "".join(character for character in bare if character.isdigit()).lstrip("0")
    return digits if len(digits) >= TELLING_DIGITS else bare or plain


def _number(key: bytes, purpose: str, value: str) -> int:
    """Return 64 keyed bits as a signed number."""
    return int(struct.unpack("<q", keyed_digest(key, purpose, value)[:8])[0])
