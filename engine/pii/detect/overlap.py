"""Turn the spans of several recognisers into one list without overlap.

Rules, in this order:
1. A value on the allow list is dropped, unless it is a known identifier or on the deny list.
2. Known identifiers and the deny list win over everything; accepted spans (score at or above the
   label's threshold) over suggestions; then the longer span; then the more specific recogniser (a
   validated format before the tagger); then the higher score.
3. What a losing span covers beyond the winner stays marked, so that resolving never uncovers text.
4. A title before a person's name joins the name; a second title begins a second person. Parts of one date or
   time join ("Tuesday, 4 May 2010", "26 and 27 October 1994"); two complete dates stay two.
5. A value accepted once in a record is accepted at its other places in that record; the last name of an
   accepted person too.
6. A name grows to the words of the same name around it (`engine.pii.detect.whole_names`), and its kind is settled
   (`engine.pii.detect.kinds`).

Privacy posture: works on one text in memory; returns positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import regex

from engine.pii.detect.kinds import settled
from engine.pii.detect.whole_names import raised, whole
from engine.pii.spans import Span, folded

FIRST = ("known", "deny")
SPECIFIC = {
    "custom": 3,
    "accented_name": -1,
    "tagger": 0,
    "spacy": 0,
    "institution": 0,
    "long_number": 1,
    "year": 1,
    "duration": 1,
}
TITLE = regex.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Dame|Rev|Judge|Justice|Madam|Herr|Frau)\b\.? {1,2}$", regex.I
)
NEXT_PERSON = regex.compile(r"(?:[,;]| and| or)\s+(?=(?:Mr|Mrs|Ms|Miss|Dr|Prof|Judge)\b)")
DATE_GAP = regex.compile(r"(?:,? |, ?| ?T| at | on | of |, at |/| ?[-–] ?)")
RANGE_GAP = regex.compile(r",? (?:and|or|to|until) (?:on |in )?|, (?:on |in )?| ?[-–] ?")
YEAR = regex.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
CLOCK = regex.compile(r"\d ?[:.h]\d\d|[ap]\.?m\b|\bday\b|day(?: \w+)?$", regex.I)
NAME_PART = regex.compile(r"\p{Lu}[\p{L}\p{M}''’-]{2,}")
SPREAD = {
    "PERSON",
    "ORGANISATION",
    "LOCATION",
    "CODE",
    "USERNAME",
    "DEMOGRAPHIC",
    "NATIONAL_ID",
    "MEDICAL_ID",
}
NO_PART = frozenset("the and for mrs miss prof judge justice professor madam herr frau sir jr dame rev".split())
Threshold = Callable[[str], float]


def choose_spans(
    text: str, spans: Sequence[Span], threshold: Threshold, allow: frozenset[str] = frozenset()
) -> list[Span]:
    """Return the spans of one text, sorted and without overlap, by the rules above."""
    single = [part for span in spans for part in _people(text, span)]
    kept = _without_overlap(text, _allowed(text, single, allow), threshold)
    kept = _join_dates(text, [_with_title(text, s, kept) for s in kept], threshold)
    extra = _spread(text, kept, threshold)
    if extra:
        extra = _allowed(text, extra, allow)
        kept = _without_overlap(text, [*raised(text, kept, extra, threshold), *extra], threshold)
    return settled(text, whole(text, kept, threshold), threshold)


def _people(text: str, span: Span) -> list[Span]:
    """Return a person's span cut where another title begins ("Dr. Lind, Mrs Ruiz" are two people)."""
    if span.label != "PERSON":
        return [span]
    cuts = list(NEXT_PERSON.finditer(text, span.start, span.end))
    edges = [span.start, *(edge for m in cuts for edge in m.span()), span.end]
    return [replace(span, start=a, end=b) for a, b in zip(edges[::2], edges[1::2])]


def _allowed(text: str, spans: Sequence[Span], allow: frozenset[str]) -> list[Span]:
    if not allow:
        return list(spans)
    return [s for s in spans if s.recogniser in FIRST or folded(text[s.start : s.end]) not in allow]


def _order(span: Span, threshold: Threshold) -> tuple[bool, bool, int, int, float, int]:
    """Return the sort key, best last."""
    certain = span.recogniser in FIRST and span.score >= 0.9
    accepted = span.score >= threshold(span.label)
    return (certain, accepted, span.end - span.start, SPECIFIC.get(span.recogniser, 2), span.score, -span.start)


def _without_overlap(text: str, spans: Sequence[Span], threshold: Threshold) -> list[Span]:
    taken = bytearray(len(text))
    out = []
    for span in sorted(spans, key=lambda s: _order(s, threshold), reverse=True):
        for start, end in _free(taken, span.start, span.end):
            if (start, end) != (span.start, span.end):
                start, end = _strip(text, start, end)
            if start < end and any(c.isalnum() or c == "_" for c in text[start:end]):
                taken[start:end] = b"\x01" * (end - start)
                out.append(replace(span, start=start, end=end))
    return sorted(out)


def _free(taken: bytearray, start: int, end: int) -> list[tuple[int, int]]:
    """Return the maximal untaken ranges inside [start, end)."""
    if not any(taken[start:end]):
        return [(start, end)]
    out, at = [], start
    while at < end:
        if taken[at]:
            at += 1
            continue
        to = at
        while to < end and not taken[to]:
            to += 1
        out.append((at, to))
        at = to
    return out


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end


def _with_title(text: str, span: Span, kept: Sequence[Span]) -> Span:
    if span.label != "PERSON":
        return span
    match = TITLE.search(text[max(0, span.start - 14) : span.start])
    if match is None:
        return span
    start = span.start - (match.end() - match.start())
    free = all(s.end <= start or s.start >= span.start for s in kept)
    return replace(span, start=start) if free else span


def _join_dates(text: str, spans: Sequence[Span], threshold: Threshold) -> list[Span]:
    out: list[Span] = []
    for span in spans:
        last = out[-1] if out else None
        if last is not None and _one_date(text, last, span, threshold):
            score = max(last.score, span.score)
            out[-1] = replace(last, end=span.end, score=score)
        else:
            out.append(span)
    return out


def _one_date(text: str, a: Span, b: Span, threshold: Threshold) -> bool:
    """Return whether two neighbouring DATE spans are parts of one date or of one short range."""
    if a.label != "DATE" or b.label != "DATE" or b.start - a.end > 8:
        return False
    if (a.score >= threshold("DATE")) != (b.score >= threshold("DATE")):
        return False
    gap, left, right = text[a.end : b.start], text[a.start : a.end], text[b.start : b.end]
    if not gap or DATE_GAP.fullmatch(gap):
        timed = bool(CLOCK.search(left)) != bool(CLOCK.search(right))
        return not gap or timed or (not YEAR.search(left) and bool(YEAR.search(right)))
    if not RANGE_GAP.fullmatch(gap):
        return False
    short = bool(regex.fullmatch(r"(?:the )?\d{1,2}(?:st|nd|rd|th)?|[^\W\d_]{3,9}|(?:1[5-9]|20)\d\d", left))
    return (not YEAR.search(left) and bool(YEAR.search(right)) and any(c.isdigit() or c.isalpha() for c in left)) or (
        short and bool(regex.fullmatch(r"(?:1[5-9]|20)\d\d", right))
    )


def _spread(text: str, spans: Sequence[Span], threshold: Threshold) -> list[Span]:
    """Return spans at the other places of accepted values and of accepted persons' name parts."""
    values: dict[str, Span] = {}
    for span in spans:
        if span.label not in SPREAD or span.score < threshold(span.label):
            continue
        surface = text[span.start : span.end]
        if len(surface) >= 3 and any(c.isupper() or c.isdigit() for c in surface):
            values.setdefault(surface, span)
        if span.label == "PERSON":
            for part in NAME_PART.findall(surface):
                if part.casefold() not in NO_PART:
                    values.setdefault(part, span)
    if not values:
        return []
    taken = bytearray(len(text))
    for span in spans:
        if span.score >= threshold(span.label):
            taken[span.start : span.end] = b"\x01" * (span.end - span.start)
    longest_first = sorted(values, key=len, reverse=True)
    pattern = regex.compile(r"(?<!\w)(?:" + "|".join(map(regex.escape, longest_first)) + r")(?!\w)")
    out = []
    for match in pattern.finditer(text):
        if not any(taken[match.start() : match.end()]):
            out.append(replace(values[match.group()], start=match.start(), end=match.end()))
    return out
