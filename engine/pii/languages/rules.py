"""The rule part of detection in another language: shared patterns, the pack's own, phones and national numbers.

Titles, field labels, greetings and months of a pack become expressions here; everything else is written in the pack.

Privacy posture: works on one text in memory; matches are kept as positions only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import regex

from engine.errors import UserError
from engine.pii.detect.recognisers import specs
from engine.pii.detect.rules import Rules, trim
from engine.pii.languages.national_ids import find_national_ids
from engine.pii.languages.pack import Pack, codes, pack
from engine.pii.spans import Span, default_identifier_type

RULE_SECONDS = 10.0
SHARED = frozenset(
    "email url handle ip mac card iban uuid long_number date_numeric year phone_format street continental_postcode "
    "coordinates ssn national_id nhs medical_record doctor_number age".split()
)
"""Recognisers of the English catalogue that read no English, and those of numbers that English shorthand names.

A short English note with a Spanish name in it may be told Spanish, and its record number must be found all the same.
"""
NAME = r"\p{Lu}[\p{L}\p{M}''’-]+"
PARTICLE = r"(?:van|von|vom|zu|zum|zur|de|der|den|del|la|las|los|le|du|des|da|dos|do|das|af|av|ten|ter|'t|y|e|i)"
FIRST = rf"(?:(?:\p{{Lu}}\.[ -]?){{1,3}}|(?:{PARTICLE} ){{0,2}}{NAME})"
FULL = rf"{FIRST}(?: (?:{PARTICLE} ){{0,2}}(?:\p{{Lu}}\.|{NAME})){{0,3}}"
VALUE = r"[^\n;:|]{2,60}?(?= {0,4}(?:$|\n|;|\||\.(?:\s|$)| {2,}|, (?=\p{L}+:)|\t))"
PHONE = r"[+(]?\d[\d ()/.-]{4,18}\d"
CODE = r"(?=[\w./-]*\d)[\p{L}\d][\p{L}\d./-]{2,24}(?: \d{2,10}){0,3}"


@dataclass(frozen=True)
class Expression:
    """One expression of a pack with what it finds."""

    id: str
    label: str
    score: float
    pattern: regex.Pattern[str]


def _any(words: Iterable[str]) -> str:
    return "|".join(regex.escape(w) for w in sorted(words, key=len, reverse=True))


@lru_cache(maxsize=32)
def expressions(code: str) -> tuple[Expression, ...]:
    """Return what a pack's titles, fields, greetings and months say, as expressions."""
    data = pack(code).data
    out: list[Expression] = []

    def add(name: str, label: str, score: float, text: str) -> None:
        out.append(Expression(f"{code}.{name}", label, score, regex.compile(text, regex.MULTILINE)))

    titles = {*data.titles.f, *data.titles.m, *data.titles.any}
    titles |= {t[:1].upper() + t[1:] for t in titles}
    letters = {t for t in titles if len(t) == 1}  # "D. Juan"; without its point a letter is rather in "vitamina D"
    pointed = "".join(rf"|{letter}\." for letter in sorted(letters))
    title = rf"(?<![\p{{L}}\p{{M}}-])(?:(?:{_any(titles - letters)})\b\.?{pointed})"
    add("title", "PERSON", 0.85, rf"{title}(?: {title}){{0,3}}[ \t]{{1,2}}\K(?!(?:{_any(titles)})\b){FULL}")
    if data.ranks:
        rank = rf"(?<![\p{{L}}\p{{M}}-])(?:{_any(data.ranks)})"
        add("rank", "PERSON", 0.75, rf"{rank} (?:(?:v\.|von|zu|de) )?(?!(?:{_any(titles)})\b){NAME}")
    shapes = {"PERSON": FULL, "PHONE": PHONE, "CODE": CODE, "NATIONAL_ID": CODE}
    for label, words in data.fields.items():
        before = rf"(?:^|[;|,.(]|[ \t]{{2}})[ \t]{{0,8}}+(?i:{_any(words)})\.?(?: ?\([^)\n]{{0,40}}\))?"
        value = shapes.get(label, VALUE)
        start = r"(?=\p{Lu})" if label == "PERSON" else r"(?=[\p{L}\d])"
        mark = r"\s?:\s{0,3}" if label not in {"PHONE", "NATIONAL_ID"} else r"\s?[:.]?\s{1,3}"
        add(f"field.{label.lower()}", label, 0.8, rf"{before}{mark}\K{start}{value}")
    named = rf"{NAME}(?: {NAME})"
    if data.greetings:
        nobody = _any(titles | set(data.greetings))
        add(
            "greeting",
            "PERSON",
            0.75,
            rf"^[ \t]{{0,8}}+(?i:{_any(data.greetings)}),? \K(?!(?i:{nobody})\b){named}?(?=\s{{0,4}}[,!.:\n]|$)",
        )
    if data.farewells:
        add(
            "farewell",
            "PERSON",
            0.8,
            rf"(?i:{_any(data.farewells)})[,.!]?\s{{0,6}}+\K(?:(?:{_any(titles)})\.? ){{0,3}}{named}{{0,2}}"
            r"(?=[ \t]{0,8}(?:\n|$))",
        )
    month = rf"(?i:{'|'.join(data.month_stems)})\p{{Ll}}{{0,6}}"
    year = r"(?:1[5-9]|20)\d\d"
    of, then = r"\s?(?:(?:de|del)\s)?", rf"(?:,?\s(?:(?:de|del)\s)?{year}\b)?"
    add("date", "DATE", 0.85, rf"\b\d{{1,2}}(?:º|er|\.)?{of}{month}{then}|\b\d{{1,2}}([-/]){month}\1(?:\d\d)?\d\d\b")
    add("month", "DATE", 0.75, rf"\b{month}\s(?:(?:de|del)\s)?{year}\b|\b{year}(?:\. aasta)?\s{month}")
    if data.numbers:
        add("worded", "DATE", 0.75, rf"(?<![\p{{L}}-])(?i:{_any(data.numbers)})\s(?:(?:de|del)\s)?{month}\b{then}")
    for spec in pack(code).recognisers:
        flags = regex.MULTILINE | (regex.IGNORECASE if spec.ignore_case else 0)
        out += [Expression(spec.id, spec.label, p.score, regex.compile(p.regex, flags)) for p in spec.patterns]
    return tuple(out)


class LanguageRules:
    """The rules of other languages, with the shared part of the catalogue."""

    def __init__(self, disabled: frozenset[str] = frozenset()) -> None:
        self.disabled = disabled
        self.shared = Rules(disabled | frozenset(s.id for s in specs() if s.id not in SHARED))

    def find(self, text: str, code: str) -> list[Span]:
        """Return the spans of one text in a language; without a pack, what the shared patterns find."""
        out = self.shared.find(text)
        if code not in codes():
            return out + ([] if "national_ids" in self.disabled else find_national_ids(text, ()))
        own = pack(code)
        if "national_ids" not in self.disabled:
            out += find_national_ids(text, own.data.countries)
        if f"pack-{code}" in self.disabled:
            return out
        for expression in expressions(code):
            for match in _matches(expression, text):
                start, end = trim(text, match.start(), match.end())
                end -= expression.label not in {"PERSON", "DATE", "AGE"} and text[end - 1] == "."
                if end > start and not _plain(text[start:end], own):
                    out.append(_made(start, end, expression.label, expression.score, expression.id))
        return out + _phones(text, own)


def _matches(expression: Expression, text: str) -> list[regex.Match[str]]:
    """Return what an expression finds, within bounded time.

    Raises:
        UserError: it takes too long on this text; the message names the rule, not the text.
    """
    try:
        return list(expression.pattern.finditer(text, timeout=RULE_SECONDS))
    except TimeoutError:
        message = f"the language rule {expression.id} takes too long on one record; switch its pack off in the settings"
        raise UserError(message) from None


def _plain(surface: str, own: Pack) -> bool:
    """Return whether a match is made of function words alone."""
    words = regex.findall(r"[\p{L}\p{M}]+", surface)
    return bool(words) and not any(c.isdigit() for c in surface) and all(w.lower() in own.function_words for w in words)


def _phones(text: str, own: Pack) -> list[Span]:
    """Return the telephone numbers that the numbering plans of the language's countries allow."""
    import phonenumbers

    out = []
    if sum(c.isdigit() for c in text) >= 6:
        for country in own.data.countries:
            for match in phonenumbers.PhoneNumberMatcher(text, country, leniency=phonenumbers.Leniency.VALID):
                sure = match.raw_string.startswith("+") or not match.raw_string.isdigit()
                out.append(_made(match.start, match.end, "PHONE", 0.75 if sure else 0.55, f"{own.code}.phone"))
    return out


def _made(start: int, end: int, label: str, score: float, recogniser: str) -> Span:
    return Span("", start, end, label, score, recogniser, default_identifier_type(label))
