"""How alike two samples are in meaning, from sentence embeddings: mean cosine, and MAUVE."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.errors import InternalError
from engine.examine.usefulness.base import Sample, Value, left
from engine.examine.usefulness.one_thread import one_thread

TEXTS_A_BUCKET = 10
REDO = 3
ITERATIONS = 100
SCALING = 5
CURVE = 25
LEAST = 100


def embedded(sample: Sample) -> NDArray[np.float32]:
    """Return the sample's embeddings, unit rows.

    Raises:
        InternalError: it has none.
    """
    if sample.embeddings is None:
        raise InternalError("this metric needs embeddings on both sides")
    return sample.embeddings


@contextlib.contextmanager
def _few_points_a_bucket() -> Iterator[None]:
    """Let faiss cluster fewer than 39 points a bucket without a warning on standard error for each call."""
    import faiss

    original = faiss.Kmeans

    class Quiet(original):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **{"min_points_per_centroid": 1, **options})

    faiss.Kmeans = Quiet  # type: ignore[misc]
    try:
        yield
    finally:
        faiss.Kmeans = original  # type: ignore[misc]


def embedding_similarity(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the mean cosine over all pairs of one text from each side, in [-1, 1].

    Unit vectors: the mean over pairs is the product of the two mean vectors. A value above that of
    real against real means texts that huddle around the average.
    """
    ours, theirs = embedded(sample), embedded(target)
    if not len(ours) or not len(theirs):
        return Value(float("nan"))
    return Value(float((ours @ theirs.mean(axis=0)).astype(np.float64).mean()))


def buckets(texts: int) -> int:
    """Return how many clusters MAUVE counts in at so many texts a side."""
    return max(2, round(texts / TEXTS_A_BUCKET))


def mauve(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return MAUVE of the two sets of embeddings, in [0, 1]: 1 = indistinguishable after clustering.

    A bucket for ten texts of a side, as the library's own rule has it: with more, the buckets of two halves of one
    corpus fill differently by chance alone (100 texts a side in 40 buckets gave 0.61 for equal sources). The value
    therefore moves with n, and is read beside real against real at the same n. Restarts, scaling and seed are fixed.
    Fewer than `LEAST` texts a side are not reported, and fewer than what an interval leaves of them not estimated.

    Source: Pillutla et al. 2021 (MAUVE), section 3; 2023 (JMLR 24), section 4.
    """
    ours, theirs = embedded(sample), embedded(target)
    if min(len(ours), len(theirs)) < left(LEAST):
        return Value(float("nan"))
    from mauve.compute_mauve import compute_mauve

    with (
        _few_points_a_bucket(),
        one_thread(__name__),
    ):  # many threads cost fifty times the work on samples this small
        result = compute_mauve(
            p_features=ours, q_features=theirs,
            num_buckets=buckets(min(len(ours), len(theirs))), kmeans_num_redo=REDO, kmeans_max_iter=ITERATIONS,
            divergence_curve_discretization_size=CURVE, mauve_scaling_factor=SCALING,
            device_id=-1, seed=seed % 2**31, verbose=False,
        )  # fmt: skip
    return Value(float(result.mauve))
