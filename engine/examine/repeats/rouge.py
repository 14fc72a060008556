"""ROUGE: how much of a reference text a generated one repeats, in word pairs and in word order.

Source: Lin 2004 (ROUGE), sections 2 and 3; F1 as in Zhao and Field 2025, appendix B (β = 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int32]


def f1(matching: float, made: int, wanted: int) -> float:
    """Return the harmonic mean of matching/made and matching/wanted; 0 where nothing matches."""
    return 2.0 * matching / (made + wanted) if matching else 0.0


def pairs(words: Words) -> Counter[tuple[int, int]]:
    """Return the word pairs of a text, counted."""
    return Counter(zip(words[:-1].tolist(), words[1:].tolist(), strict=True))


def rouge_2(made: Counter[tuple[int, int]], reference: Counter[tuple[int, int]]) -> float:
    """Return ROUGE-2 F1 in [0, 1] of two texts' word pairs; shared pairs count as often as in the poorer text."""
    small, large = (made, reference) if len(made) <= len(reference) else (reference, made)
    matching = sum(min(count, large[pair]) for pair, count in small.items() if pair in large)
    return f1(matching, made.total(), reference.total())


def rouge_l(made: Words, reference: Words) -> float:
    """Return ROUGE-L F1 in [0, 1]: the longest common subsequence of words against both lengths."""
    from rapidfuzz.distance import LCSseq

    matching = LCSseq.similarity(made.tolist(), reference.tolist())
    return f1(float(matching), len(made), len(reference))


def highest(made: Sequence[Words], references: Sequence[Words]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each text, the largest ROUGE-2 and the largest ROUGE-L over all references, each (n,)."""
    held = [(words, pairs(words)) for words in references]
    two, longest = np.zeros(len(made)), np.zeros(len(made))
    for i, words in enumerate(made):
        own = pairs(words)
        for reference, reference_pairs in held:
            two[i] = max(two[i], rouge_2(own, reference_pairs))
            longest[i] = max(longest[i], rouge_l(words, reference))
    return two, longest
