"""Join the word windows of two sets of texts: which windows of one stand, word for word, in the other.

Examinations and the release's own check count copies by this one join over the one word rule.

Each window becomes a 64-bit hash. The reference's windows are sorted by hash; the candidate's are sorted too, a block
at a time, before they are looked up (sorted queries read the reference in order; unsorted ones cost a cache miss
each). Hash and position share one 64-bit number, so that sorting moves no second array; the bits this takes from the
hash cost nothing, since every hit is confirmed word by word. Memory: 24 bytes a reference window while it is
sorted, 16 afterwards, and one block of the candidate.

Privacy posture: hashes are not keyed; they live in memory for one examination only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.windows import GOLDEN, mix
from engine.corpus.text.words import WordTable

WINDOW = 8
BLOCK = 1 << 21  # words hashed, sorted and looked up at once
_STEP = np.uint64(0x100000001B3)

Hashes = NDArray[np.uint64]
Positions = NDArray[np.int64]
Report = Callable[[int, int], None]


def quiet(done: int, total: int) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class WindowIndex:
    """The windows of a reference, sorted by hash.

    Args:
        words: the reference's words.
        width: words a window.
        hashes: uint64 array (m,), the leading `64 - shift` bits of each hash, ascending.
        positions: int64 array (m,), the window's first word; ascending among equal hashes.
        shift: bits dropped.
    """

    words: WordTable
    width: int
    hashes: Hashes = field(repr=False)
    positions: Positions = field(repr=False)
    shift: int


def windows(words: WordTable, width: int = WINDOW, block: int = BLOCK) -> Iterator[tuple[Hashes, Positions]]:
    """Yield hash and first word of every window that lies inside one text, in reading order, a block at a time."""
    count = len(words.ids) - width + 1
    inside = np.ones(max(count, 0), bool)
    for place in range(1, width):  # a window may not begin on the last width - 1 words of a text
        ends = words.offsets[1:] - place
        inside[ends[(ends >= 0) & (ends < count)]] = False
    for start in range(0, count, block):
        stop = min(start + block, count)
        mixed = mix((words.ids[start : stop + width - 1].astype(np.uint64) + np.uint64(1)) * GOLDEN)
        hashes = np.zeros(stop - start, np.uint64)
        for place in range(width):
            hashes *= _STEP
            hashes += mixed[place : place + stop - start]
            hashes ^= hashes >> np.uint64(29)
        kept = np.flatnonzero(inside[start:stop])
        yield hashes[kept], kept + start


def _packed(hashes: Hashes, positions: Positions, shift: int) -> Hashes:
    """Return numbers that sort by the hash's leading bits, then by position."""
    low = np.uint64(shift)
    return np.asarray((hashes >> low << low) | positions.astype(np.uint64), np.uint64)


def index_windows(words: WordTable, width: int = WINDOW, report: Report = quiet, block: int = BLOCK) -> WindowIndex:
    """Return the sorted windows of a reference; `report` is told (words done, words of all) once a block."""
    total = len(words.ids)
    shift = max(total.bit_length(), block.bit_length())
    keys = np.empty(max(total - width + 1, 0), np.uint64)
    filled = 0
    for hashes, positions in windows(words, width, block):
        keys[filled : filled + len(hashes)] = _packed(hashes, positions, shift)
        filled += len(hashes)
        report(min(filled, total), total)
    keys = keys[:filled]
    keys.sort()
    positions = (keys & np.uint64((1 << shift) - 1)).astype(np.int64)
    keys >>= np.uint64(shift)
    report(total, total)
    return WindowIndex(words, width, keys, positions, shift)


def matching_windows(
    candidate: WordTable, index: WindowIndex, report: Report = quiet, block: int = BLOCK
) -> tuple[Positions, Positions]:
    """Return the candidate's windows that stand in the reference.

    Returns:
        first words in the candidate, int64 (k,), ascending; and a slot of the index each, int64 (k,): the first
        (earliest in the reference) of the windows with the same words.
    """
    total = len(candidate.ids)
    found: list[tuple[Positions, Positions]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for hashes, positions in windows(candidate, index.width, min(block, 1 << (index.shift - 1))):
        if len(positions):
            found.append(_match_block(candidate, hashes, positions, index))
            report(int(positions[-1]) + 1, total)
    report(total, total)
    return np.concatenate([at for at, _ in found]), np.concatenate([slot for _, slot in found])


def _match_block(
    candidate: WordTable, hashes: Hashes, positions: Positions, index: WindowIndex
) -> tuple[Positions, Positions]:
    keys = np.sort(_packed(hashes, np.arange(len(hashes)), index.shift))
    wanted = keys >> np.uint64(index.shift)
    slot = np.searchsorted(index.hashes, wanted)
    known = slot < len(index.hashes)
    known[known] = index.hashes[slot[known]] == wanted[known]
    slot = slot[known].astype(np.int64)
    at = positions[(keys[known] & np.uint64((1 << index.shift) - 1)).astype(np.int64)]
    good = _confirmed(candidate, at, index, slot)
    for bad in np.flatnonzero(~good):  # a collision: look at the other windows with this hash
        other = slot[bad] + 1
        while other < len(index.hashes) and index.hashes[other] == index.hashes[slot[bad]] and not good[bad]:
            good[bad] = _confirmed(candidate, at[bad : bad + 1], index, np.array([other]))[0]
            slot[bad] = other if good[bad] else slot[bad]
            other += 1
    at, slot = at[good], slot[good]
    back = np.argsort(at, kind="stable")
    return at[back], slot[back]


def _confirmed(candidate: WordTable, at: Positions, index: WindowIndex, slot: Positions) -> NDArray[np.bool_]:
    """Return whether the words at candidate positions equal those of the reference slots."""
    equal = np.ones(len(at), bool)
    source = index.positions[slot]
    for place in range(index.width):
        equal &= candidate.ids[at + place] == index.words.ids[source + place]
    return equal


def copies_anything(candidate: WordTable, index: WindowIndex, report: Report = quiet) -> NDArray[np.bool_]:
    """Return, for each candidate text, whether it holds at least one window of the reference."""
    positions, _ = matching_windows(candidate, index, report)
    result = np.zeros(candidate.size, bool)
    result[np.searchsorted(candidate.offsets, positions, side="right") - 1] = True
    return result
