"""What is counted once a text: sentences, tokens, how hard it is to read, and the corpus' usual headings.

Privacy posture: the usual headings are private text; they live in memory for one examination and are never reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.words import WORD
from engine.examine.usefulness.base import Sample, Value

if TYPE_CHECKING:
    from tokenizers import Tokenizer

USUAL = 0.25  # least share of real texts that carry a usual heading
UNITS = 3  # fewest units whose texts do
LONG_WORD = 6  # letters of the longest word that counts as short
HEADING = 40  # characters of the longest heading
HEADING_WORDS = 5
_ENDS = re.compile(r"(?<=[.!?;\u2026])\s+|[\n\u3002\uff01\uff1f]+")  # a semicolon too: notes are written so


def of_texts(texts: Sequence[str], usual: frozenset[str]) -> dict[str, NDArray[np.float64]]:
    """Return float arrays (n,): `sentences`, `tokens`, `lix`, and `headings`, the share of the usual ones in a text.

    `lix` is NaN for a text without words, `headings` NaN where there are no usual ones.
    """
    sentences = np.array([sentences_of(text) for text in texts], np.float64)
    tokens = np.array([len(found) for found in shipped_tokenizer().encode_batch(list(texts))], np.float64)
    carried = [len(headings(text) & usual) / len(usual) if usual else np.nan for text in texts]
    return {
        "sentences": sentences,
        "tokens": tokens,
        "lix": np.array([lix(text, int(n)) for text, n in zip(texts, sentences, strict=True)], np.float64),
        "headings": np.array(carried, np.float64),
    }


@cache
def shipped_tokenizer() -> Tokenizer:
    """Return the tokenizer that tokens are counted with; its vocabulary was read from public text alone."""
    from engine.models.builtin.shipped import vocabulary_folder
    from engine.models.builtin.tokenizer import load_tokenizer

    return load_tokenizer(vocabulary_folder())


def sentences_of(text: str) -> int:
    """Return how many sentences a text has: pieces with a word in them that end as sentences, notes or lines do."""
    return sum(WORD.search(piece) is not None for piece in _ENDS.split(text))


def lix(text: str, sentences: int) -> float:
    """Return words a sentence plus the percentage of words of more than six letters; NaN without words.

    Source: Björnsson 1968 (Läsbarhet); Anderson 1983 (Lix and Rix), for English and other languages.
    """
    words = WORD.findall(text)
    if not words or not sentences:
        return float("nan")
    return len(words) / sentences + 100.0 * sum(len(word) > LONG_WORD for word in words) / len(words)


def headings(text: str) -> set[str]:
    """Return the headings of a text, folded: few words before a colon at a line's beginning, or a line of capitals."""
    found = set()
    for line in text.splitlines():
        line = line.strip().strip("#*_ \t")
        head, colon, _ = line.partition(":")
        head = head.strip("*_ \t")
        if not 1 < len(head) <= HEADING or not head[0].isupper() or len(head.split()) > HEADING_WORDS:
            continue
        if colon or head.isupper():
            found.add(head.casefold())
    return found


def usual_headings(real: Sample) -> frozenset[str]:
    """Return the headings that stand in a quarter of the real texts, and in those of three units at least."""
    texts: Counter[str] = Counter()
    units: dict[str, set[object]] = {}
    for text, unit in zip(real.texts, real.units, strict=True):
        for heading in headings(text):
            texts[heading] += 1
            units.setdefault(heading, set()).add(unit)
    return frozenset(
        heading for heading, count in texts.items() if count >= USUAL * len(real) and len(units[heading]) >= UNITS
    )


def mean_of(sample: Sample, name: str) -> Value:
    """Return the mean of a feature over the texts that have it."""
    values = sample.features.get(name, np.empty(0))
    known = ~np.isnan(values)
    if not known.any():
        return Value(float("nan"))
    units = sample.units[known]
    return Value(float(values[known].mean()), values[known], units)


def reading_level(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the mean LIX: about 25 for easy and 55 for hard text."""
    return mean_of(sample, "lix")


def usual_headings_carried(sample: Sample, other: Sample, seed: int = 0) -> Value:
    """Return the mean share of the usual headings of the real text that a text carries; NaN where it has none."""
    return mean_of(sample, "headings")
