"""Redaction styles, one a file, and `redact`, which applies one to a record.

Privacy posture: the result holds text around the spans; no value reaches a message or a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import UserError
from engine.pii.redact.base import Memory, Redactor, join_overlapping
from engine.pii.redact.generalise import Generalise
from engine.pii.redact.mask import Mask
from engine.pii.redact.numbered import Numbered
from engine.pii.redact.placeholder import Placeholder
from engine.pii.redact.remove import Remove
from engine.pii.spans import Span

REDACTORS: tuple[Redactor, ...] = (Placeholder(), Numbered(), Mask(), Remove(), Generalise())

__all__ = ["REDACTORS", "Redacted", "Redactor", "join_overlapping", "redact"]


@dataclass(frozen=True)
class Redacted:
    """A redacted text and where the replacements stand in it; removed values leave no span."""

    text: str
    spans_in_output: tuple[Span, ...]


def redact(text: str, spans: Sequence[Span], style: str = "placeholder") -> Redacted:
    """Return the text with the value of every span replaced in one style.

    Args:
        text: the record's text.
        spans: what to replace, half-open code-point offsets, in any order; overlaps are joined.
        style: id of one of `REDACTORS`.

    Raises:
        UserError: there is no such style.
        DataError: a span lies outside the text.
    """
    redactor = next((r for r in REDACTORS if r.id == style), None)
    if redactor is None:
        raise UserError(f"style must be one of {', '.join(r.id for r in REDACTORS)}; got {style!r}")
    memory = Memory()
    parts: list[str] = []
    placed: list[Span] = []
    at = length = 0
    for span in join_overlapping(text, spans):
        new = redactor.replacement(text[span.start : span.end], span.label, memory)
        before = text[at : span.start]
        at = span.end
        if not new and before[-1:] in ("", " ") and text[at : at + 1] in (" ", ".", ",", ";", ""):
            before = before[:-1]
            if not before and not length and text[at : at + 1] == " ":
                at += 1
        parts += [before, new]
        length += len(before)
        if new:
            end = length + len(new)
            placed.append(
                Span(span.record_id, length, end, span.label, span.score, span.recogniser, span.identifier_type)
            )
        length += len(new)
    parts.append(text[at:])
    return Redacted("".join(parts), tuple(placed))
