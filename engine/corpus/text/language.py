"""Guess the languages of a corpus from a small keyed sample, and say what that means here.

Source: langid, Lui and Baldwin 2012, in its py3langid edition (a classifier over byte n-grams).
Short notes are hard to tell, so each record counts by its letters and records of fewer than forty
are left out where longer ones exist.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.corpus.keyed import keyed_order
from engine.corpus.text.language_names import language_name

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


SAMPLE_RECORDS = 500
SAMPLE_CHARACTERS = 1_000
MIN_LETTERS = 40
ENGLISH_WARNING_BELOW = 0.9
PACKED = ("et", "de", "es", "fr", "fi", "sv", "nl", "pt")
"""Languages with a pack of their own (`engine.pii.languages`, which this layer may not import; a test compares)."""


@dataclass(frozen=True)
class LanguageShares:
    """Shares by letters in [0, 1] of the sampled records, by ISO 639-1 code, largest first."""

    shares: dict[str, float]
    english: float
    sampled: int


def detect_languages(record_ids: Sequence[str], texts: Sequence[str], key: bytes) -> LanguageShares:
    """Return the language shares of at most 500 records chosen by keyed hash."""
    sample = [texts[i][:SAMPLE_CHARACTERS] for i in keyed_order(key, "language", record_ids)[:SAMPLE_RECORDS]]
    letters = [sum(map(str.isalpha, text)) for text in sample]
    if max(letters, default=0) >= MIN_LETTERS:
        letters = [count if count >= MIN_LETTERS else 0 for count in letters]
    weights: Counter[str] = Counter()
    for text, count in zip(sample, letters):
        if count:
            weights[_identifier().classify(text.lower())[0]] += count
    total = sum(weights.values())
    shares = {code: round(count / total, 4) for code, count in weights.most_common()}
    return LanguageShares(shares, shares.get("en", 0.0), sum(map(bool, letters)))


def told_language(text: str) -> str:
    """Return the ISO 639-1 code that the classifier gives one text."""
    return str(_identifier().classify(text.lower())[0])


def language_warning(found: LanguageShares) -> str | None:
    """Return what works and what does not where the text is not English, or None."""
    if not found.sampled:
        return "The records hold too few letters to tell their language; the built-in models expect English."
    if found.english >= ENGLISH_WARNING_BELOW:
        return None
    others = ", ".join(f"{language_name(code)} {share:.0%}" for code, share in list(found.shares.items())[:3])
    return (
        f"Only {found.english:.0%} of the text looks English ({others}). "
        "What works: each record is read in its own language. "
        f"{', '.join(map(language_name, PACKED))} have rules, national numbers, telephone numbers and surrogates of "
        "their own, other languages have patterns (e-mail addresses, card numbers). A tagger for all of them finds "
        "names, places, organisations, dates and codes; Settings shows what each has and what was measured. "
        "What does not: how much that tagger finds differs, and was measured in some languages only; the built-in "
        "language model writes English, and some measures expect English. "
        "Review such records with more care, or use models of their language."
    )


@functools.cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)
