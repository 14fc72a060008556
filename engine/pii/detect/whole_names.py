"""A name is masked whole or not at all: spans grow to the words that belong to the same name.

"Famagusta" becomes "District of Famagusta", "Court of" becomes "Court of Appeals", "Profitt" keeps its "II",
"District Court" before an accepted town joins it, and a nationality is left to the reviewer where only the
public body behind it follows. What a rule, a list or the custodian found exactly is never changed.

Privacy posture: works on one text in memory; returns positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import regex

from engine.pii.detect.plain.state_bodies import is_head
from engine.pii.spans import MODELS, Span

NAMES = frozenset({"PERSON", "LOCATION", "ORGANISATION"})
LINK = r"(?:of|de|du|des|da|do|dos|das|di|del|della|la|le|van|von|der|den|zu|zur|am|af|av|upon)"
WORD = r"\p{Lu}[\p{L}\p{M}\p{N}'’.-]*"
OPEN_END = regex.compile(rf"(?<=[\p{{L}}.]) (?:{LINK}|the)(?: the)?$", regex.I)
GOES_ON = regex.compile(rf" (?:the )?{WORD}(?<![.’'-])(?: {WORD}(?<![.’'-]))?")
OPEN_START = regex.compile(rf"{LINK} (?=\p{{Lu}})", regex.I)
BEFORE_LINK = regex.compile(r"\p{Lu}[\p{L}\p{M}]+ $")
KIND = regex.compile(
    r"\b(?:District|City|Town|Village|Municipality|Commune|Parish|Province|County|Region|Governorate|Prefecture"
    r"|Republic|Kingdom|Duchy|Diocese|Archdiocese|Isle|Island|Gulf|Bay|Port|Cape|Mount|Lake|University|Bank|Hospital"
    r"|College|School|Church|Bishop|Mayor) of (?:the )?$"
)
SUFFIX = regex.compile(r",? (?:II|III|IV|Jr\.?|Sr\.?)(?![\p{L}\p{N}])")
PLACED = regex.compile(r" (?:in|of|at) (?:the )?")
OF = regex.compile(r" of (?:the )?")
LAST_CAPITAL = regex.compile(r"\b\p{Lu}[\p{L}\p{M}'’.-]*$")
FOLLOWED = regex.compile(r" (\p{L}+)")
Threshold = Callable[[str], float]


def whole(text: str, spans: Sequence[Span], threshold: Threshold) -> list[Span]:
    """Return the spans of one text, sorted and without overlap, names grown to their full extent."""
    rows = _placed(text, sorted(spans), threshold)
    out: list[Span] = []
    for i, span in enumerate(rows):
        low = out[-1].end if out else 0
        high = rows[i + 1].start if i + 1 < len(rows) else len(text)
        out.append(_grown(text, span, low, high) if _grows(span, threshold) else span)
    return [_with_body(text, s, threshold) for s in out]


def raised(text: str, spans: Sequence[Span], inside: Sequence[Span], threshold: Threshold) -> list[Span]:
    """Return the spans, a suggested name accepted as a whole where an accepted name is a part of it."""
    names = [s for s in inside if s.label in NAMES]
    return [
        replace(s, score=threshold(s.label))
        if s.label in NAMES
        and s.recogniser in MODELS
        and s.score < threshold(s.label)
        and LAST_CAPITAL.search(text, s.start, s.end)
        and any(s.start <= n.start and n.end <= s.end and n.end - n.start < s.end - s.start for n in names)
        else s
        for s in spans
    ]


def _grows(span: Span, threshold: Threshold) -> bool:
    return span.label in NAMES and span.recogniser in MODELS and span.score >= threshold(span.label)


def _grown(text: str, span: Span, low: int, high: int) -> Span:
    """Return a name with the words of the same name around it, inside [low, high)."""
    start, end = span.start, span.end
    link = OPEN_END.search(text, start, end)
    if link is not None:
        more = GOES_ON.match(text, end, high)
        end = more.end() if more is not None else link.start()
    if OPEN_START.match(text, start, end):
        before = BEFORE_LINK.search(text, low, start)
        start = before.start() if before is not None else start
    if span.label != "PERSON":
        kind = KIND.search(text, max(low, start - 40), start)
        start = kind.start() if kind is not None else start
    elif suffix := SUFFIX.match(text, end, high):
        end = suffix.end()
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)


def _placed(text: str, rows: Sequence[Span], threshold: Threshold) -> list[Span]:
    """Return the spans with a body or a place and the accepted place that completes its name joined to one."""
    out: list[Span] = []
    for span in rows:
        if out and _completes(text, out[-1], span, threshold):
            score = max(out[-1].score, span.score, threshold(out[-1].label))
            out[-1] = replace(out[-1], end=span.end, score=score)
        else:
            out.append(span)
    return out


def _completes(text: str, first: Span, second: Span, threshold: Threshold) -> bool:
    """Return whether "District Court" + "in Leeds" or "Museum" + "of Oslo" are one name."""
    if not {first.label, second.label} <= {"ORGANISATION", "LOCATION"} or first.recogniser not in MODELS:
        return False
    if second.score < threshold(second.label) or not text[first.start].isupper():
        return False
    if first.score >= threshold(first.label):
        return OF.fullmatch(text, first.end, second.start) is not None
    return (first.label, second.label) == ("ORGANISATION", "LOCATION") and (
        PLACED.fullmatch(text, first.end, second.start) is not None
    )


def _with_body(text: str, span: Span, threshold: Threshold) -> Span:
    """Return a nationality as a suggestion where it belongs to the name of a public body ("Turkish Government")."""
    if span.label != "DEMOGRAPHIC" or span.recogniser not in {*MODELS, "nationality"}:
        return span
    after = FOLLOWED.match(text, span.end)
    if after is None or not is_head(after.group(1)) or not text[span.start].isupper():
        return span
    return replace(span, score=min(span.score, max(0.0, threshold("DEMOGRAPHIC") - 0.05)))
