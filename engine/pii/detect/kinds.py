"""Settle what kind of name a span is, so that a surname is not replaced by a town.

What a field label says ("Seller: Arjun") counts most; "at Baker, Smith and Jones" is one
organisation; a number of years is an age; the names of one list, and one name at several places of a record, are of
one kind: that with the most evidence, where the surname of a person named in full is a person. Only spans of the
tagger or of a spaCy model change, and only among persons, places and organisations; what is masked stays the same.

Privacy posture: works on one text in memory; returns positions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import regex

from engine.pii.spans import MODELS, Span, default_identifier_type, folded

KINDS = frozenset({"PERSON", "LOCATION", "ORGANISATION"})
FIELD = regex.compile(
    r"(?:^|[\n|;,{(\[]|\s{2,})[ \t\"']*(?:"
    r"(?P<PERSON>(?:seller|buyer|owner|user|username|name|patient|client|customer|contact|author|poster|reviewer"
    r"|agent|employee|witness|applicant|doctor|nurse|surname|forename|(?:first|last|full|family|given|maiden) ?name)"
    r"(?: ?name)?)"
    r"|(?P<LOCATION>location|city|town|place|address|country|state|region|county|birthplace|place of birth)"
    r"|(?P<ORGANISATION>employer|company|organi[sz]ation|hospital|clinic|school|firm|workplace)"
    r")[\"']? ?[:=|] ?[\"']?$",
    regex.I,
)
AGE = regex.compile(
    r"(?:aged? )?(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?)"
    r"[- ]?(?:years?|yrs?|months?|weeks?|days?)?[- ]?(?:olds?|of age|y/?o)",
    regex.I,
)
AT = regex.compile(r"(?:\bat|\bof the firm|\bwork(?:s|ed|ing)? for) $")
COMMA, LAST = regex.compile(r", "), regex.compile(r",? (?:and|&) ")
PART = regex.compile(r"\p{Lu}[\p{L}\p{M}'’-]{2,}")
PLACE_WORD = regex.compile(r"\b(?:in|from|near|to|around|outside) $", regex.I)
Threshold = Callable[[str], float]


def settled(text: str, spans: Sequence[Span], threshold: Threshold) -> list[Span]:
    """Return the spans of one text, sorted and without overlap, with the kinds of names settled."""
    rows = _firms(text, sorted(spans), threshold)
    fixed = [_by_itself(text, s) for s in rows]
    free = [i for i, s in enumerate(rows) if _open(s) and fixed[i].label == s.label]
    for group in (_lists(text, rows, threshold), _same(text, fixed)):
        for members in group:
            labels = {fixed[i].label for i in members}
            if len(labels) > 1 and "PERSON" in labels:  # a country may be a place here and a team there
                label = _heaviest([fixed[i] for i in members])
                for i in members:
                    if i in free:
                        fixed[i] = _as(fixed[i], label)
    surnames = _surnames(text, fixed, threshold)
    for i in free:
        span = fixed[i]
        if folded(text[span.start : span.end]) in surnames and not PLACE_WORD.search(text, 0, span.start):
            fixed[i] = _as(span, "PERSON")
    return fixed


def _open(span: Span) -> bool:
    return span.recogniser in MODELS and span.label in KINDS


def _as(span: Span, label: str) -> Span:
    if span.label == label:
        return span
    return replace(span, label=label, identifier_type=default_identifier_type(label))


def _by_itself(text: str, span: Span) -> Span:
    """Return a span with the kind that its own words or the field before it give."""
    if span.recogniser not in MODELS:
        return span
    surface = text[span.start : span.end]
    if span.label == "DEMOGRAPHIC" and AGE.fullmatch(surface):
        return _as(span, "AGE")
    if not _open(span):
        return span
    field = FIELD.search(text, max(0, span.start - 40), span.start)
    if field is not None and field.lastgroup is not None:
        return _as(span, field.lastgroup)
    return span


def _runs(text: str, rows: Sequence[Span], threshold: Threshold) -> list[tuple[int, int]]:
    """Return half-open runs of rows that make a list of accepted names of one word, "A, B and C"."""
    out = []
    i = 0
    while i < len(rows):
        to = i
        while to < len(rows) and _single(text, rows[to], threshold):
            gap = text[rows[to - 1].end : rows[to].start] if to > i else ", "
            if not COMMA.fullmatch(gap):
                to += bool(LAST.fullmatch(gap))
                break
            to += 1
        if to - i > 2 and LAST.fullmatch(text, rows[to - 2].end, rows[to - 1].start):
            out.append((i, to))
        i = max(to, i + 1)
    return out


def _single(text: str, span: Span, threshold: Threshold) -> bool:
    return _open(span) and span.score >= threshold(span.label) and " " not in text[span.start : span.end]


def _firms(text: str, rows: list[Span], threshold: Threshold) -> list[Span]:
    """Return the rows with "at A, B and C" joined to one organisation."""
    out, at = [], 0
    for first, last in _runs(text, rows, threshold):
        if AT.search(text, 0, rows[first].start):
            score = max(s.score for s in rows[first:last])
            joined = _as(replace(rows[first], end=rows[last - 1].end, score=score), "ORGANISATION")
            out += [*rows[at:first], joined]
            at = last
    return [*out, *rows[at:]]


def _lists(text: str, rows: Sequence[Span], threshold: Threshold) -> list[list[int]]:
    return [list(range(first, last)) for first, last in _runs(text, rows, threshold)]


def _same(text: str, rows: Sequence[Span]) -> list[list[int]]:
    """Return the numbers of the spans with one surface form, a group each."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, span in enumerate(rows):
        if span.label in KINDS:
            groups[text[span.start : span.end]].append(i)
    return list(groups.values())


def _heaviest(spans: Sequence[Span]) -> str:
    weights: dict[str, float] = defaultdict(float)
    for span in spans:
        weights[span.label] += span.score if span.recogniser in MODELS else 2.0
    return max(weights, key=lambda label: (weights[label], label))


def _surnames(text: str, rows: Sequence[Span], threshold: Threshold) -> frozenset[str]:
    """Return the folded parts of accepted persons named in two words or more."""
    found = set()
    for span in rows:
        if span.label == "PERSON" and span.score >= threshold("PERSON"):
            parts = PART.findall(text[span.start : span.end])
            if len(parts) > 1:
                found.add(folded(parts[-1]))
    return frozenset(found)
