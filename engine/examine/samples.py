"""Draw samples by seeded order: which records are taken depends on their ids and the seed, not on row order.

The seed is public and repeats an examination; orders that must not be guessed are `engine.corpus.keyed`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def seeded_order(ids: Sequence[str] | NDArray[np.object_], seed: int, purpose: str) -> NDArray[np.int64]:
    """Return the positions of `ids` in an order that looks random and repeats for seed and purpose."""
    key = f"{seed}:{purpose}".encode()[:64]
    digests = [hashlib.blake2b(str(i).encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest() for i in ids]
    return np.argsort(np.array(digests, dtype="S8"), kind="stable").astype(np.int64)


def sample(ids: Sequence[str] | NDArray[np.object_], size: int, seed: int, purpose: str) -> NDArray[np.int64]:
    """Return at most `size` positions, drawn by seeded order, in row order."""
    return np.sort(seeded_order(ids, seed, purpose)[:size])


def sample_units(units: NDArray[np.object_], size: int, seed: int, purpose: str) -> NDArray[np.int64]:
    """Return at most `size` positions in row order, filling up unit by unit in seeded order; the last is cut."""
    codes, distinct = pd.factorize(units)
    rank = np.empty(len(distinct), np.int64)
    rank[seeded_order([str(unit) for unit in distinct], seed, purpose)] = np.arange(len(distinct))
    by_unit = np.argsort(rank[codes], kind="stable")
    return np.sort(by_unit[:size]).astype(np.int64)


def in_blocks(units: NDArray[np.int64], block: int) -> list[NDArray[np.int64]]:
    """Return the rows in blocks of whole units, each of at least `block` rows but for the last: int arrays.

    Args:
        units: int array (n,), whose each row is.
    """
    order = np.argsort(units, kind="stable")
    own = units[order]
    begins = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])) if len(own) else np.zeros(0, np.int64)
    cuts = [0]
    for begin in begins.tolist():
        if begin - cuts[-1] >= block:
            cuts.append(begin)
    return [order[low:high] for low, high in pairwise([*cuts, len(order)])]


def dense(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same codes numbered from 0 without gaps."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def halves(units: NDArray[np.object_], seed: int, purpose: str) -> NDArray[np.bool_]:
    """Return, for each record, whether it is in the first half; a unit's records stay together."""
    codes, distinct = pd.factorize(units)
    counts = np.bincount(codes, minlength=len(distinct))
    order = seeded_order([str(unit) for unit in distinct], seed, purpose)
    before = np.cumsum(counts[order]) - counts[order]
    first = np.zeros(len(distinct), bool)
    first[order[before < len(units) / 2]] = True
    result: NDArray[np.bool_] = first[codes]
    if result.all() and len(distinct) > 1:  # one unit holds more than half: give the other side something
        first[order[-1]] = False
        result = first[codes]
    return result
