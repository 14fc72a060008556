"""Utility: how well synthetic text can stand in for the private one.

`METRICS` lists every metric; a new one is one function and one entry here.
"""

from __future__ import annotations

from math import inf

from engine.examine.usefulness import diversity, embeddings, lengths, ngrams
from engine.examine.usefulness.base import Metric, Sample, Value

METRICS: tuple[Metric, ...] = (
    Metric("length_distance", "Length of texts", True, "words", lengths.length_distance, 4000, (0.0, inf)),
    Metric("js_1gram", "Words used", True, "words", ngrams.divergence_of(1), 4000, (0.0, 1.0)),
    Metric("js_2gram", "Word pairs used", True, "words", ngrams.divergence_of(2), 4000, (0.0, 1.0)),
    Metric("js_3gram", "Word triples used", True, "words", ngrams.divergence_of(3), 4000, (0.0, 1.0)),
    Metric(
        "embedding_similarity", "Closeness in meaning", True, "embeddings",
        embeddings.embedding_similarity, 1000, (-1.0, 1.0),
    ),
    Metric("mauve", "Mixture of topics and styles", True, "embeddings", embeddings.mauve, 1000, (0.0, 1.0)),
    Metric("self_bleu", "Repetition between texts", False, "words", diversity.self_bleu, 1000, (0.0, 1.0)),
    Metric("distinct_2", "Variety of word pairs", False, "words", diversity.distinct_2, 4000, (0.0, 1.0)),
)  # fmt: skip

__all__ = ["METRICS", "Metric", "Sample", "Value"]
