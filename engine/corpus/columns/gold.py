"""Read gold spans that came with the records: `[{start, end, label, identifier_type, entity_id}]` a record.

Offsets are half-open and count Unicode code points. Labels are only upper-cased here; `engine.pii`
maps them to its own. Spellings of other tools for the same keys are understood.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.corpus.columns.cells import is_missing, plain

_START = ("start", "start_position", "start_offset", "begin")
_END = ("end", "end_position", "end_offset", "stop")
_LABEL = ("label", "entity_type", "type", "entity_group", "entity", "tag")
_SURFACE = ("text", "entity_value", "span_text", "surface")
_TYPES = {"DIRECT": "direct", "QUASI": "quasi", "NONE": "none", "NO_MASK": "none"}


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """One gold span of one record; `identifier_type` and `entity_id` are None when the file does not say."""

    start: int
    end: int
    label: str
    identifier_type: str | None
    entity_id: str | None = None


class SpanRuleError(ValueError):
    """A spans cell breaks a rule; the message says which, without content."""

    def __init__(self, message: str, rule: str) -> None:
        super().__init__(message)
        self.rule = rule


def parse_spans_cell(cell: object) -> list[dict[str, object]]:
    """Return a cell's span objects; empty for null, an empty string or an empty list."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if not isinstance(cell, list | tuple) and is_missing(cell):
        return []
    if isinstance(cell, str):
        if not cell.strip():
            return []
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            message = 'its spans are not valid JSON; write them as [{"start": 0, "end": 4, "label": "PERSON"}]'
            raise SpanRuleError(message, "spans are JSON") from None
    if cell is None:
        return []
    if not isinstance(cell, list | tuple) or not all(isinstance(item, dict) for item in cell):
        raise SpanRuleError("its spans are not a list of objects with start, end and label", "spans are a list")
    return [{str(key): plain(value) for key, value in item.items()} for item in cell]


def shifted(spans: Sequence[Mapping[str, object]], by: int) -> list[dict[str, object]]:
    """Return span objects as they stand behind so many further characters; `read_spans` checks them."""
    if not by:
        return [dict(span) for span in spans]
    moved = []
    for span in spans:
        ends = {name: value for name in (*_START, *_END) if (value := span.get(name)) is not None}
        moved.append({**span, **{name: _moved(value, by) for name, value in ends.items()}})
    return moved


def _moved(value: object, by: int) -> object:
    """Return an offset further on; what is none stays as it is and is refused as that."""
    return value + by if isinstance(value, int | float) and not isinstance(value, bool) else value


def read_spans(cell: object, text: str) -> list[GoldSpan]:
    """Return the valid, sorted, distinct spans of one record, or raise `SpanRuleError`."""
    spans = {_read_span(item, text) for item in parse_spans_cell(cell)}
    return sorted(
        spans, key=lambda span: (span.start, span.end, span.label, span.identifier_type or "", span.entity_id or "")
    )


def spans_frame(record_ids: Sequence[str], spans: Sequence[GoldSpan]) -> pd.DataFrame:
    """Return the spans table: one row a gold span, score 1, recogniser `gold`."""
    width = max(6, len(str(len(spans))))
    return pd.DataFrame(
        {
            "span_id": pd.Series([f"g-{number:0{width}d}" for number in range(1, len(spans) + 1)], dtype=object),
            "record_id": pd.Series(list(record_ids), dtype=object),
            "start": pd.Series([span.start for span in spans], dtype="int64"),
            "end": pd.Series([span.end for span in spans], dtype="int64"),
            "label": pd.Series([span.label for span in spans], dtype=object),
            "score": pd.Series([1.0] * len(spans), dtype="float64"),
            "recogniser": pd.Series(["gold"] * len(spans), dtype=object),
            "identifier_type": pd.Series([span.identifier_type for span in spans], dtype=object),
            "entity_id": pd.Series([span.entity_id for span in spans], dtype=object),
        }
    )


def _read_span(item: dict[str, object], text: str) -> GoldSpan:
    start, end = _offset(item, _START, "start"), _offset(item, _END, "end")
    if not 0 <= start < end <= len(text):
        message = (
            f"a span's offsets do not lie inside its text of {len(text)} characters; they count Unicode characters "
            "from 0 and end after the last one"
        )
        raise SpanRuleError(message, "0 <= start < end <= length")
    label = _first(item, _LABEL)
    if not isinstance(label, str) or not label.strip():
        raise SpanRuleError("a span has no label; give each span one", "spans have a label")
    if len(label) > 80 or not label.isprintable():
        raise SpanRuleError("a span's label is not a short plain name; use names such as PERSON", "spans have a label")
    surface = _first(item, _SURFACE)
    if isinstance(surface, str) and surface != text[start:end]:
        message = (
            "a span's own text differs from what its offsets cover; offsets count Unicode characters, not bytes or "
            "UTF-16 units, of the text as it is in this column"
        )
        raise SpanRuleError(message, "offsets match the text")
    kind = _identifier_type(item.get("identifier_type"))
    return GoldSpan(start, end, label.strip().upper(), kind, _entity_id(item.get("entity_id")))


def _entity_id(value: object) -> str | None:
    """Return what a file calls the entity that a span mentions, as text."""
    return None if is_missing(value) or isinstance(value, list | dict) else str(value).strip() or None


def _offset(item: dict[str, object], names: Sequence[str], what: str) -> int:
    value = _first(item, names)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpanRuleError(f"a span has no whole number as its {what}; give start and end", "offsets are numbers")
    return value


def _identifier_type(value: object) -> str | None:
    if is_missing(value) or value == "":
        return None
    kind = _TYPES.get(str(value).strip().upper())
    if kind is None:
        message = "a span's identifier_type is none of direct, quasi and none; use one of them or leave it out"
        raise SpanRuleError(message, "identifier_type is direct, quasi or none")
    return kind


def _first(item: dict[str, object], names: Sequence[str]) -> object:
    return next((item[name] for name in names if item.get(name) is not None), None)
