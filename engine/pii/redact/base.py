"""What a redaction style is, and how overlapping spans are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.errors import DataError
from engine.pii.spans import Span


@dataclass
class Memory:
    """What a style remembers inside one record: which values it has numbered."""

    numbers: dict[str, dict[str, int]] = field(default_factory=dict)


class Redactor(Protocol):
    """One style of redaction; one file each."""

    @property
    def id(self) -> str:
        """Return the name of the style."""
        ...

    @property
    def title(self) -> str:
        """Return what the review page calls it."""
        ...

    @property
    def sentence(self) -> str:
        """Return what it does, in one sentence."""
        ...

    def replacement(self, value: str, label: str, memory: Memory) -> str:
        """Return what stands in for `value`."""
        ...


def join_overlapping(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the spans in order, with overlapping ones joined under the label of the longest.

    Raises:
        DataError: a span lies outside the text.
    """
    joined: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end, s.label)):
        if not 0 <= span.start <= span.end <= len(text):
            raise DataError("a span lies outside its record; import or detect the spans again", rule="span offsets")
        if span.start == span.end:
            continue
        if joined and span.start < joined[-1].end:
            before = joined[-1]
            longer = span if span.end - span.start > before.end - before.start else before
            joined[-1] = Span(
                before.record_id, before.start, max(before.end, span.end), longer.label, longer.score,
                longer.recogniser, "direct" if "direct" in (before.identifier_type, span.identifier_type)
                else longer.identifier_type,
            )  # fmt: skip
        else:
            joined.append(span)
    return joined
