"""What JSON holds, as types: for what is read from a file, a column or a server before anything is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
JSONObject: TypeAlias = Mapping[str, JSON]


def as_object(value: JSON) -> JSONObject:
    """Return an object as it is, and anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: JSON) -> Sequence[JSON]:
    """Return a list as it is, and anything else as an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def as_number(value: JSON) -> float | None:
    """Return a number, NaN too, as a float; None for anything else, true and false among them."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
