"""Control codes: what identifies people in a text, listed by type, one line a type.

    CODE: 36244/06
    PERSON: Mr Henrik Hasslund, Mr Tyge Trier

A code is read from accepted spans and from the marks that a de-identified text already carries
(`[**Hospital 18**]`). Long documents are cut into passages of a few paragraphs, each with its own code.

Source: Zhao and Field 2025, "Controlled Generation for Private Synthetic Text", sections 2.1 and 3.1.
Privacy posture: a code of a real passage is private text; it is held in memory and never logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.models.builtin.everyday import everyday_words
from engine.models.builtin.format import clean
from engine.pii.detect.plain.function_words import found_everywhere, only_function_words
from engine.pii.private_forms import MARK, private_forms
from engine.pii.redact.base import join_overlapping
from engine.pii.spans import Span, default_identifier_type

Which = Literal["direct", "quasi", "both"]

# What a mark of the MIMIC kind says, first match wins -> our label.
_MARK_LABELS = tuple(
    (re.compile(pattern, re.IGNORECASE), label)
    for pattern, label in (
        (r"e-?mail", "EMAIL"), (r"\burl\b|website", "URL"), (r"telephone|fax|phone|pager", "PHONE"),
        (r"address|po box", "ADDRESS"), (r"social security", "NATIONAL_ID"),
        (r"medical record|\bmrn\b|unit number", "MEDICAL_ID"), (r"number|identifier|serial|\bclip\b|\bid\b", "CODE"),
        (r"hospital|wardname|company|university|college|clinic", "ORGANISATION"),
        (r"location|country|state|city|town", "LOCATION"), (r"name|initials|doctor|attending|\bdr\b", "PERSON"),
        (r"\bage\b", "AGE"), (r"date|month|year|day|holiday|\d{1,4}[-/]\d{1,2}", "DATE"),
    )
)  # fmt: skip
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n+")
_COMMON_WORDS = 2  # a longer run of common words says something of its own


@dataclass(frozen=True)
class ControlCode:
    """Values by type, types sorted, values in the order of the text, each once."""

    values: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def lines(self, most: int | None = None) -> str:
        """Return the code as text, at most `most` values a type; empty where there is none."""
        return "\n".join(f"{label}: {', '.join(found[:most])}" for label, found in self.values)

    def counts(self) -> dict[str, int]:
        """Return how many values each type has."""
        return {label: len(found) for label, found in self.values}

    def surfaces(self) -> tuple[str, ...]:
        """Return every value."""
        return tuple(value for _, found in self.values for value in found)


@dataclass(frozen=True)
class Passage:
    """A few paragraphs of a record with the private spans inside; offsets count from the passage's start."""

    record_id: str
    part: int
    text: str
    spans: tuple[Span, ...] = ()
    label: str | None = None

    @property
    def code(self) -> ControlCode:
        """Return the passage's control code."""
        return control_code(self.text, self.spans)

    def cut(self, end: int) -> Passage:
        """Return the passage up to the offset `end`, or up to the private span that lies across it."""
        end = min([end, *(s.start for s in self.spans if s.start < end < s.end)])
        text = self.text[:end].rstrip()
        return replace(self, text=text, spans=_within(self.spans, 0, len(text)))


def control_code(text: str, spans: Iterable[Span]) -> ControlCode:
    """Return the control code of the spans: white space of a value is single, control tokens are broken up."""
    found: dict[str, dict[str, None]] = {}
    for span in sorted(spans):
        value = clean(" ".join(text[span.start : span.end].split()))
        if value:
            found.setdefault(span.label, {})[value] = None
    return ControlCode(tuple((label, tuple(values)) for label, values in sorted(found.items())))


def marks(record_id: str, text: str) -> list[Span]:
    """Return the marks of an earlier de-identification as spans: `[**Hospital 18**]` is an organisation."""
    spans = []
    for match in MARK.finditer(text):
        label = next((name for pattern, name in _MARK_LABELS if pattern.search(match.group(1))), "MISC")
        kind = default_identifier_type(label)
        spans.append(Span(record_id, match.start(), match.end(), label, 1.0, "mark", kind))
    return spans


def private_spans(record_id: str, text: str, spans: Sequence[Span], which: Which = "direct") -> list[Span]:
    """Return the spans that count as private: of the type asked for, marks joined in, overlaps settled.

    Args:
        record_id: the record they belong to.
        text: its text.
        spans: its accepted spans, gold or detected.
        which: direct identifiers, quasi-identifiers, or both; `none` never counts, and a mark always does: somebody
            has judged already that what stood there had to go.
    """
    wanted = {"direct", "quasi"} if which == "both" else {which}
    return join_overlapping(text, [*(s for s in spans if s.identifier_type in wanted), *marks(record_id, text)])


def passages(
    record_id: str, text: str, spans: Sequence[Span], label: str | None = None, paragraphs: int = 6, parts: int = 2
) -> list[Passage]:
    """Return the first `parts` passages of `paragraphs` paragraphs each; what follows is left out.

    A text without blank lines is taken line by line.
    """
    breaks = _BLANK_LINE if _BLANK_LINE.search(text.strip()) else _LINE
    bounds = list(_paragraphs(text, breaks))
    made = []
    for part in range(parts):
        chosen = bounds[part * paragraphs : (part + 1) * paragraphs]
        if chosen:
            start, end = chosen[0][0], chosen[-1][1]
            made.append(Passage(record_id, part, text[start:end], _within(spans, start, end), label))
    return made


def _paragraphs(text: str, breaks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    at = 0
    for match in [*breaks.finditer(text), None]:
        end = len(text) if match is None else match.start()
        body = text[at:end]
        if body.strip():
            yield at + len(body) - len(body.lstrip()), at + len(body.rstrip())
        at = end if match is None else match.end()


def _within(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the spans inside [start, end), moved to count from `start` and cut at both ends."""
    return tuple(
        replace(s, start=max(s.start, start) - start, end=min(s.end, end) - start)
        for s in sorted(spans)
        if s.start < end and s.end > start
    )


@dataclass(frozen=True)
class Blocking:
    """What may not be written: `values` anywhere, `names` (everyday or very short words) where they stand as a name.

    `exempt` counts the values let through, a reason; `let_through` names them.
    """

    values: tuple[str, ...]
    exempt: Mapping[str, int]
    let_through: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def to_block(chosen: Iterable[Passage]) -> Blocking:
    """Return every private surface form of the passages, and how many were let through and why.

    A name is blocked with and without its title, and so is each of its parts: a distinctive one everywhere, an
    everyday or very short one ("Young", "Ng") where it stands as a name. Case, accents, spacing and other ways of
    writing are the blocker's business. Let through are values that cannot identify: made of function words
    alone ("An"), under two letters or digits, and quasi-identifiers of one or two everyday lower-case words
    or a short number ("three years", "mother", "12"), whose block would only cripple the text.
    """
    kinds: dict[str, tuple[str, str]] = {}
    for passage in chosen:
        for span in passage.spans:
            value = " ".join(passage.text[span.start : span.end].split())
            if value and kinds.get(value, ("", ""))[1] != "direct":
                kinds[value] = (span.label, span.identifier_type)
    blocked: dict[str, None] = {}
    names: dict[str, None] = {}
    exempt: dict[str, list[str]] = {}
    for value, (label, kind) in sorted(kinds.items()):
        reason = exemption(value, kind)
        if reason:
            exempt.setdefault(reason, []).append(value)
            continue
        forms = private_forms(value, label)
        blocked |= dict.fromkeys(forms.values)
        names |= dict.fromkeys(forms.names)
    named = {reason: tuple(values) for reason, values in exempt.items()}
    counts = {reason: len(values) for reason, values in named.items()}
    return Blocking(tuple(blocked), counts, named, tuple(names))


def exemption(value: str, kind: str) -> str:
    """Return why a value is not blocked, or nothing."""
    words = re.findall(r"\w+", value)
    if sum(c.isalnum() for c in value) < 2:
        return "under two letters or digits"
    if found_everywhere(words):
        return "function words alone" if only_function_words(words) else "a form of address alone"
    if kind == "direct" or len(words) > _COMMON_WORDS:
        return ""
    if value.isdigit() and len(value) <= 2:
        return "a short number"
    return "everyday words" if value == value.lower() and all(w in everyday_words() for w in words) else ""
