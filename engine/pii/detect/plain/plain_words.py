"""Second thoughts about the tagger: shorthand, public bodies and readings that name nobody.

Such a span keeps its place in the review queue as a suggestion but no longer counts as accepted. The words
are data, one a line, in `assets/recognisers/plain/` and `bodies/`. The label of a field ("D.O.B."), the shorthand for
a role or a ward ("GP", "A&E", in `shorthand.txt`) and a title alone ("Dr") are no finding at all: what follows them is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import regex

from engine.pii.detect.plain.function_words import FORMS_OF_ADDRESS, only_function_words
from engine.pii.detect.plain.state_bodies import names_state_body
from engine.pii.detect.plain.vitals import are_vitals, is_reading
from engine.pii.detect.recognisers import FOLDER, specs
from engine.pii.spans import MODELS, SUGGESTION, Span, folded

ACCENTED = "accented_name"
FOREIGN = 0.02  # English has under 0.1 % of such letters, Estonian and German 2 to 8 %
NOT_SHORTHAND = frozenset({"PERSON", "ORGANISATION", "LOCATION", "CODE"})
TOKEN = regex.compile(r"[\p{L}\p{N}&.]+|[^\s\p{P}]+")
LONGEST = 6  # characters of a field's label that a span may have cut, at most
SPACED = regex.compile(r"(?<=&) | (?=&)|(?<=\b\p{L}\.) (?=\p{L}\.)")  # "A & E", "D. O. B."
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
    """Return whether a span is made of function words alone ("Patient: Yes."), or a name of shorthand alone ("GP")."""
    surface = text[span.start : span.end]
    if only_function_words(regex.findall(r"\w+", surface)):
        return True
    return span.label in NOT_SHORTHAND and all(_is_shorthand(w) for w in TOKEN.findall(SPACED.sub("", surface)))


def without_field(text: str, span: Span) -> Span:
    """Return a tagger's name without the label of a field behind it ("Aline Moreau, DOB"), also one that it cuts."""
    if span.label not in NOT_SHORTHAND or span.recogniser not in MODELS:
        return span
    end = span.end
    for word in reversed(list(TOKEN.finditer(text, span.start, min(len(text), span.end + LONGEST)))):
        if word.start() >= end:
            continue
        if word.start() <= span.start or not _is_field(word.group()):
            break
        end = span.start + len(text[span.start : word.start()].rstrip(" \n\t,;:-–("))
    return span if end in (span.end, span.start) else replace(span, end=end)


@lru_cache(maxsize=1)
def _shorthand() -> frozenset[str]:
    return frozenset((FOLDER / "shorthand.txt").read_text(encoding="utf-8").split())


def _is_shorthand(word: str) -> bool:
    """Return whether a word is the shorthand for a field, a role or a ward, or a title.

    Capitals alone, small letters alone or points tell "DOB", "dob" and "D.o.b." from a surname Dob; a title in
    capitals may be somebody's initials ("DR").
    """
    return _is_field(word) or (word.replace(".", "").casefold() in FORMS_OF_ADDRESS and not word.isupper())


def _is_field(word: str) -> bool:
    known = word.replace(".", "").casefold() in _shorthand()
    return known and (word.removesuffix("s").isupper() or word.islower() or "." in word[:-1])


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
