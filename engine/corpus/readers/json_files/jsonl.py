"""JSON Lines: one JSON object a line."""

from __future__ import annotations

import json
from typing import Any

from engine.corpus.readers.base import Format, RawTable, ReadOptions, Source, check_rows
from engine.corpus.readers.encoding import decode
from engine.corpus.readers.example_rows import example_rows
from engine.corpus.readers.json_files.json_text import check_values, parse_json
from engine.corpus.readers.json_files.objects import objects_to_frame

HINT = "correct the line or export it again as one JSON object a line"


def read_jsonl(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return one row an object; a key that a line lacks is null there."""
    decoded = decode(source, source.read(options), options.encoding)
    check_values(source, decoded.text)
    objects: list[dict[str, Any]] = []
    numbers: list[int] = []
    total = 0
    for number, line in enumerate(decoded.text.split("\n"), 1):
        if not line.strip():
            continue
        total += 1
        if limit is not None and len(objects) >= limit:
            continue
        value = parse_json(source, line, number, HINT)
        if not isinstance(value, dict):
            message = f"expected a JSON object with named values; {HINT}"
            raise source.error(message, "one JSON object a line", row=number)
        objects.append(value)
        numbers.append(number)
        if len(objects) > options.max_rows:
            break
    if total == 0:
        raise source.error("the file holds nothing but blanks; export it again", "not empty")
    check_rows(source, len(objects), options)
    frame = objects_to_frame(source, objects, numbers)
    return RawTable(frame, total, decoded.encoding, None, decoded.warnings)


def _example() -> tuple[str, bytes]:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in example_rows())
    return "understudy-example.jsonl", "".join(lines).encode("utf-8")


JSONL = Format("jsonl", "JSON Lines", (".jsonl", ".ndjson"), read_jsonl, _example)
