"""Parse one JSON value strictly: no repeated keys, no runaway nesting, errors without content."""

from __future__ import annotations

import json

from engine.corpus.readers.base import Source, check_cells
from engine.json_types import JSON


class _RepeatedKeyError(ValueError):
    pass


def check_values(source: Source, text: str) -> None:
    """Refuse a text of more values than memory holds, before it is parsed: each follows one of three marks."""
    check_cells(source, text.count(",") + text.count("[") + text.count("{"))


def parse_json(source: Source, text: str, row: int | None, hint: str) -> JSON:
    """Return the parsed value, or raise a data error that names the row."""
    try:
        value: JSON = json.loads(text, object_pairs_hook=_object, parse_constant=lambda _: None)
        return value
    except _RepeatedKeyError:
        message = "an object has the same key twice; rename one of them"
        raise source.error(message, "unique column names", row=row) from None
    except json.JSONDecodeError as error:
        where = row if row is not None else error.lineno
        message = f"this is not valid JSON (broken at character {error.colno} of the line); {hint}"
        raise source.error(message, "valid JSON", row=where) from None
    except (ValueError, RecursionError):
        message = f"this JSON nests too deeply or holds a number too long to read; {hint}"
        raise source.error(message, "valid JSON", row=row) from None


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _RepeatedKeyError
    return result
