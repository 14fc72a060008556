"""Find word-for-word copies: windows of eight words that stand in the reference too, as passages a person can read.

The join itself is `engine.corpus.text.runs`. Eight words follow Lee et al. 2022 (Deduplicating training data, section
4) in kind, but are far shorter than their 50 tokens, since short records rarely share 50.

Privacy posture: results are record ids and code-point offsets.
"""

from __future__ import annotations

from array import array

import numpy as np
import pandas as pd

from engine.corpus.text.runs import WindowIndex, matching_windows
from engine.corpus.text.words import WordTable
from engine.examine.base import Side

MAX_SOURCES = 16
BLOCK = 500_000  # windows that match looked at together: of a million texts there may be ten millions
COLUMNS = ["record_id", "source_record_id", "kind", "start", "end", "source_start", "source_end", "words"]


def copied_spans(synthetic: Side, reference: Side, index: WindowIndex) -> pd.DataFrame:
    """Return maximal copied passages, one row each: ids, code-point offsets on both sides, length in words.

    Of several sources the record the text stems from is preferred, then the longest passage.
    """
    positions, slots = matching_windows(synthetic.words, index)
    ours, theirs = synthetic.words, reference.words
    found = array("i")  # seven numbers a passage
    covered, current = -1, -1
    for low in range(0, len(positions), BLOCK):
        block = positions[low : low + BLOCK]
        text_of = np.searchsorted(ours.offsets, block, side="right") - 1
        for position, slot, text in zip(
            block.tolist(), slots[low : low + BLOCK].tolist(), text_of.tolist(), strict=True
        ):
            if text == current and position + index.width <= covered:
                continue
            wanted = None if synthetic.lineage is None else synthetic.lineage[text]
            source, length = _best_source(ours, text, position, slot, index, reference, wanted)
            current, covered = text, position + length
            first = int(index.positions[source])
            source_text = int(np.searchsorted(theirs.offsets, first, side="right") - 1)
            found.extend(
                (text, source_text, int(ours.starts[position]), int(ours.ends[position + length - 1]),
                 int(theirs.starts[first]), int(theirs.ends[first + length - 1]), length)
            )  # fmt: skip
    rows, sources, *numbers = np.array(found, np.int64).reshape(-1, 7).T
    columns = (synthetic.record_ids[rows], reference.record_ids[sources], "verbatim", *numbers)
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)), columns=COLUMNS)


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
