"""Counts of records by label, public topic and length together: which cells are asked for, and what each holds.

Mechanism: each record has one public topic (the nearest of given centres, by an exact product of its own embedding),
one label and one length in words, all of them functions of the record and of public inputs alone. The cells of one
question are disjoint, which is checked, so a record is counted in one of them at most; each count gets Gaussian noise.
Unit and adjacency: a record or a source, capped beforehand; zero-out or replace-one.
Sensitivity: all of a unit's records may lie in one cell, so the counts of two neighbours differ by at most cap
(zero-out) or √2 cap (replace-one) in L2 norm. Which cells a later question has may follow from earlier noisy counts:
its noise is fixed beforehand, and adaptive composition of such releases costs what a fixed one does.
Public: centres, labels, limits of lengths, how many questions there are, and the noise of each.
An attacker sees every noisy count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise.private_data import PrivateData
from engine.errors import InternalError

ANY_LENGTH = (0, 2**31)


@dataclass(frozen=True)
class Cell:
    """Records of a label (None: of all, or of none), of one of these topics, of a length in words in [low, high)."""

    label: str | None
    topics: tuple[int, ...]
    words: tuple[int, int] = ANY_LENGTH


def check_cells(cells: Sequence[Cell], topics: int) -> None:
    """Refuse cells that could share a record.

    Args:
        topics: how many there are.
    """
    labels = sorted({cell.label for cell in cells if cell.label is not None})
    limits = sorted({limit for cell in cells for limit in cell.words})
    taken = np.zeros((len(labels) + 1, topics, max(1, len(limits))), dtype=np.int64)
    for cell in cells:
        if not cell.topics or min(cell.topics) < 0 or max(cell.topics) >= topics or cell.words[0] >= cell.words[1]:
            raise InternalError("a cell of the histogram is empty, or names a topic that does not exist")
        rows = [labels.index(cell.label)] if cell.label is not None else list(range(len(labels) + 1))
        low, high = limits.index(cell.words[0]), limits.index(cell.words[1])
        taken[np.ix_(rows, sorted(set(cell.topics)), range(low, high))] += 1
    if taken.max(initial=0) > 1:
        raise InternalError("cells of a histogram overlap; a record would count more than once")


def counts(data: PrivateData, cells: Sequence[Cell]) -> NDArray[np.int64]:
    """Return how many records each cell holds, (cells,); private."""
    topics, words = data.topics, data.lengths(None)
    labels = np.array(data.labels, dtype=object)
    found = np.zeros(len(cells), dtype=np.int64)
    known = 1 + max([int(topics.max(initial=-1)), *(max(cell.topics, default=-1) for cell in cells)])
    for place, cell in enumerate(cells):
        named = np.zeros(known + 1, dtype=bool)  # the last is that of no topic, −1
        named[list(cell.topics)] = True
        mine = named[topics] & (words >= cell.words[0]) & (words < cell.words[1])
        if cell.label is not None:
            mine &= labels == cell.label
        found[place] = int(mine.sum())
    return found
