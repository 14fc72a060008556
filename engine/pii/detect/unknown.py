"""Flag sequences that look like identifiers and stand in one unit alone, though no detector knows them.

Source: the "mechanism that can prematurely flag potential sensitive sequences in the dataset" of Mohammed 2025,
section 7.1 (future work). A sequence is flagged where it is rare (one unit's texts only) and identifier-shaped: digits
mixed with letters or marks, many digits, capitals inside a word, or a capitalised word inside a sentence that is no
plain word. What was accepted as a span already is left out.

Privacy posture: positions and a type are returned, never a value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from engine.pii.spans import Span

RECOGNISER = "rare-sequence"
SCORE = 0.4  # below one half: a suggestion
_TOKEN = re.compile(r"[^\W_](?:[\w@#/&+.:\-]*[^\W_])?")
_MEASURE = re.compile(
    r"\d{1,3}(?:[.,]\d+)?|\d{1,4}(?:mg|mcg|ml|cc|kg|lb|lbs|cm|mm|hrs?|h|d|days?|wks?|mos?|min|am|pm|st|nd|rd|th|f|c|x|%)"
    r"|\d{1,2}[:/.\-]\d{1,2}(?:[:/.\-]\d{2,4})?|(?:19|20)\d\d|\d{1,3}/\d{1,3}|q\d{1,2}h?|[a-z]\d",
    re.IGNORECASE,
)
_DIGITS = 5  # figures from which a bare number counts


def rare_sequences(texts: Sequence[str], units: Sequence[str], taken: Sequence[Sequence[Span]]) -> list[list[Span]]:
    """Return, for each text, the identifier-shaped sequences that stand in no other unit's text.

    Args:
        texts: private texts. units: whose text each is. taken: spans that are known already, a list a text.
    """
    seen: dict[str, set[str]] = defaultdict(set)
    found: list[list[tuple[int, int, str]]] = []
    for text, unit in zip(texts, units, strict=True):
        rows = []
        for match in _TOKEN.finditer(text):
            key = match.group().casefold()
            seen[key].add(unit)
            if shaped(text, match.start(), match.end()):
                rows.append((match.start(), match.end(), key))
        found.append(rows)
    return [
        [
            Span("", start, end, "MISC", SCORE, RECOGNISER, "quasi")
            for start, end, key in rows
            if len(seen[key]) == 1 and all(end <= s.start or start >= s.end for s in known)
        ]
        for rows, known in zip(found, taken, strict=True)
    ]


def shaped(text: str, start: int, end: int) -> bool:
    """Return whether the token at text[start:end] looks like an identifier."""
    token = text[start:end]
    digits, letters = sum(c.isdigit() for c in token), sum(c.isalpha() for c in token)
    if digits:
        if _MEASURE.fullmatch(token):
            return False
        return digits >= _DIGITS or (digits >= 2 and letters >= 1) or (digits >= 2 and len(token) - digits >= 2)
    if any(c.isupper() for c in token[1:]) and any(c.islower() for c in token):
        return True
    if len(token) < 3 or not token[0].isupper() or not token[1:].islower():
        return False
    from engine.pii.detect.plain.plain_words import everyday_words
    from engine.pii.spans import folded

    before = text[:start].rstrip()
    inside = bool(before) and before[-1] not in ".!?:;\n\"'(" and "\n" not in text[len(before) : start]
    return inside and folded(token) not in everyday_words()
