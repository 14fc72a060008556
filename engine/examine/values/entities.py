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
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.base import Side
from engine.pii.detect.plain.function_words import found_everywhere

LEAK_COLUMNS = [
    "record_id", "source_record_id", "kind", "start", "end", "source_start", "source_end",
    "entity", "label", "identifier_type", "units",
]  # fmt: skip
MIN_CHARACTERS = 2
_WORD = re.compile(r"\w+")


@dataclass
class Entity:
    """One distinct private entity: where it stands, in how many units, and of what type."""

    label: str
    direct: bool
    places: list[tuple[str, int, int]] = field(default_factory=list)
    units: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class EntityIndex:
    """Distinct entities of a reference.

    Args:
        entities: in order of first sight.
        of_record: record id -> numbers of the entities standing in it.
        by_words: word-number tuple -> entity number.
        lengths: first word number -> lengths of entities that begin with it.
        skipped: spans left out because they are too short or hold function words alone.
    """

    entities: list[Entity]
    of_record: dict[str, set[int]]
    by_words: dict[tuple[int, ...], int]
    lengths: dict[int, tuple[int, ...]]
    skipped: int

    def mask(self, kind: str) -> NDArray[np.bool_]:
        """Return which entities are `direct`, `rare` (in a single unit) or `all`."""
        if kind == "direct":
            return np.array([entity.direct for entity in self.entities], bool)
        if kind == "rare":
            return np.array([len(entity.units) == 1 for entity in self.entities], bool)
        return np.ones(len(self.entities), bool)


def index_entities(reference: Side) -> EntityIndex:
    """Return the distinct private entities of the reference's accepted spans (type `none` left out)."""
    spans = reference.spans
    entities: list[Entity] = []
    by_words: dict[tuple[int, ...], int] = {}
    of_record: dict[str, set[int]] = defaultdict(set)
    skipped = 0
    row_of = {record: row for row, record in enumerate(reference.record_ids)}
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    rows = [] if spans is None else spans[spans["identifier_type"] != "none"][columns].itertuples(index=False)
    for record, start, end, label, kind in rows:
        row = row_of.get(record)
        if row is None:
            continue
        key = _words_between(reference.words, row, int(start), int(end))
        surface = reference.texts[row][int(start) : int(end)]
        letters = sum(ch.isalnum() for ch in surface)
        if not key or letters < MIN_CHARACTERS or found_everywhere(_WORD.findall(surface)):
            skipped += 1
            continue
        number = by_words.setdefault(key, len(entities))
        if number == len(entities):
            entities.append(Entity(str(label), kind == "direct"))
        entity = entities[number]
        entity.direct = entity.direct or kind == "direct"
        entity.places.append((record, int(start), int(end)))
        entity.units.add(str(reference.units[row]))
        of_record[record].add(number)
    lengths: dict[int, set[int]] = defaultdict(set)
    for key in by_words:
        lengths[key[0]].add(len(key))
    ordered = {first: tuple(sorted(sizes, reverse=True)) for first, sizes in lengths.items()}
    return EntityIndex(entities, dict(of_record), by_words, ordered, skipped)


def _words_between(words: WordTable, row: int, start: int, end: int) -> tuple[int, ...]:
    """Return the words of text `row` that overlap the offsets [start, end)."""
    low, high = int(words.offsets[row]), int(words.offsets[row + 1])
    first = low + int(np.searchsorted(words.ends[low:high], start, side="right"))
    last = low + int(np.searchsorted(words.starts[low:high], end, side="left"))
    return tuple(words.ids[first:last].tolist())


@dataclass(frozen=True)
class Matches:
    """Occurrences of entities in texts: int arrays (m,) `text`, `entity`, word positions `first` and `last`."""

    text: NDArray[np.int64]
    entity: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


def find_entities(texts: WordTable, index: EntityIndex) -> Matches:
    """Return every occurrence of an entity in the texts."""
    found = array("q")  # four numbers a match; there may be as many matches as words
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
    table = np.array(found, np.int64).reshape(-1, 4)
    return Matches(table[:, 0], table[:, 1], table[:, 2], table[:, 3])


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
    seen: dict[int, set[int]] = defaultdict(set)
    for text, entity in zip(matches.text.tolist(), matches.entity.tolist(), strict=True):
        seen[text].add(entity)
    shares = np.full(len(sources), np.nan)
    for text, source in enumerate(sources):
        own = index.of_record.get(source) if source is not None else None
        if own:
            shares[text] = len(own & seen.get(text, set())) / len(own)
    return shares


def leak_table(synthetic: Side, matches: Matches, index: EntityIndex) -> pd.DataFrame:
    """Return one row an occurrence: ids, offsets on both sides, entity number, type, units that share it."""
    rows = []
    places = [{record: (start, end) for record, start, end in reversed(e.places)} for e in index.entities]
    words, lineage = synthetic.words, synthetic.lineage
    for text, number, first, last in zip(
        matches.text.tolist(), matches.entity.tolist(), matches.first.tolist(), matches.last.tolist(), strict=True
    ):
        entity = index.entities[number]
        source = lineage[text] if lineage is not None and lineage[text] in places[number] else entity.places[0][0]
        start, end = places[number][source]
        rows.append(
            (synthetic.record_ids[text], source, "entity", int(words.starts[first]), int(words.ends[last]), start, end,
             number, entity.label, "direct" if entity.direct else "quasi", len(entity.units))
        )  # fmt: skip
    return pd.DataFrame(rows, columns=LEAK_COLUMNS)
