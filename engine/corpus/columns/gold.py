"""Read gold spans that came with the records: `[{start, end, label, identifier_type, entity_id}]` a record.

Offsets are half-open and count Unicode code points. Labels are only upper-cased here; `engine.pii`
maps them to its own. Spellings of other tools for the same keys are understood.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
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


class GoldSpans:
    """The gold spans of a file, in the order of its records: five numbers a span, and each name once.

    A million records may have millions of spans; as objects or as a table they would take gigabytes.
    """

    def __init__(self) -> None:
        self._record, self._start, self._end = array("q"), array("i"), array("i")
        self._label, self._kind, self._entity = _Names(), _Names(), _Names()

    def __len__(self) -> int:
        return len(self._record)

    @property
    def records(self) -> int:
        """Return how many records have a span."""
        return len(np.unique(np.frombuffer(self._record, dtype=np.int64))) if len(self) else 0

    def add(self, record: int, spans: Iterable[GoldSpan]) -> None:
        """Add the spans of a record, by its number from 0."""
        for span in spans:
            self._record.append(record)
            self._start.append(span.start)
            self._end.append(span.end)
            self._label.append(span.label)
            self._kind.append(span.identifier_type)
            self._entity.append(span.entity_id)

    def numbers(self, begin: int = 0, end: int | None = None) -> Sequence[int]:
        """Return the numbers of the records, from 0, of some of the spans."""
        return self._record[begin:end]

    def frame(self, record_ids: Sequence[str], begin: int = 0, end: int | None = None) -> pd.DataFrame:
        """Return some of the spans as a table: one row a gold span, score 1, recogniser `gold`.

        Args:
            record_ids: the ids of all records. begin, end: which spans, all by default.
        """
        records = self._record[begin:end]
        first, count, width = begin + 1, len(records), max(6, len(str(len(self))))
        return pd.DataFrame(
            {
                "span_id": pd.Series([f"g-{number:0{width}d}" for number in range(first, first + count)], dtype=object),
                "record_id": pd.Series([record_ids[record] for record in records], dtype=object),
                "start": pd.Series(self._start[begin:end], dtype="int64"),
                "end": pd.Series(self._end[begin:end], dtype="int64"),
                "label": pd.Series(self._label.some(begin, end), dtype=object),
                "score": pd.Series([1.0] * count, dtype="float64"),
                "recogniser": pd.Series(["gold"] * count, dtype=object),
                "identifier_type": pd.Series(self._kind.some(begin, end), dtype=object),
                "entity_id": pd.Series(self._entity.some(begin, end), dtype=object),
            }
        )


class _Names:
    """A list of names, each kept once."""

    def __init__(self) -> None:
        self._known: dict[str | None, int] = {}
        self._places = array("i")

    def append(self, name: str | None) -> None:
        self._places.append(self._known.setdefault(name, len(self._known)))

    def some(self, begin: int, end: int | None) -> list[str | None]:
        names = list(self._known)
        return [names[place] for place in self._places[begin:end]]


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
