"""How much the texts of one sample repeat each other: Self-BLEU, distinct n-grams and how far they can be compressed.

All depend on the number of texts and words, so two samples are first cut to equal texts, words or bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.base import Sample, Value
from engine.examine.usefulness.wording.ngrams import ngram_codes

ORDER = 4
EPSILON = 0.1
WORDS_A_TEXT = 30
DISTINCT_WORDS = 50_000
MOST_BYTES = 500_000
LEVEL = 9  # of the compressor; its window then spans all bytes that are read


def self_bleu_parts(texts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return each text's BLEU-4 with all other texts as references, float array (n,) in [0, 1].

    Exact, in sorting time: an n-gram's largest count among the *other* texts is its largest count anywhere,
    or the second largest where this text holds the largest. All texts must be equally long (the brevity
    penalty is then 1); a precision of zero counts as `EPSILON` matches.

    Source: Zhu et al. 2018 (Texygen), section 3.2.3; Papineni et al. 2002 (BLEU), section 2.1;
        smoothing: Chen and Cherry 2014, method 1.
    """
    many = len(texts)
    sizes = np.array([len(text) for text in texts], np.int64)
    if not sizes.sum():
        return np.full(many, np.nan)
    words = np.concatenate([np.asarray(text, np.int64) for text in texts])
    text_of = np.repeat(np.arange(many), sizes)
    end = np.cumsum(sizes)[text_of]
    at = np.arange(len(words))  # where the n-grams begin
    words = np.unique(words, return_inverse=True)[1]
    gram, base = words, int(words.max()) + 1
    logs, orders = np.zeros(many), np.zeros(many)
    for n in range(1, ORDER + 1):
        if n > 1:
            inside = at + n - 1 < end[at]
            at, gram = at[inside], gram[inside]
            gram = np.unique(gram * base + words[at + n - 1], return_inverse=True)[1]
        matched = _matched(gram, text_of[at], many)
        total = np.bincount(text_of[at], minlength=many)
        long = total > 0
        logs[long] += np.log(np.where(matched[long] > 0, matched[long], EPSILON) / total[long])
        orders += long
    return np.where(orders > 0, np.exp(logs / np.maximum(orders, 1)), np.nan)


def _matched(gram: NDArray[np.int64], text_of: NDArray[np.int64], texts: int) -> NDArray[np.float64]:
    """Return how many n-grams of each text another text has as well, each as often as the other that has most of it."""
    if not len(gram):
        return np.zeros(texts)
    pairs, counts = np.unique(gram * texts + text_of, return_counts=True)
    of_gram, of_text = np.divmod(pairs, texts)
    starts = np.flatnonzero(np.diff(of_gram, prepend=-1))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(pairs))))
    most = np.maximum.reduceat(counts, starts)
    places = np.arange(len(pairs))
    holder = np.minimum.reduceat(np.where(counts == most[group], places, len(pairs)), starts)
    rest = counts.copy()
    rest[holder] = 0
    elsewhere = np.where(places == holder[group], np.maximum.reduceat(rest, starts)[group], most[group])
    return np.bincount(of_text, np.minimum(counts, elsewhere), minlength=texts).astype(np.float64)


def equal_texts(sample: Sample, other: Sample) -> tuple[list[list[int]], int]:
    """Return the sample's texts cut so that both samples have equally many texts of equally many words.

    The common length is the smaller median, at most `WORDS_A_TEXT`; shorter texts are left out.
    """
    if not len(sample) or not len(other):
        return [], 0
    length = int(min(WORDS_A_TEXT, np.median(sample.lengths), np.median(other.lengths)))
    long_enough = [text for text in sample.words if len(text) >= max(length, 1)]
    others = sum(len(text) >= max(length, 1) for text in other.words)
    return [text[:length].tolist() for text in long_enough[: min(len(long_enough), others)]], length


def self_bleu(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the mean Self-BLEU-4: 1 = every text repeats the others, near 0 = no common phrases."""
    texts, length = equal_texts(sample, other)
    if len(texts) < 2 or length < 1:
        return Value(float("nan"))
    return Value(float(np.nanmean(self_bleu_parts(texts))))  # no parts: each is of the other texts as well


def distinct_grams(texts: Sequence[NDArray[np.int32]], n: int, words: int) -> float:
    """Return different n-grams / all n-grams in the first `words` words, n-grams inside texts only.

    Source: Li et al. 2016 (A diversity-promoting objective function), section 5.2 (distinct-1, distinct-2).
    """
    kept: list[NDArray[np.int32]] = []
    left = words
    for text in texts:
        if left <= 0:
            break
        kept.append(text[:left])
        left -= len(kept[-1])
    if not kept:
        return float("nan")
    sizes = np.array([len(text) for text in kept])
    numbers = np.unique(np.concatenate(kept), return_inverse=True)[1].astype(np.int32)
    renumbered = tuple(np.split(numbers, np.cumsum(sizes)[:-1]))
    codes = ngram_codes(Sample(renumbered, np.empty(0, object)), n, int(numbers.max(initial=0)) + 2)
    return len(np.unique(codes)) / len(codes) if len(codes) else float("nan")


def distinct_of(n: int) -> Callable[[Sample, Sample, int], Value]:
    """Return the metric that tells the share of n-grams that are different, at equal words on both sides."""

    def score(sample: Sample, other: Sample, seed: int = 0) -> Value:
        words = int(min(sample.lengths.sum(), other.lengths.sum(), DISTINCT_WORDS))
        return Value(distinct_grams(sample.words, n, words))

    return score


def compression(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return plain bytes per compressed byte (Zstandard) of the texts in a row, at equal bytes on both sides.

    Repeats are found however far apart they stand; at most `MOST_BYTES` are read.

    Source: Shaib et al. 2024 (Standardizing the measurement of text diversity), section 2, with another compressor.
    """
    import pyarrow as pa

    ours, theirs = (_bytes(side.texts) for side in (sample, other))
    size = min(len(ours), len(theirs), MOST_BYTES)
    if not size:
        return Value(float("nan"))
    packed = pa.Codec("zstd", compression_level=LEVEL).compress(ours[:size], asbytes=True)
    return Value(size / len(packed))


def _bytes(texts: Sequence[str]) -> bytes:
    return "\n".join(texts).encode("utf-8", "surrogatepass")
