"""Second thoughts about the tagger: shorthand, public bodies and readings that name nobody.

Such a span keeps its place in the review queue as a suggestion but no longer counts as accepted. The words
are data, one a line, in `assets/recognisers/plain/` and `bodies/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import regex

from engine.pii.detect.plain.function_words import only_function_words
from engine.pii.detect.plain.state_bodies import names_state_body
from engine.pii.detect.plain.vitals import are_vitals, is_reading
from engine.pii.detect.recognisers import FOLDER, specs
from engine.pii.spans import SUGGESTION, Span, folded

ACCENTED = "accented_name"
FOREIGN = 0.02  # English has under 0.1 % of such letters, Estonian and German 2 to 8 %
SPECIES = regex.compile(r"\p{Lu}\. ?\p{Ll}{3,}")


@lru_cache(maxsize=1)
def everyday_words() -> frozenset[str]:
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


def held_back(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return rules' spans, held below one half where the recogniser is a backup, or foreign letters mean nothing.

    Letters outside English say "a name" in an English text only; `FOREIGN` of all letters make it another language.
    """
    rows = list(spans)
    accented = sum(_foreign(text[s.start : s.end]) for s in rows if s.recogniser == ACCENTED)
    if accented:
        others = _foreign(text) - accented
        if others > FOREIGN * sum(c.isalpha() for c in text):
            rows = [replace(s, score=SUGGESTION) if s.recogniser == ACCENTED else s for s in rows]
    return [replace(s, score=min(s.score, SUGGESTION)) if s.recogniser in backups() else s for s in rows]


def _foreign(text: str) -> int:
    return sum(c.isalpha() and not c.isascii() for c in text)


def doubted(text: str, span: Span) -> Span:
    """Return a tagger's span with its score held below one half where its words name nobody."""
    if span.score <= SUGGESTION:
        return span
    surface = text[span.start : span.end]
    letters = sum(c.isalnum() for c in surface)
    plain = folded(surface) in everyday_words() or all(
        folded(w) in everyday_words() for w in regex.findall(r"\w+", surface)
    )
    short = letters < 2 and not (span.label == "DATE" or surface[:1].isupper())
    body = span.label == "ORGANISATION" and names_state_body(text, span.start, span.end)
    reading = is_reading(text, span.start, span.end) if span.label == "CODE" else are_vitals(surface)
    species = span.label == "PERSON" and SPECIES.fullmatch(surface) is not None
    if plain or body or species or short or reading or (span.label == "CODE" and letters < 2):
        return replace(span, score=SUGGESTION)
    return span
