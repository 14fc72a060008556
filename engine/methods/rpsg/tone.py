"""Counts of how often texts have the sentiment of the seed they were made from, with what chance needs beside it.

Source: Ma and Rajtmajer, Tables 3 and 16. Numbers only: they add up over batches, and hold no text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.json_types import JSON
from engine.models.builtin.sentiment_sentences import CLASSES


def agreement(wanted: Sequence[int], found: Sequence[Sequence[int]]) -> dict[str, JSON]:
    """Return additive counts of agreement.

    Args:
        wanted: the class of each seed, or the one asked for. found: the classes of the texts made from each.

    Returns:
        `texts`, `agreeing`; sums over seeds of products of those two (`aa`, `am`, `mm`), since texts of one seed are
        alike; and how often each class occurs among seeds (once a text) and among texts.
    """
    pairs = [(tone, sum(one == tone for one in texts), len(texts)) for tone, texts in zip(wanted, found, strict=True)]
    seeds = Counter(CLASSES[tone] for tone, _, size in pairs for _ in range(size))
    texts_of = Counter(CLASSES[one] for texts in found for one in texts)
    return {
        "texts": sum(size for _, _, size in pairs),
        "agreeing": sum(agreeing for _, agreeing, _ in pairs),
        "aa": sum(agreeing**2 for _, agreeing, _ in pairs),
        "am": sum(agreeing * size for _, agreeing, size in pairs),
        "mm": sum(size**2 for _, _, size in pairs),
        "of_seeds": dict(seeds),
        "of_texts": dict(texts_of),
    }
