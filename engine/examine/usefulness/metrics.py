"""Utility: how well synthetic text can stand in for the private one.

`METRICS` lists every metric; a new one is one function and one entry here.
"""

from __future__ import annotations

from math import inf

from engine.examine.usefulness.base import Metric, Sample, Value
from engine.examine.usefulness.meaning import distribution, embeddings, self_similarity, sinkhorn
from engine.examine.usefulness.wording import diversity, duplicates, features, lengths, ngrams

LEAST_TRIPLES = 60  # with fewer often none is shared, and the largest distance has no width
SMALLER = 400  # texts a side where work grows with their square and with rounds

METRICS: tuple[Metric, ...] = (
    Metric("length_distance", "Length of texts", True, "words", lengths.length_distance, 4000, (0.0, inf)),
    Metric("js_1gram", "Words used", True, "words", ngrams.divergence_of(1), 4000, (0.0, 1.0)),
    Metric("js_2gram", "Word pairs used", True, "words", ngrams.divergence_of(2), 4000, (0.0, 1.0)),
    Metric("js_3gram", "Word triples used", True, "words", ngrams.divergence_of(3), 4000, (0.0, 1.0),
           LEAST_TRIPLES),
    Metric(
        "embedding_similarity", "Closeness in meaning", True, "embeddings",
        embeddings.embedding_similarity, 1000, (-1.0, 1.0), steady=True,
    ),
    Metric("kid", "Distance in meaning", True, "embeddings", distribution.kid, 1000, (-16.0, 16.0),
           steady=True),
    Metric("mauve", "Mixture of topics and styles", True, "embeddings", embeddings.mauve, 1000, (0.0, 1.0),
           embeddings.LEAST),
    Metric("balance", "Faithful and varied together", True, "embeddings", distribution.balance, 1000, (0.0, 1.0),
           distribution.LEAST_NEIGHBOURS, share=True),
    Metric("coverage", "Real texts that have a likeness", True, "embeddings", distribution.coverage, 1000, (0.0, 1.0),
           distribution.LEAST_NEIGHBOURS, share=True),
    Metric("topic_shift", "Topics in other shares", True, "embeddings", distribution.topic_shift, 1000, (0.0, 1.0),
           distribution.LEAST_CLUSTERS, share=True),
    Metric("precision", "Texts among real ones", True, "embeddings", distribution.precision, 1000, (0.0, 1.0),
           distribution.LEAST_NEIGHBOURS, headline=False, share=True),
    Metric("recall", "Real texts among these", True, "embeddings", distribution.recall, 1000, (0.0, 1.0),
           distribution.LEAST_NEIGHBOURS, headline=False, share=True),
    Metric("density", "Real texts around each", True, "embeddings", distribution.density, 1000, (0.0, inf),
           distribution.LEAST_NEIGHBOURS, headline=False),
    Metric("cover", "A real text's nearest likeness", True, "embeddings", distribution.cover, 1000, (-1.0, 1.0),
           headline=False),
    Metric("missed_topics", "Topics left out", True, "embeddings", distribution.missed_topics, 1000, (0.0, inf),
           distribution.LEAST_CLUSTERS, headline=False),
    Metric("added_topics", "Topics too frequent", True, "embeddings", distribution.added_topics, 1000, (0.0, inf),
           distribution.LEAST_CLUSTERS, headline=False),
    Metric("topic_divergence", "Topics apart", True, "embeddings", distribution.topic_divergence, 1000, (0.0, 1.0),
           distribution.LEAST_CLUSTERS, headline=False),
    Metric("frechet", "Distance of mean and spread", True, "embeddings", distribution.frechet_extrapolated, 1000,
           (-inf, inf), distribution.LEAST_FRECHET, headline=False),
    Metric("sliced_wasserstein", "Work to move the texts", True, "embeddings", distribution.sliced_wasserstein, 1000,
           (-2.0, 2.0), excess=True, headline=False),
    Metric("sinkhorn", "Work to move the texts, smoothed", True, "embeddings", sinkhorn.sinkhorn, SMALLER, (-2.0, 2.0),
           excess=True, headline=False, settings={"blur": sinkhorn.BLUR}),
    Metric("likeness_shift", "Spread of likeness", True, "embeddings", self_similarity.likeness_shift, 1000,
           (0.0, 2.0), headline=False),
    Metric("alike", "Likeness of two texts", False, "embeddings", self_similarity.alike, 1000, (-1.0, 1.0),
           headline=False, steady=True),
    Metric("self_bleu", "Repetition between texts", False, "words", diversity.self_bleu, 1000, (0.0, 1.0)),
    Metric("distinct_2", "Variety of word pairs", False, "words", diversity.distinct_of(2), 4000, (0.0, 1.0)),
    Metric("distinct_1", "Variety of words", False, "words", diversity.distinct_of(1), 4000, (0.0, 1.0),
           headline=False),
    Metric("distinct_3", "Variety of word triples", False, "words", diversity.distinct_of(3), 4000, (0.0, 1.0),
           headline=False),
    Metric("compression", "Compressibility", False, "words", diversity.compression, 1000, (0.0, inf),
           headline=False, settings={"compressor": f"zstd, level {diversity.LEVEL}", "bytes": diversity.MOST_BYTES}),
    Metric("duplicates", "Texts that stand there twice", False, "words", duplicates.duplicates, 1000, (0.0, 1.0),
           headline=False, share=True),
    Metric("near_duplicates", "Texts that nearly stand there twice", False, "words", duplicates.near_duplicates, 1000,
           (0.0, 1.0), headline=False, settings={"jaccard": duplicates.NEAR}, share=True),
    Metric("sentences", "Sentences of a text", True, "features", lengths.distance_of("sentences"), 1000, (0.0, inf),
           headline=False),
    Metric("tokens", "Tokens of a text", True, "features", lengths.distance_of("tokens"), 1000, (0.0, inf),
           headline=False),
    Metric("reading_level", "How hard the texts are to read", False, "features", features.reading_level, 1000,
           (0.0, inf), headline=False, nothing="the texts have no words", steady=True),
    Metric("headings", "Headings of the records", False, "features", features.usual_headings_carried, 1000, (0.0, 1.0),
           headline=False, steady=True,
           nothing="not applicable: no heading stands in a quarter of the real records and with three people"),
)  # fmt: skip

__all__ = ["METRICS", "Metric", "Sample", "Value"]
