"""JSON: one list of objects, one record an object."""

from __future__ import annotations

import json

from engine.corpus.readers.base import Format, RawTable, ReadOptions, Source, check_rows
from engine.corpus.readers.encoding import decode
from engine.corpus.readers.example_rows import example_rows
from engine.corpus.readers.json_files.json_text import check_values, parse_json
from engine.corpus.readers.json_files.objects import objects_to_frame

HINT = "expected a list of objects, [{…}, {…}]; a file with one object a line is JSON Lines and ends in .jsonl"


def read_json(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return one row an object of the list; row numbers count from 1."""
    decoded = decode(source, source.read(options), options.encoding)
    if not decoded.text.strip():
        raise source.error("the file holds nothing but blanks; export it again", "not empty")
    check_values(source, decoded.text)
    value = parse_json(source, decoded.text, None, HINT)
    if not isinstance(value, list):
        raise source.error(f"this JSON is not a list; {HINT}", "a list of objects")
    for number, item in enumerate(value, 1):
        if not isinstance(item, dict):
            raise source.error(f"this item is not an object with named values; {HINT}", "a list of objects", row=number)
    check_rows(source, len(value), options)
    kept = value if limit is None else value[:limit]
    frame = objects_to_frame(source, kept, list(range(1, len(kept) + 1)))
    return RawTable(frame, len(value), decoded.encoding, None, decoded.warnings)


def _example() -> tuple[str, bytes]:
    return "understudy-example.json", json.dumps(example_rows(), ensure_ascii=False, indent=2).encode("utf-8")


JSON = Format("json", "JSON (a list of objects)", (".json",), read_json, _example)
