"""Find word-for-word copies: windows of eight words that stand in the reference too.

Each window of eight word numbers becomes a 64-bit hash; the candidate's windows are sorted and looked up
in the sorted reference (sort-merge join), and every hit is confirmed word by word, so a hash collision
never counts. (`engine.corpus.windows` joins whole corpora without that check and takes "Smith's" as one
word; here the words must be those that entities are matched on.) Eight words follow Lee et al. 2022
(Deduplicating training data, section 4) in kind, but are far shorter than their 50 tokens, since short
records rarely share 50.

Privacy posture: results are record ids and code-point offsets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.attacks.base import Scores, Side
from engine.attacks.words import WordTable
from engine.corpus.windows import mix

WINDOW = 8
MAX_SOURCES = 16
COLUMNS = ["record_id", "source_record_id", "kind", "start", "end", "source_start", "source_end", "words"]
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class WindowIndex:
    """Windows of a reference, sorted by hash: `hashes` uint64 (m,), `positions` int64 (m,) of first words."""

    words: WordTable
    width: int
    hashes: NDArray[np.uint64]
    positions: NDArray[np.int64]


def windows(words: WordTable, width: int = WINDOW) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return hash and first-word position of every window that lies inside one text."""
    total = len(words.ids)
    if total < width:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    mixed = mix((words.ids.astype(np.uint64) + np.uint64(1)) * _SPREAD)
    count = total - width + 1
    hashes = np.zeros(count, np.uint64)
    for place in range(width):
        hashes = hashes * np.uint64(0x100000001B3) + mixed[place : place + count]
        hashes ^= hashes >> np.uint64(29)
    text_of = np.repeat(np.arange(words.size), words.counts)
    inside = np.flatnonzero(text_of[:count] == text_of[width - 1 :])
    return hashes[inside], inside.astype(np.int64)


def index_windows(words: WordTable, width: int = WINDOW) -> WindowIndex:
    """Return the sorted windows of a reference."""
    hashes, positions = windows(words, width)
    order = np.argsort(hashes, kind="stable")
    return WindowIndex(words, width, hashes[order], positions[order])


def _confirmed(
    candidate: WordTable, at: NDArray[np.int64], index: WindowIndex, slot: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether the words at candidate positions equal those of the reference slots."""
    equal = np.ones(len(at), bool)
    source = index.positions[slot]
    for place in range(index.width):
        equal &= candidate.ids[at + place] == index.words.ids[source + place]
    return equal


def matching_windows(candidate: WordTable, index: WindowIndex) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (word positions of candidate windows that stand in the reference, one reference slot each)."""
    hashes, positions = windows(candidate, index.width)
    order = np.argsort(hashes, kind="stable")
    hashes, positions = hashes[order], positions[order]
    slot = np.searchsorted(index.hashes, hashes)
    found = slot < len(index.hashes)
    found[found] = index.hashes[slot[found]] == hashes[found]
    positions, slot = positions[found], slot[found].astype(np.int64)
    good = _confirmed(candidate, positions, index, slot)
    for bad in np.flatnonzero(~good):  # a collision: look at the other windows with this hash
        other = slot[bad] + 1
        while other < len(index.hashes) and index.hashes[other] == index.hashes[slot[bad]] and not good[bad]:
            good[bad] = _confirmed(candidate, positions[bad : bad + 1], index, np.array([other]))[0]
            slot[bad] = other if good[bad] else slot[bad]
            other += 1
    positions, slot = positions[good], slot[good]
    back = np.argsort(positions, kind="stable")
    return positions[back], slot[back]


def copies_anything(candidate: WordTable, index: WindowIndex) -> NDArray[np.bool_]:
    """Return, a candidate text, whether it holds at least one window of the reference."""
    positions, _ = matching_windows(candidate, index)
    result = np.zeros(candidate.size, bool)
    result[np.searchsorted(candidate.offsets, positions, side="right") - 1] = True
    return result


def copied_spans(synthetic: Side, reference: Side, index: WindowIndex) -> pd.DataFrame:
    """Return maximal copied passages, one row each: ids, code-point offsets on both sides, length in words.

    Of several sources the record the text stems from is preferred, then the longest passage.
    """
    positions, slots = matching_windows(synthetic.words, index)
    ours, theirs = synthetic.words, reference.words
    text_of = np.searchsorted(ours.offsets, positions, side="right") - 1
    rows: list[tuple[str, str, str, int, int, int, int, int]] = []
    covered, current = -1, -1
    for position, slot, text in zip(positions.tolist(), slots.tolist(), text_of.tolist(), strict=True):
        if text == current and position + index.width <= covered:
            continue
        wanted = None if synthetic.lineage is None else synthetic.lineage[text]
        source, length = _best_source(ours, text, position, slot, index, reference, wanted)
        current, covered = text, position + length
        first = int(index.positions[source])
        source_text = int(np.searchsorted(theirs.offsets, first, side="right") - 1)
        rows.append(
            (synthetic.record_ids[text], reference.record_ids[source_text], "verbatim",
             int(ours.starts[position]), int(ours.ends[position + length - 1]),
             int(theirs.starts[first]), int(theirs.ends[first + length - 1]), length)
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def _best_source(
    ours: WordTable, text: int, position: int, slot: int, index: WindowIndex, reference: Side, wanted: str | None
) -> tuple[int, int]:
    """Return (slot, words) of the passage to show for the window at `position`."""
    theirs = index.words
    best, best_key = slot, (False, index.width)
    for other in range(slot, min(slot + MAX_SOURCES, len(index.hashes))):
        if index.hashes[other] != index.hashes[slot]:
            break
        first = int(index.positions[other])
        source_text = int(np.searchsorted(theirs.offsets, first, side="right") - 1)
        room = min(int(ours.offsets[text + 1]) - position, int(theirs.offsets[source_text + 1]) - first)
        equal = ours.ids[position : position + room] == theirs.ids[first : first + room]
        length = room if bool(equal.all()) else int(np.argmin(equal))
        key = (wanted is not None and reference.record_ids[source_text] == wanted, length)
        if length >= index.width and key > best_key:
            best, best_key = other, key
    return best, best_key[1]


def score(synthetic: Side, reference: Side) -> Scores:
    """Score 1 a synthetic record that holds an eight-word window of the reference, else 0."""
    index = index_windows(reference.words)
    copied = copies_anything(synthetic.words, index)
    return Scores(copied.astype(np.float64), "record", copied_spans(synthetic, reference, index))
