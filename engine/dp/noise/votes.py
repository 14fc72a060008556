"""Nearest-neighbour votes in blocks: which candidate is each record closest to?

Embeddings are rounded to multiples of 2^-11 first. Every partial sum of a dot product is then an integer below
2^24, exact in float32 in any order, so a record's vote never depends on which other records share its block:
one unit's removal changes its own votes only, which is what the sensitivity says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import InternalError

_SCALE = 2.0**11
_BLOCK_VALUES = 20_000_000


def quantised(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return unit rows (n, d) as whole numbers of 2^-11, in float32."""
    array = np.asarray(rows, dtype=np.float32)
    if array.ndim != 2:
        raise InternalError(f"embeddings: need two dimensions, got {array.ndim}")
    out = np.empty_like(array)
    for begin in range(0, len(array), 4096):
        part = np.nan_to_num(array[begin : begin + 4096].astype(np.float64))
        norms = np.sqrt(np.square(part).sum(axis=1, keepdims=True))
        out[begin : begin + 4096] = np.rint(part / np.maximum(norms, 1.0) * _SCALE)
    return out


def similarity_blocks(
    rows: NDArray[np.float32], others: NDArray[np.float32]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield slices of `rows` with their cosines to `others`, at most 80 MB a block.

    Args:
        rows, others: outputs of `quantised`, shapes (n, d) and (c, d).
    """
    size = max(1, _BLOCK_VALUES // max(1, len(others)))
    turned = np.ascontiguousarray(others.T)
    for begin in range(0, len(rows), size):
        part = slice(begin, min(begin + size, len(rows)))
        yield part, rows[part] @ turned * np.float32(1.0 / _SCALE**2)


def nearest(
    records: NDArray[np.float32],
    candidates: NDArray[np.float32],
    record_groups: Sequence[str | None] | None = None,
    candidate_groups: Sequence[str] | None = None,
) -> NDArray[np.int64]:
    """Return each record's nearest candidate, of its own group where groups are given; −1 where there is none.

    Args:
        records: (n, d) and candidates: (c, d), outputs of `quantised`. record_groups, candidate_groups: labels.
            Ties go to the candidate that comes first.
    """
    if candidate_groups is None:
        return _nearest(records, candidates)
    if len(candidate_groups) != len(candidates) or record_groups is None or len(record_groups) != len(records):
        raise InternalError("groups: one a candidate and one a record are needed")
    result = np.full(len(records), -1, dtype=np.int64)
    own, theirs = np.array(record_groups, dtype=object), np.array(candidate_groups, dtype=object)
    for group in sorted(set(candidate_groups)):
        rows, columns = np.flatnonzero(own == group), np.flatnonzero(theirs == group)
        if rows.size:
            result[rows] = columns[_nearest(records[rows], candidates[columns])]
    return result


def _nearest(records: NDArray[np.float32], candidates: NDArray[np.float32]) -> NDArray[np.int64]:
    if not len(candidates):
        return np.full(len(records), -1, dtype=np.int64)
    result = np.empty(len(records), dtype=np.int64)
    for part, block in similarity_blocks(records, candidates):
        result[part] = block.argmax(axis=1)
    return result


def mean_similarity(rows: NDArray[np.float32], unit_of: NDArray[np.int64], units: int) -> float:
    """Return the mean over all pairs of units of their records' mean cosine, clipped to [0, 1].

    Args:
        rows: outputs of `quantised`, (n, d). unit_of: unit of each row, in 0..units−1. units: N, public; a unit
            without records counts as similarity zero. One unit changes the result by at most 2/N.
    """
    if units < 2 or not len(rows):
        return 0.0
    weights = 1.0 / np.bincount(unit_of, minlength=units)[unit_of]
    total = 0.0
    for part, block in similarity_blocks(rows, rows):
        total += float(weights[part] @ (np.clip(block, 0.0, 1.0).astype(np.float64) @ weights))
    return (total - _within(rows, unit_of, weights)) / (units * (units - 1.0))


def _within(rows: NDArray[np.float32], unit_of: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Return what pairs of one unit's own records add to the weighted sum."""
    order = np.argsort(unit_of, kind="stable")
    total = 0.0
    for members in np.split(order, np.flatnonzero(np.diff(unit_of[order])) + 1):
        own = rows[members].astype(np.float64)
        inside = np.clip(own @ own.T / _SCALE**2, 0.0, 1.0)
        total += float(weights[members] @ inside @ weights[members])
    return total
