"""Who survives a round of DPGA-TextSyn: votes decide, and near-duplicates of what is kept already are held back.

The paper (Sun et al. 2025, section 3.3.2) starts from the mean similarity over all pairs of private texts and raises
the threshold until enough survive. So many texts can never be that far apart: the rise ends where every candidate is
either taken or held back, isolated ones are taken whatever their votes, and votes no longer decide. `as_printed`
does that; `elite` holds back near-duplicates alone, and never looks past the better half by votes, or those with any.

Whatever is computed here follows from candidates and from noisy votes: post-processing, which costs no ε.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.methods.evolution.common import Pair

TAU_STEP = 0.01
NEIGHBOURS = 15  # candidates that votes are averaged over, the candidate itself among them
SHARPNESS = 12.0  # weight of a neighbour: exp(12 (cosine - 1)), so 1 for a copy and 0.3 at cosine 0.9
LOOKED_AT = 0.5  # share of a label's candidates that the elite may come from
LEAST = 0.25  # of an even share of a label's votes: with fewer, smoothed, a candidate is not looked at either
_BLOCK = 1024
_MATRIX = 6000  # candidates up to which all similarities are kept at hand


def near_duplicate(embeddings: NDArray[np.float32]) -> float:
    """Return the median cosine of candidates to their nearest neighbour, in [0, 1].

    Above it two candidates are as near to each other as half of a public pool is to anything: near-duplicates.

    Args:
        embeddings: float32 (n, d) of unit rows.
    """
    if len(embeddings) < 2:
        return 1.0
    nearest = np.empty(len(embeddings))
    for start in range(0, len(embeddings), _BLOCK):
        block = embeddings[start : start + _BLOCK] @ embeddings.T  # (b, n)
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -np.inf
        nearest[start : start + len(block)] = block.max(axis=1)
    return float(np.clip(np.median(nearest), 0.0, 1.0))


def smoothed(embeddings: NDArray[np.float32], votes: NDArray[np.float64], pool: Sequence[Pair]) -> NDArray[np.float64]:
    """Return votes averaged over each candidate's nearest neighbours of its own label, shape (n,).

    Neighbours that are alike share the votes of the same records, so their mean carries less noise than one count.

    Args:
        embeddings: float32 (n, d) of unit rows. votes: noisy, (n,). pool: text and label a candidate.
    """
    members: dict[str | None, list[int]] = defaultdict(list)
    for i, (_, label) in enumerate(pool):
        members[label].append(i)
    found = np.zeros(len(pool))
    for own in members.values():
        index = np.array(own)
        rows, counts = embeddings[index], votes[index]
        most = min(NEIGHBOURS, len(index))
        for start in range(0, len(index), _BLOCK):
            block = rows[start : start + _BLOCK] @ rows.T  # (b, members)
            near = np.argpartition(-block, most - 1, axis=1)[:, :most]
            weights = np.exp(SHARPNESS * (np.take_along_axis(block, near, axis=1).astype(np.float64) - 1.0))
            found[index[start : start + _BLOCK]] = (weights * counts[near]).sum(axis=1) / weights.sum(axis=1)
    return found


def elite(
    embeddings: NDArray[np.float32],
    votes: NDArray[np.float64],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    tau: float | None,
) -> tuple[list[int], float, int]:
    """Return survivors by smoothed votes, near-duplicates held back, the cosine used, and how many it held back.

    No candidate outside the better half of its label's, or with next to no votes, is kept while others are left.

    Args:
        embeddings: float32 (n, d) of unit rows. votes: noisy, (n,). wanted: survivors a label; the pool holds enough.
        tau: cosine above which a candidate is held back, raised by 0.01 until enough survive; None: nothing is.
    """
    scores = smoothed(embeddings, votes, pool)
    order = _better(scores, votes, pool, wanted)
    return _walk(embeddings, order, pool, wanted, tau)


def as_printed(
    embeddings: NDArray[np.float32],
    votes: NDArray[np.float64],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    tau: float | None,
) -> tuple[list[int], float, int]:
    """Return survivors as the paper has it: each candidate by its own votes, looking as far as the pool goes.

    Arguments and result as of `elite`.
    """
    return _walk(embeddings, [int(i) for i in np.argsort(-votes, kind="stable")], pool, wanted, tau)


def _better(
    scores: NDArray[np.float64],
    votes: NDArray[np.float64],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
) -> list[int]:
    """Return candidates by score, cut to those of each label that may be kept, and to no fewer than are wanted."""
    order = [int(i) for i in np.argsort(-scores, kind="stable")]
    ranked: dict[str | None, list[int]] = defaultdict(list)
    for i in order:
        ranked[pool[i][1]].append(i)
    allowed: set[int] = set()
    for label, own in ranked.items():
        least = LEAST * max(0.0, float(votes[own].mean()))
        good = sum(float(scores[i]) >= least for i in own[: math.ceil(LOOKED_AT * len(own))])
        allowed.update(own[: max(wanted.get(label, 0), good)])
    return [i for i in order if i in allowed]


def _walk(
    embeddings: NDArray[np.float32],
    order: Sequence[int],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    tau: float | None,
) -> tuple[list[int], float, int]:
    if tau is None:
        return _greedy(embeddings, order, pool, wanted, math.inf, None)[0], 1.0, 0
    matrix = embeddings @ embeddings.T if len(pool) <= _MATRIX else None
    total, threshold = sum(wanted.values()), tau
    while True:
        level = threshold if threshold < 1.0 else math.inf
        kept, held = _greedy(embeddings, order, pool, wanted, level, matrix)
        if len(kept) == total or level == math.inf:
            return kept, min(threshold, 1.0), held
        threshold += TAU_STEP


def _greedy(
    embeddings: NDArray[np.float32],
    order: Sequence[int],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    level: float,
    matrix: NDArray[np.float32] | None,
) -> tuple[list[int], int]:
    left = dict(wanted)
    blocked = np.zeros(len(pool), dtype=bool)
    kept: list[int] = []
    held = 0
    for i in order:
        label = pool[i][1]
        if left.get(label, 0) <= 0:
            continue
        if blocked[i]:
            held += 1
            continue
        kept.append(i)
        left[label] -= 1
        if level != math.inf:
            near = matrix[i] if matrix is not None else embeddings @ embeddings[i]
            blocked |= near > level
        if not any(left.values()):
            break
    return kept, held
