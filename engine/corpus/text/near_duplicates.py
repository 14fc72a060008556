"""Find nearly equal records on both sides of the split, so that results can be shown without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from engine.corpus.text.minhash import ShingleSets, band_rows, candidate_pairs, jaccard, shingle_sets, signatures
from engine.corpus.text.windows import PositionArray
from engine.errors import UserError

THRESHOLD = 0.7
MAX_PARTNERS = 100


def near_duplicate_pairs(
    records_a_texts: Sequence[str],
    records_b_texts: Sequence[str],
    threshold: float = THRESHOLD,
    *,
    max_partners: int = MAX_PARTNERS,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[int, int, float]]:
    """Return (index in a, index in b, Jaccard similarity of word 5-shingles) at or above a threshold.

    A pair at the threshold is found with a chance of at least 0.99, a closer one with more; each
    similarity returned is exact. Of a record in b at most `max_partners` are listed, the closest
    first. Sorted by b, then by similarity downwards.

    Args:
        threshold: in (0, 1]; 0.7 means that about 82% of each text's shingles are shared.
        progress: called with (steps done, steps of all).
    """
    if not 0 < threshold <= 1:
        raise UserError(f"threshold: expected a similarity above 0 and up to 1, got {threshold}; 0.7 is usual")
    report = progress or (lambda done, total: None)
    sets_a, sets_b = shingle_sets(records_a_texts), shingle_sets(records_b_texts)
    report(1, 4)
    groups_a, groups_b = _groups(sets_a), _groups(sets_b)
    firsts_a, firsts_b = _firsts(groups_a), _firsts(groups_b)
    sig_a, sig_b = signatures(sets_a)[firsts_a], signatures(sets_b)[firsts_b]
    report(2, 4)
    found: dict[int, list[tuple[int, float]]] = {}
    slack = threshold - 4 * 0.5 / np.sqrt(sig_a.shape[1])
    for i, j in candidate_pairs(sig_a, sig_b, band_rows(threshold)):
        # The estimate costs less than the exact value; four standard errors below it nothing is lost.
        likely = (sig_a[i] == sig_b[j]).mean(axis=1) >= slack
        i, j = i[likely], j[likely]
        exact = jaccard(sets_a, sets_b, firsts_a[i], firsts_b[j])
        close = exact >= threshold
        for left, right, value in zip(i[close].tolist(), j[close].tolist(), exact[close].tolist()):
            found.setdefault(right, []).append((left, value))
    report(3, 4)
    pairs = _expand(found, groups_a, groups_b, max_partners)
    report(4, 4)
    return pairs


def near_duplicates_across_split(
    records: pd.DataFrame,
    threshold: float = THRESHOLD,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return the pairs (train_id, holdout_id, jaccard) of a corpus' two sides.

    The number of holdout records with a near-duplicate is `frame["holdout_id"].nunique()`.
    """
    train, holdout = records[records["split"] == "train"], records[records["split"] == "holdout"]
    pairs = near_duplicate_pairs(list(train["text"]), list(holdout["text"]), threshold, progress=progress)
    train_ids, holdout_ids = list(train["record_id"]), list(holdout["record_id"])
    return pd.DataFrame(
        {
            "train_id": pd.Series([train_ids[i] for i, _, _ in pairs], dtype=object),
            "holdout_id": pd.Series([holdout_ids[j] for _, j, _ in pairs], dtype=object),
            "jaccard": pd.Series([value for _, _, value in pairs], dtype="float64"),
        }
    )


def _groups(sets: ShingleSets) -> list[list[int]]:
    """Return the texts grouped by equal shingle sets, without empty ones: many copies cost like one."""
    groups: dict[bytes, list[int]] = {}
    for index in np.flatnonzero(sets.sizes).tolist():
        key = sets.values[sets.offsets[index] : sets.offsets[index + 1]].tobytes()
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def _firsts(groups: list[list[int]]) -> PositionArray:
    return np.array([members[0] for members in groups], dtype=np.int64)


def _expand(
    found: dict[int, list[tuple[int, float]]],
    groups_a: list[list[int]],
    groups_b: list[list[int]],
    max_partners: int,
) -> list[tuple[int, int, float]]:
    """Turn pairs of groups into pairs of texts, at most `max_partners` a text of b."""
    pairs: list[tuple[int, int, float]] = []
    for right, partners in found.items():
        closest: list[tuple[int, float]] = []
        for left, value in sorted(partners, key=lambda item: (-item[1], item[0])):
            closest += [(i, value) for i in groups_a[left][: max_partners - len(closest)]]
            if len(closest) >= max_partners:
                break
        pairs += [(i, j, value) for j in groups_b[right] for i, value in closest]
    return sorted(pairs, key=lambda pair: (pair[1], -pair[2], pair[0]))
