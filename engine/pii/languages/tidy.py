"""Put right what the tagger of other languages has wrong about names as their language writes them.

In a text with capitals, names begin with one: small words at the front of a person leave it ("niño Pablo"), as do an
article or a greeting ("O António", "Hej Johan") and a word for work or descent before a full name ("Ukrainlane Oleg
Bondarenko"); small words of a list of what people are called are no name. A day of the week is a date, a greeting or a
field's label is nothing. A person's name is found again in its other cases (Henn, Hennule; Eva, Evas).

Privacy posture: works on one text in memory; returns positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import regex

from engine.pii.languages.common import CAPITAL_WORD, LINKS, SMALL_WORD, names_of
from engine.pii.languages.inflection import NOMINATIVE, PARTITIVE, Inflection
from engine.pii.languages.pack import Pack, pack
from engine.pii.languages.people import people
from engine.pii.languages.pools import read_pools
from engine.pii.spans import MODELS, NAME_LABELS, Span, default_identifier_type

ACCEPTED = 0.5
AGAIN = 0.7  # score of a name found again in another case
ARTICLE = 2  # letters of an article, at most
SHORT = 3  # letters that a name found again has at least
PARTICLES = LINKS | frozenset("el al bin ibn ben abu los las dos das do o' 't 's".split())
RANKS = frozenset(
    "lord lady sir graaf gravin baron barones keizer koning koningin prins prinses hertog comte duc duchesse roi reine "
    "prince princesse père conde duque rey reina rei rainha dom don doña san sankt sint krahv kuningas kung drottning "
    "greve kreivi".split()
)
"""Words that belong to the name behind them, though they are written small."""
WORD = regex.compile(r"[\p{L}\p{M}]+(?:[-’'][\p{L}\p{M}]+)*")
FIRST = regex.compile(r"([\p{L}\p{M}]+(?:[-’'][\p{L}\p{M}]+)*) +(?=\S)")
TAIL = regex.compile(r" (\p{Ll}[\p{L}\p{M}]*)(?: \p{Ll}[\p{L}\p{M}]*)*$")
ELIDED = regex.compile(r"\p{Ll}{1,2}['’](?=\p{Lu})")


def tidied(text: str, spans: Sequence[Span], code: str) -> list[Span]:
    """Return the spans of one text with those of the tagger put right."""
    own = pack(code)
    capitals = bool(SMALL_WORD.search(text) and CAPITAL_WORD.search(text))
    out = []
    for span in spans:
        one = _tidied(text, span, own, capitals) if span.recogniser in MODELS else span
        out += [] if one is None else [one]
    return _again(text, out, own) if capitals else out


def without_codes(spans: Sequence[Span]) -> list[Span]:
    """Return spans without the tagger's codes in what a rule knows for a telephone or a person's number."""
    known = [(s.start, s.end) for s in spans if s.label in {"PHONE", "NATIONAL_ID"} and s.recogniser not in MODELS]
    return [
        s for s in spans
        if s.recogniser not in MODELS or s.label != "CODE" or not any(a <= s.start and s.end <= b for a, b in known)
    ]  # fmt: skip


def _tidied(text: str, span: Span, own: Pack, capitals: bool) -> Span | None:
    surface = text[span.start : span.end]
    if span.label in NAME_LABELS and surface.strip(" .,:!").lower() in _nothing(own.code):
        return None
    if span.label in NAME_LABELS and _is_weekday(surface, own):
        return replace(span, label="DATE", identifier_type=default_identifier_type("DATE"))
    if not capitals or span.label not in {"PERSON", "LOCATION", "ORGANISATION"}:
        return span
    if surface.islower():
        called = people(own.code)
        words = WORD.findall(surface)
        unlisted = called is None and len(words) == 1 and span.label != "ORGANISATION" and surface not in PARTICLES
        if unlisted or (called and words and all(called.find(w) or w in own.function_words for w in words)):
            return replace(span, label="DEMOGRAPHIC", identifier_type=default_identifier_type("DEMOGRAPHIC"))
        return span
    if span.label == "PERSON" and _is_town(surface, own):
        return replace(span, label="LOCATION", identifier_type=default_identifier_type("LOCATION"))
    span = _ended(text, span, own) if span.label != "ORGANISATION" else span
    return _cut(text, span, own) if span.label == "PERSON" else span


def _is_town(surface: str, own: Pack) -> bool:
    """Return whether a word is a town in one of its cases, and no name ("Oulun" of Oulu)."""
    table, names = own.inflection, _pool(own.code)
    if table is None or not WORD.fullmatch(surface) or table.case_of(surface, names)[1] in names:
        return False
    case, first = table.case_of(surface, _towns(own.code))
    return case != NOMINATIVE and first in _towns(own.code)


def _ended(text: str, span: Span, own: Pack) -> Span:
    """Return a person or place without small words behind it that begin with a function word ("Porto com a mulher")."""
    tail = TAIL.search(text, span.start, span.end)
    first = "" if tail is None else tail.group(1).lower()
    if tail is None or first not in own.function_words or first in PARTICLES:
        return span
    return replace(span, end=tail.start())


def _cut(text: str, span: Span, own: Pack) -> Span:
    """Return a person without what stands before the name."""
    start = span.start
    while (first := FIRST.match(text, start, span.end)) is not None and _leaves(first.group(1), text, first, span, own):
        start = first.end()
    if start > span.start and (elided := ELIDED.match(text, start)) is not None:
        start = elided.end()
    return replace(span, start=start)


def _leaves(word: str, text: str, first: regex.Match[str], span: Span, own: Pack) -> bool:
    """Return whether the first word of a person is none of the name."""
    rest = [w for w in WORD.findall(text, first.end(), span.end) if w[:1].isupper() or ELIDED.match(w)]
    low = word.lower()
    if not rest or low in PARTICLES or low in RANKS or (word.isupper() and len(word) > ARTICLE):
        return False
    if word.islower():
        return True
    if word in names_of(own.code) or low in _titles(own.code):
        return False
    if (len(word) <= ARTICLE and low in own.function_words) or low in _greetings(own.code):
        return True  # longer function words are names elsewhere: Mitt Romney in Swedish
    called = people(own.code)
    return called is not None and len(rest) > 1 and called.find(word) is not None


def _again(text: str, spans: list[Span], own: Pack) -> list[Span]:
    """Return the spans, with the names of accepted persons in their other cases among them."""
    persons = [s for s in spans if s.label == "PERSON" and s.score >= ACCEPTED]
    if not persons or not (own.inflection is not None or own.data.possessive):
        return spans
    forms: set[str] = set()
    for span in persons:
        words = WORD.findall(text, span.start, span.end)
        for word, last in zip(words, (*[False] * (len(words) - 1), len(words) > 1)):
            if len(word) >= SHORT and word[:1].isupper() and (last or word.lower() not in _titles(own.code)):
                forms |= _forms(word, own.code)
    held = {at for s in persons for at in range(s.start, s.end)}
    out = list(spans)
    for match in WORD.finditer(text):
        if match.group() in forms and match.start() not in held:
            start, end = match.span()
            out = [s for s in out if (s.start, s.end) != (start, end) or s.recogniser not in MODELS]
            out.append(Span("", start, end, "PERSON", AGAIN, f"{own.code}.again", default_identifier_type("PERSON")))
    return out


@lru_cache(maxsize=4096)
def _forms(word: str, code: str) -> frozenset[str]:
    """Return the forms of a written name, of which the pools know the first or which is one itself."""
    table, data = pack(code).inflection, pack(code).data
    if table is None:
        return frozenset() if any(word[-1] in k for k in data.possessive_after) else frozenset({word + data.possessive})
    pools = _pool(code)
    first = table.case_of(word, pools)[1]
    if first not in pools:
        return frozenset({word})
    return frozenset((first, *(table.inflected(first, case) for case in _cases(table))))


def _cases(table: Inflection) -> Iterable[str]:
    return (*table.cases, PARTITIVE, *table.direct)


@lru_cache(maxsize=8)
def _pool(code: str) -> frozenset[str]:
    pools = read_pools(code)
    return frozenset((*pools.forenames, *pools.surnames))


@lru_cache(maxsize=8)
def _towns(code: str) -> frozenset[str]:
    return frozenset(t.name for t in read_pools(code).towns if len(t.name) > SHORT)


@lru_cache(maxsize=16)
def _titles(code: str) -> frozenset[str]:
    data = pack(code).data
    return frozenset(
        w.lower() for t in (*data.titles.f, *data.titles.m, *data.titles.any, *data.ranks) for w in WORD.findall(t)
    )


@lru_cache(maxsize=16)
def _greetings(code: str) -> frozenset[str]:
    return frozenset(g.lower() for g in pack(code).data.greetings)


@lru_cache(maxsize=16)
def _nothing(code: str) -> frozenset[str]:
    """Return what is no name by itself: greetings, farewells, labels of fields; surnames among them stay."""
    data = pack(code).data
    words = (*data.greetings, *data.farewells, *(w for label in data.fields.values() for w in label))
    return frozenset(w.lower() for w in words if w[:1].upper() + w[1:] not in names_of(code))


def _is_weekday(surface: str, own: Pack) -> bool:
    low, names = surface.strip(" .,").lower(), frozenset(n.lower() for n in own.data.weekdays)
    return low in names or (own.inflection is not None and own.inflection.case_of(low, names)[1] in names)
