"""Blocks of rows of one size: next-token logits of a row never depend on how many rows are read beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from engine.dp.noise.prediction import Prefixes


class Blocks:
    """Blocks of rows as one; rows that only fill a block up are left out.

    Args:
        blocks: each gives logits (block, V). rows: how many are real.
    """

    def __init__(self, blocks: Sequence[Prefixes], rows: int) -> None:
        self._blocks, self._rows = list(blocks), rows

    def logits(self) -> NDArray[np.float32]:
        """Return next-token logits (rows, V)."""
        return np.concatenate([block.logits() for block in self._blocks])[: self._rows]

    def append(self, token: int) -> None:
        """Put one token behind every row."""
        for block in self._blocks:
            block.append(token)


def parts(rows: Sequence[Sequence[int]], block: int) -> list[Sequence[Sequence[int]]]:
    """Return the rows of each block."""
    return [rows[at : at + block] for at in range(0, len(rows), block)]


def padded(rows: Sequence[Sequence[int]], width: int, block: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return ids (block, width) padded on the left, and which places are real."""
    ids, real = np.zeros((block, width), dtype=np.int64), np.zeros((block, width), dtype=bool)
    for i, row in enumerate(rows):
        ids[i, width - len(row) :], real[i, width - len(row) :] = list(row), True
    return ids, real
