"""RPSG's two filters as functions of stored scores, and what moving their thresholds would do.

Source: Ma and Rajtmajer, section 3.4, appendix B.4 (proportions retained) and G.1 (ablation).
Privacy posture: scores of private comparisons are internal figures; no text is read or returned here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.methods.rpsg.parameters import share

GRID = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
"""Proportions at which sensitivity is tabulated; 1 switches a filter off."""


@dataclass(frozen=True)
class Retained:
    """Positions of outputs, ascending: after the cosine filter, and after both."""

    similar: NDArray[np.int64]
    likely: NDArray[np.int64]


class Scores(TypedDict):
    """Every output's cosine to private seeds, and its mean negative log-likelihood a token in nats."""

    similarity: list[float]
    nll: list[float]


class Moved(TypedDict):
    """Counts after each filter, the two thresholds, the mean similarity, and the positions retained."""

    made: int
    after_similarity: int
    after_nll: int
    similarity_threshold: float
    nll_threshold: float
    mean_similarity: float
    positions: list[int]


def retained(similarity: ArrayLike, nll: ArrayLike, similarity_keep: float, nll_keep: float) -> Retained:
    """Return which outputs both filters leave.

    Args:
        similarity: cosine to private seeds (n,), higher = nearer; the highest are removed first.
        nll: mean negative log-likelihood a token (n,), lower = memorised; the lowest are removed then.
        similarity_keep, nll_keep: shares retained, (0, 1], of all and of what the first filter left.
    """
    cosine, losses = np.asarray(similarity, dtype=np.float64), np.asarray(nll, dtype=np.float64)
    first = np.argsort(cosine, kind="stable")[: share(len(cosine), similarity_keep)]
    first = np.sort(first)
    order = first[np.argsort(-losses[first], kind="stable")]
    second = order[: share(len(first), nll_keep)]
    return Retained(first, np.sort(second))


def auc(members: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve, ties counted half; scores higher = more likely a member."""
    from scipy.stats import rankdata

    if not len(members) or not len(others):
        return math.nan
    ranks = rankdata(np.concatenate([members, others]))
    lead = ranks[: len(members)].sum() - len(members) * (len(members) + 1) / 2
    return float(lead / (len(members) * len(others)))


def attack_table(
    outputs: NDArray[np.float32],
    members: NDArray[np.float32],
    others: NDArray[np.float32],
    similarity: Sequence[float],
    nll: Sequence[float],
    grid: Sequence[float] = GRID,
) -> list[dict[str, float]]:
    """Return, for each pair of proportions, how well the nearest output tells seeds from records that were no seeds.

    Args:
        outputs: embeddings (n, d) of all outputs before filtering.
        members, others: embeddings (k, d) of seeds, and of training records that seeded nothing.
        similarity, nll: the outputs' scores, (n,).

    Returns:
        Rows of similarity_keep, nll_keep, retained, auc (0.5 = chance). nll_keep = 1 is the ablation without
        the likelihood filter.
    """
    to_members, to_others = members @ outputs.T, others @ outputs.T  # (k, n)
    rows = []
    for similarity_keep in grid:
        for nll_keep in grid:
            kept = retained(similarity, nll, similarity_keep, nll_keep).likely
            value = auc(to_members[:, kept].max(axis=1), to_others[:, kept].max(axis=1)) if len(kept) else math.nan
            rows.append(
                {
                    "similarity_keep": similarity_keep,
                    "nll_keep": nll_keep,
                    "retained": len(kept),
                    "auc": round(value, 4),
                }
            )
    return rows


def moved(scores: Scores, similarity_keep: float, nll_keep: float) -> Moved:
    """Return what other proportions would have retained of a finished run, from its stored scores.

    Args:
        scores: as the run noted them.
    """
    cosine, losses = np.asarray(scores["similarity"]), np.asarray(scores["nll"])
    kept = retained(cosine, losses, similarity_keep, nll_keep)
    return {
        "made": len(cosine),
        "after_similarity": len(kept.similar),
        "after_nll": len(kept.likely),
        "similarity_threshold": float(cosine[kept.similar].max()) if len(kept.similar) else math.nan,
        "nll_threshold": float(losses[kept.likely].min()) if len(kept.likely) else math.nan,
        "mean_similarity": float(cosine[kept.likely].mean()) if len(kept.likely) else math.nan,
        "positions": [int(i) for i in kept.likely],
    }
