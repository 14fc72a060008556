"""What a run's rounds moved towards: each round's population held against the training part.

Internal figures: they are computed on private data that no budget paid for, so they are never released.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.meaning.embeddings import LEAST as LEAST_MAUVE
from engine.examine.usefulness.meaning.embeddings import mauve
from engine.examine.usefulness.meaning.frechet import frechet, principal_axes
from engine.examine.usefulness.meaning.self_similarity import self_similarity

if TYPE_CHECKING:
    import pandas as pd

    from engine.models.contracts import Embedder

LARGEST = 1000  # texts a side
LEAST = 20  # texts a side below which no covariance is estimated
COLUMNS = ["iteration", "texts", "self_similarity", "fid", "fid_real", "mauve", "mauve_real"]


def iteration_table(
    snapshots: Sequence[pd.DataFrame], private_texts: Sequence[str], embedder: Embedder
) -> pd.DataFrame:
    """Return one row a round: self-similarity, FID and MAUVE against the training part, each beside real texts.

    Args:
        snapshots: a frame a round with `iteration` and `text`.
        private_texts: the training part. embedder: gives unit rows.

    `fid_real` and `mauve_real` hold one part of the training texts against another of the same size: what equal
    sources would score. Values that too few texts cannot carry are NaN.
    """
    import pandas as pd

    rng = np.random.default_rng(0)
    order = rng.permutation(len(private_texts))[: 2 * LARGEST]
    private = embedder.embed([private_texts[i] for i in order])
    rows = []
    for snapshot in snapshots:
        texts = [str(text) for text in snapshot["text"]]
        chosen = texts if len(texts) <= LARGEST else [texts[i] for i in rng.permutation(len(texts))[:LARGEST]]
        ours = embedder.embed(chosen)
        size = min(len(ours), len(private) // 2)
        real, other = private[:size], private[size : 2 * size]
        rows.append(
            (
                int(snapshot["iteration"].iloc[0]) if len(snapshot) else 0,
                len(texts),
                self_similarity(ours),
                fid(ours[:size], real),
                fid(other, real),
                _mauve(ours[:size], real),
                _mauve(other, real),
            )
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def fid(ours: NDArray[np.float32], real: NDArray[np.float32]) -> float:
    """Return the Fréchet distance of two sets of embeddings after PCA to at most 64 dimensions.

    The axes are those of the real side and at most a quarter as many as texts, because the distance of full
    covariances is biased upwards in small samples. Source: Heusel et al. 2017, equation 6.
    """
    size = min(len(ours), len(real))
    if size < LEAST:
        return float("nan")
    axes, centre = principal_axes(real, size // 4)
    return frechet((ours - centre) @ axes.T, (real - centre) @ axes.T)


def _mauve(ours: NDArray[np.float32], real: NDArray[np.float32]) -> float:
    if min(len(ours), len(real)) < LEAST_MAUVE:
        return float("nan")
    none = tuple(np.zeros(0, np.int32) for _ in range(max(len(ours), len(real))))
    names = np.arange(max(len(ours), len(real))).astype(object)
    first = Sample(none[: len(ours)], names[: len(ours)], ours)
    return mauve(first, Sample(none[: len(real)], names[: len(real)], real), 0).value
