"""Second thoughts about the tagger: shorthand, public bodies and readings that name nobody.

Such a span keeps its place in the review queue as a suggestion but no longer counts as accepted. The words
are data, one a line, in `assets/recognisers/plain/` and `bodies/`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import regex

from engine.pii.function_words import only_function_words
from engine.pii.overlap import folded
from engine.pii.recognisers import FOLDER, specs
from engine.pii.spans import Span
from engine.pii.state_bodies import names_state_body

SUGGESTION = 0.45
VITAL = regex.compile(r"[TP]\d{2,3}(?:\.\d)?", regex.I)
READING = regex.compile(r"\b(?:BP|b/p|temp|T|HR|P|resp|WBC|O2|sat|wt|ht|titer|x)\b[\s:=of-]{0,4}$", regex.I)


@lru_cache(maxsize=1)
def words() -> frozenset[str]:
    """Return the folded words and phrases of every list."""
    files = sorted((FOLDER / "plain").glob("*.txt"))
    return frozenset(w for f in files for line in f.read_text(encoding="utf-8").splitlines() if (w := folded(line)))


@lru_cache(maxsize=1)
def backups() -> frozenset[str]:
    """Return the ids of the recognisers that only suggest beside a tagger."""
    return frozenset(s.id for s in specs() if s.backup)


def names_nobody(text: str, span: Span) -> bool:
    """Return whether a span is made of function words alone ("Patient: Yes.")."""
    return only_function_words(regex.findall(r"\w+", text[span.start : span.end]))


def held_back(span: Span) -> Span:
    """Return a rule's span with its score held below one half where its recogniser is a backup."""
    return replace(span, score=min(span.score, SUGGESTION)) if span.recogniser in backups() else span


def doubted(text: str, span: Span) -> Span:
    """Return a tagger's span with its score held below one half where its words name nobody."""
    if span.score <= SUGGESTION:
        return span
    surface = text[span.start : span.end]
    letters = sum(c.isalnum() for c in surface)
    number = not any(c.isalpha() for c in surface)
    plain = folded(surface) in words() or all(folded(w) in words() for w in regex.findall(r"\w+", surface))
    short = letters < 2 and not (span.label == "DATE" or surface[:1].isupper())
    if span.label == "CODE" and VITAL.fullmatch(surface):
        return replace(span, score=SUGGESTION)
    body = span.label == "ORGANISATION" and names_state_body(text, span.start, span.end)
    reading = number and span.label == "CODE" and READING.search(text[max(0, span.start - 10) : span.start]) is not None
    if plain or body or short or reading or (span.label == "CODE" and letters < 2):
        return replace(span, score=SUGGESTION)
    return span
