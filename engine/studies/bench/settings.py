"""A method's parameters as one line of text: `name=value, name=value`."""

from __future__ import annotations

import json
import re

from engine.errors import UserError
from engine.json_types import JSON

_NEXT = re.compile(r"[,\n]\s*(?=[A-Za-z_][A-Za-z0-9_]*\s*=)")


def parsed_settings(text: str) -> dict[str, JSON]:
    """Return the parameters by name; a value is JSON where it parses as JSON, else text.

    A comma ends a value only where another `name=` follows, so that lists need no quotes.

    Raises:
        UserError: a part is not of the form name=value.
    """
    found: dict[str, JSON] = {}
    for part in _NEXT.split(text.strip()) if text.strip() else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier():
            raise UserError("settings: write name=value, separated by commas, such as: epochs=3, rank=8")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found
