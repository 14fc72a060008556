"""How much the texts of one sample repeat each other: Self-BLEU and distinct word pairs.

Both depend on the number of texts and words, so two samples are first cut to equal texts and equal words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.examine.usefulness.base import Sample, Value

ORDER = 4
EPSILON = 0.1
WORDS_A_TEXT = 30
DISTINCT_WORDS = 50_000


def _grams(text: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(zip(*(text[i:] for i in range(n)), strict=False))


def self_bleu_parts(texts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return each text's BLEU-4 with all other texts as references, float array (n,) in [0, 1].

    Exact in one pass: an n-gram's largest count among the *other* texts is its largest count anywhere,
    or the second largest where this text holds the largest. All texts must be equally long (the brevity
    penalty is then 1); a precision of zero counts as `EPSILON` matches.

    Source: Zhu et al. 2018 (Texygen), section 3.2.3; Papineni et al. 2002 (BLEU), section 2.1;
        smoothing: Chen and Cherry 2014, method 1.
    """
    logs = np.zeros(len(texts))
    orders = np.zeros(len(texts))
    for n in range(1, ORDER + 1):
        counted = [_grams(text, n) for text in texts]
        first: dict[tuple[int, ...], tuple[int, int]] = {}  # n-gram -> (largest count, text that has it)
        second: dict[tuple[int, ...], int] = {}
        for number, counts in enumerate(counted):
            for gram, count in counts.items():
                top = first.get(gram)
                if top is None or count > top[0]:
                    if top is not None:
                        second[gram] = top[0]
                    first[gram] = (count, number)
                elif count > second.get(gram, 0):
                    second[gram] = count
        for number, counts in enumerate(counted):
            total = counts.total()
            if not total:
                continue
            matched = 0
            for gram, count in counts.items():
                top_count, holder = first[gram]
                matched += min(count, second.get(gram, 0) if holder == number else top_count)
            logs[number] += np.log((matched or EPSILON) / total)
            orders[number] += 1
    return np.where(orders > 0, np.exp(logs / np.maximum(orders, 1)), np.nan)


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
    parts = self_bleu_parts(texts)
    return Value(float(np.nanmean(parts)), parts)


def distinct_pairs(texts: Sequence[NDArray[np.int32]], words: int) -> float:
    """Return different word pairs / all word pairs in the first `words` words, pairs inside texts only.

    Source: Li et al. 2016 (A diversity-promoting objective function), section 5.2 (distinct-2).
    """
    pairs: list[NDArray[np.int64]] = []
    left = words
    for text in texts:
        if left <= 0:
            break
        part = text[:left].astype(np.int64)
        left -= len(part)
        pairs.append((part[:-1] << 32) | part[1:])
    together = np.concatenate(pairs) if pairs else np.empty(0, np.int64)
    return len(np.unique(together)) / len(together) if len(together) else float("nan")


def distinct_2(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the share of word pairs that are different, at equal words on both sides, in [0, 1]."""
    words = int(min(sample.lengths.sum(), other.lengths.sum(), DISTINCT_WORDS))
    return Value(distinct_pairs(sample.words, words))
