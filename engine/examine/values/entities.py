"""Look for private entities (accepted spans) of the reference inside synthetic texts.

Two scores, after Zhao and Field 2025 (Controlled generation for private synthetic text), section 3.4: a
synthetic record leaks if it contains at least one private entity (PIPP, equation 6); an entity is leaked
if any synthetic record contains it (ELP). Each in two editions: `corpus` (entities of the whole
reference; their fine-tuning setting) and `context` (entities of the one record a text stems from; their
in-context setting). For both, lower is safer.

Entities are compared as word sequences: case, punctuation and spacing do not matter, and a name inside
a longer word does not count. An entity with fewer than two letters or digits, or made of function words
or forms of address alone (a surname "An", the initials "DR") would be "found" in every letter and is left out.

Privacy posture: the index holds word numbers of private entities, in memory only.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.base import Side
from engine.examine.samples import in_blocks
from engine.pii.detect.plain.function_words import found_everywhere

LEAK_COLUMNS = [
    "record_id", "source_record_id", "kind", "start", "end", "source_start", "source_end",
    "entity", "label", "identifier_type", "units",
]  # fmt: skip
MIN_CHARACTERS = 2
BLOCK = 20_000  # texts looked at together where only counts are kept
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class EntityIndex:
    """Distinct entities of a reference, numbered in order of first sight.

    Where they are marked stands in columns, not in objects: a million records may have some millions of marks.

    Args:
        labels: the type of each, of m. direct: bool array (m,), whether it is a direct identifier somewhere.
        entity, row, start, end: int arrays (k,), a mark each, in the order of the spans: which entity, and where, `row`
            among the reference's texts, half-open code-point offsets.
        record_ids, units: object arrays (n,), of the reference's texts.
        by_words: word-number tuple -> entity number.
        lengths: first word number -> lengths of entities that begin with it.
        skipped: spans left out because they are too short or hold function words alone.
    """

    labels: list[str]
    direct: NDArray[np.bool_]
    entity: NDArray[np.int32]
    row: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    record_ids: NDArray[np.object_]
    units: NDArray[np.object_]
    by_words: dict[tuple[int, ...], int]
    lengths: dict[int, tuple[int, ...]]
    skipped: int

    def __len__(self) -> int:
        return len(self.labels)

    def mask(self, kind: str) -> NDArray[np.bool_]:
        """Return which entities are `direct`, `rare` (in a single unit) or `all`."""
        if kind == "direct":
            return self.direct
        if kind == "rare":
            return self.holders == 1
        return np.ones(len(self), bool)

    @cached_property
    def held(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.object_]]:
        """Which entity stands in which unit's records, each pair once: entity (p,), number of the unit (p,), units."""
        codes, names = pd.factorize(self.units)
        pairs = np.unique(self.entity.astype(np.int64) * max(1, len(names)) + codes[self.row])
        of, by = np.divmod(pairs, max(1, len(names)))
        return of, by, np.asarray(names, dtype=object)

    @cached_property
    def holder(self) -> NDArray[np.int64]:
        """The number of the first unit that each entity stands with, int array (m,): who gives one away gives more."""
        of, by, _ = self.held
        first = np.full(len(self), -1, np.int64)
        first[of[::-1]] = by[::-1]
        return first

    @cached_property
    def holders(self) -> NDArray[np.int64]:
        """In how many units' records each entity stands, int array (m,)."""
        return np.bincount(self.held[0], minlength=len(self)).astype(np.int64)

    @cached_property
    def rows_held(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which entity stands in which row, each pair once, by row: row (p,), entity (p,)."""
        pairs = np.unique(self.row.astype(np.int64) * max(1, len(self)) + self.entity)
        row, entity = np.divmod(pairs, max(1, len(self)))
        return row, entity

    def of_row(self, row: int) -> set[int]:
        """Return the numbers of the entities that stand in one of the reference's texts."""
        rows, entities = self.rows_held
        low, high = np.searchsorted(rows, [row, row + 1])
        return set(entities[low:high].tolist())


def index_entities(*references: Side) -> EntityIndex:
    """Return the distinct private entities of the references' accepted spans (type `none` left out).

    Args:
        references: no record is in two of them. Rows are numbered through, as if they were one.
    """
    labels: list[str] = []
    direct: list[bool] = []
    by_words: dict[tuple[int, ...], int] = {}
    marks = array("i")  # four numbers a mark
    skipped = before = 0
    for reference in references:
        for row, start, end, label, kind in _marked(reference):
            key = _words_between(reference.words, row, start, end)
            surface = reference.texts[row][start:end]
            letters = sum(ch.isalnum() for ch in surface)
            if not key or letters < MIN_CHARACTERS or found_everywhere(_WORD.findall(surface)):
                skipped += 1
                continue
            number = by_words.setdefault(key, len(labels))
            if number == len(labels):
                labels.append(label)
                direct.append(False)
            direct[number] = direct[number] or kind == "direct"
            marks.extend((number, before + row, start, end))
        before += len(reference)
    lengths: dict[int, set[int]] = defaultdict(set)
    for key in by_words:
        lengths[key[0]].add(len(key))
    ordered = {first: tuple(sorted(sizes, reverse=True)) for first, sizes in lengths.items()}
    entity, row_, begins, ends = np.array(marks, np.int32).reshape(-1, 4).T
    ids, units = (
        of[0] if len(of) == 1 else np.concatenate(of)
        for of in ([one.record_ids for one in references], [one.units for one in references])
    )
    return EntityIndex(
        labels, np.array(direct, bool), entity, row_, begins, ends, ids, units, by_words, ordered, skipped,
    )  # fmt: skip


def _marked(reference: Side) -> Iterator[tuple[int, int, int, str, str]]:
    """Yield row, offsets, label and type of each accepted span of the texts, but those of type `none`."""
    spans = reference.spans
    if spans is None:
        return
    row_of = {record: row for row, record in enumerate(reference.record_ids)}
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    for record, start, end, label, kind in spans[spans["identifier_type"] != "none"][columns].itertuples(index=False):
        row = row_of.get(record)
        if row is not None:
            yield row, int(start), int(end), str(label), str(kind)


def _words_between(words: WordTable, row: int, start: int, end: int) -> tuple[int, ...]:
    """Return the words of text `row` that overlap the offsets [start, end)."""
    low, high = int(words.offsets[row]), int(words.offsets[row + 1])
    first = low + int(np.searchsorted(words.ends[low:high], start, side="right"))
    last = low + int(np.searchsorted(words.starts[low:high], end, side="left"))
    return tuple(words.ids[first:last].tolist())


@dataclass(frozen=True)
class Matches:
    """Occurrences of entities, by text: int arrays (m,) `text`, `entity`, word positions `first` and `last`."""

    text: NDArray[np.int32]
    entity: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Which entity stands in which text, each pair once, by text, then entity: text (p,), entity (p,)."""
        many = int(self.entity.max()) + 1 if len(self.entity) else 1
        texts, entities = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for part in self.blocks():
            pairs = np.unique(self.text[part].astype(np.int64) * many + self.entity[part])
            text, entity = np.divmod(pairs, many)
            texts.append(text.astype(np.int32))
            entities.append(entity.astype(np.int32))
        return np.concatenate(texts), np.concatenate(entities)

    def without_places(self) -> Matches:
        """Return the same without where they stand in a text: of a million texts that is half of some 200 MB."""
        none = np.empty(0, np.int32)
        return Matches(self.text.copy(), self.entity.copy(), none, none)

    def blocks(self) -> list[slice]:
        """Return stretches of the matches, each of whole texts; of a million texts there are some ten millions."""
        texts = int(self.text[-1]) + 1 if len(self.text) else 0
        cuts = np.searchsorted(self.text, np.append(np.arange(0, texts, BLOCK), texts)).tolist()
        return [slice(low, high) for low, high in pairwise(cuts)]


def find_entities(texts: WordTable, index: EntityIndex) -> Matches:
    """Return every occurrence of an entity in the texts."""
    found = array("i")  # four numbers a match; there may be as many matches as words
    lengths, by_words = index.lengths, index.by_words
    bounds = texts.offsets.tolist()
    for text in range(texts.size):
        begin = bounds[text]
        ids = texts.ids[begin : bounds[text + 1]].tolist()
        for at, word in enumerate(ids):
            for length in lengths.get(word, ()):
                if at + length <= len(ids):
                    entity = by_words.get(tuple(ids[at : at + length]))
                    if entity is not None:
                        found.extend((text, entity, begin + at, begin + at + length - 1))
    text_, entity_, first, last = (
        np.frombuffer(found, np.int32).reshape(-1, 4).T if found else np.empty((4, 0), np.int32)
    )
    return Matches(text_, entity_, first, last)


def standing(texts: WordTable, index: EntityIndex, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return in how many units' texts each entity stands, marked or not, int array (m,).

    Args:
        units: int array (texts,), whose each text is.
    """
    counted = np.zeros(len(index), np.int64)
    for entity, _ in _standing_by_block(texts, index, units):
        counted += np.bincount(entity, minlength=len(index))
    return counted


def standing_pairs(
    texts: WordTable, index: EntityIndex, units: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return which entity stands in whose texts, marked or not, each pair once: entity (p,), unit (p,).

    Args:
        units: int array (texts,), whose each text is.
    """
    found = [(np.empty(0, np.int32), np.empty(0, np.int32)), *_standing_by_block(texts, index, units)]
    entities, holders = (np.concatenate(side) for side in zip(*found, strict=True))
    return entities, holders


def _standing_by_block(
    texts: WordTable, index: EntityIndex, units: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield the pairs of a block of whole units at a time: a million texts have some ten millions of matches."""
    for rows in in_blocks(units, BLOCK):
        matches = find_entities(texts.take(rows), index)
        own, codes = np.unique(units[rows], return_inverse=True)
        pairs = np.unique(matches.entity.astype(np.int64) * max(1, len(own)) + codes.reshape(-1)[matches.text])
        entity, unit = np.divmod(pairs, max(1, len(own)))
        yield entity.astype(np.int32), own[unit].astype(np.int32)


def records_with(matches: Matches, texts: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for each text, whether it contains an allowed entity: the indicator of PIPP."""
    result = np.zeros(texts, bool)
    result[matches.text[allowed[matches.entity]]] = True
    return result


def entities_found(matches: Matches, entities: int) -> NDArray[np.bool_]:
    """Return, for each entity, whether any text contains it: the indicator of ELP, corpus edition."""
    result = np.zeros(entities, bool)
    result[matches.entity] = True
    return result


def context_shares(matches: Matches, sources: NDArray[np.object_], index: EntityIndex) -> NDArray[np.float64]:
    """Return, for each text, the share of its source record's entities that it contains; NaN where there are none."""
    row_of = {record: row for row, record in enumerate(index.record_ids)}
    source = np.array([-1 if name is None else row_of.get(name, -1) for name in sources], np.int64)
    texts, entities = matches.pairs
    blocks = np.arange(0, len(source), BLOCK)
    cuts = np.searchsorted(texts, np.append(blocks, len(source))).tolist()
    shares = [np.empty(0)]
    for begin, (low, high) in zip(blocks.tolist(), pairwise(cuts), strict=True):
        there = (texts[low:high].astype(np.int64) - begin) * max(1, len(index)) + entities[low:high]
        shares.append(_shares(there, source[begin : begin + BLOCK], index))
    return np.concatenate(shares)


def _shares(there: NDArray[np.int64], source: NDArray[np.int64], index: EntityIndex) -> NDArray[np.float64]:
    """Return the same for a few texts, of which `there` says which hold which: text times entities plus entity."""
    rows, own = index.rows_held
    begins, ends = np.searchsorted(rows, source), np.searchsorted(rows, source, side="right")
    counts = np.where(source < 0, 0, ends - begins)
    text = np.repeat(np.arange(len(source)), counts)
    at = np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(len(text))
    wanted = text * max(1, len(index)) + own[at]
    place = np.searchsorted(there, wanted)
    held = np.zeros(len(wanted), bool)
    inside = place < len(there)
    held[inside] = there[place[inside]] == wanted[inside]
    found = np.bincount(text, weights=held, minlength=len(source))
    shares = np.full(len(source), np.nan)
    some = counts > 0
    shares[some] = found[some] / counts[some]
    return shares


def leak_table(
    synthetic: Side, matches: Matches, index: EntityIndex, aside: NDArray[np.bool_], most: int
) -> pd.DataFrame:
    """Return one row an occurrence: ids, offsets on both sides, entity number, type, units that share it.

    Args:
        aside: bool array (m,), entities that are left out. most: rows; direct ones that few units share are kept first.
    """
    kept = _foremost(matches, index, aside, most)
    text, number = matches.text[kept], matches.entity[kept]
    mark = _first_marks(index, number, None if synthetic.lineage is None else synthetic.lineage[text])
    columns: tuple[NDArray[np.generic], ...] = (
        synthetic.record_ids[text], index.record_ids[index.row[mark]], np.full(len(kept), "entity", object),
        synthetic.words.starts[matches.first[kept]], synthetic.words.ends[matches.last[kept]],
        index.start[mark], index.end[mark], number, np.array(index.labels, object)[number],
        np.where(index.direct[number], "direct", "quasi").astype(object), index.holders[number],
    )  # fmt: skip
    made = {
        name: column if column.dtype == object else column.astype(np.int64)
        for name, column in zip(LEAK_COLUMNS, columns, strict=True)
    }
    return pd.DataFrame(made)


def _foremost(matches: Matches, index: EntityIndex, aside: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """Return at most so many matches, in their order; direct entities come first, then those that few units share."""
    holders = index.holders
    _, rank = np.unique(np.where(index.direct, 0, 1 + holders.max(initial=0)) + holders, return_inverse=True)
    rank = np.where(aside, -1, rank.reshape(-1)).astype(np.int32)
    many = np.zeros(int(rank.max(initial=-1)) + 1, np.int64)
    for part in matches.blocks():
        of = rank[matches.entity[part]]
        many += np.bincount(of[of >= 0], minlength=len(many))
    before = np.cumsum(many) - many  # matches of better ranks
    found = [np.empty(0, np.int64)]
    for part in matches.blocks():
        of = rank[matches.entity[part]]
        at = np.flatnonzero(of >= 0)
        at = at[before[of[at]] < most]
        found.append(at + part.start)
    kept = np.concatenate(found)
    last = rank[matches.entity[kept]] == np.count_nonzero(before < most) - 1
    over = max(0, len(kept) - most)  # all of the last rank
    return np.delete(kept, np.flatnonzero(last)[int(last.sum()) - over :])


def _first_marks(
    index: EntityIndex, numbers: NDArray[np.int32], sources: NDArray[np.object_] | None
) -> NDArray[np.int64]:
    """Return the first mark of each entity named, where its source has one the first there, int array (r,)."""
    many = max(1, len(index.record_ids))
    where = index.entity.astype(np.int64) * many + index.row
    order = np.argsort(where, kind="stable")
    by_entity = np.argsort(index.entity, kind="stable")
    first = by_entity[np.searchsorted(index.entity[by_entity], numbers)] if len(numbers) else by_entity[:0]
    if sources is None or not len(numbers):
        return first
    row_of = {record: row for row, record in enumerate(index.record_ids)}
    row = np.array([-1 if source is None else row_of.get(source, -1) for source in sources], np.int64)
    wanted = numbers.astype(np.int64) * many + row
    place = np.minimum(np.searchsorted(where[order], wanted), len(order) - 1)
    own = (row >= 0) & (where[order[place]] == wanted)
    return np.where(own, order[place], first)
