"""Votes of records for candidates: for the closest one, or a clipped score for each of them.

Dense votes (POPri's score, Hou et al. 2025, section 3) are a vector a unit: the cosines of its records to every
candidate added up, standardised over the candidates of their label, and the whole cut to length 1. Each unit's vector
is rounded towards zero to the grid of `engine.dp.noise.mechanisms` before units are added up, so that the sum is
exact, one unit moves it by at most 1 in L2 norm whatever it holds and however many records it has (2 under
replace-one, since such vectors may point any way), and noise on it is exact.

Embeddings are rounded to multiples of 2^-11 first. Every partial sum of a dot product is then an integer below
2^24, exact in float32 in any order, so a record's vote never depends on which other records share its block:
one unit's removal changes its own votes only, which is what the sensitivity says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise.mechanisms import GRID
from engine.errors import InternalError

_SHRINK = 1.0 - 1e-9  # a rounded quotient must not reach past length 1
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


def dense(
    records: NDArray[np.float32],
    candidates: NDArray[np.float32],
    unit_of: NDArray[np.int64],
    record_groups: Sequence[str | None] | None = None,
    candidate_groups: Sequence[str] | None = None,
) -> NDArray[np.int64]:
    """Return the sum over units of dense votes, (c,), in steps of the grid.

    Args:
        records: (n, d) and candidates: (c, d), outputs of `quantised`. unit_of: each record's unit, (n,).
        record_groups, candidate_groups: labels; a record scores the candidates of its own, and none without one.
    """
    whole = {"": np.arange(len(candidates))}
    if candidate_groups is not None:
        if len(candidate_groups) != len(candidates) or record_groups is None or len(record_groups) != len(records):
            raise InternalError("groups: one a candidate and one a record are needed")
        names = np.array(candidate_groups, dtype=object)
        whole = {name: np.flatnonzero(names == name) for name in sorted(set(candidate_groups))}
    total = np.zeros(len(candidates), dtype=np.int64)
    order = np.argsort(unit_of, kind="stable")
    current, sums = -1, dict[str, NDArray[np.float64]]()
    for part, block in similarity_blocks(records[order], candidates):
        for row, place in zip(block, order[part], strict=True):
            if unit_of[place] != current:
                total += _clipped(sums, whole, len(candidates))
                current, sums = int(unit_of[place]), {}
            group = "" if record_groups is None or candidate_groups is None else record_groups[place]
            if group in whole:
                # Cosines are multiples of 2^-22, so that their sum is exact in any order.
                sums[group] = sums.get(group, 0.0) + row[whole[group]].astype(np.float64)
    return total + _clipped(sums, whole, len(candidates))


def _clipped(
    sums: Mapping[str, NDArray[np.float64]], columns: Mapping[str, NDArray[np.int64]], size: int
) -> NDArray[np.int64]:
    """Return one unit's vector, cut to length 1 and rounded towards zero, in steps of the grid."""
    scores = np.zeros(size)
    for group, row in sums.items():
        centred = row - row.mean()
        spread = float(np.sqrt(np.mean(centred**2)))
        if spread > 0.0:
            scores[columns[group]] = centred / spread
    scores *= _SHRINK / max(1.0, float(np.sqrt(np.sum(scores**2))))
    return np.trunc(scores * GRID).astype(np.int64)


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
