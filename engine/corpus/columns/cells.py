"""Turn one cell of any format into text, and count cells that a spreadsheet would execute."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re

import numpy as np
import pandas as pd

# `=` starts a formula; `+ - @` do when a call, a pipe (DDE) or a sheet reference follows at once.
_FORMULA = re.compile(r"\s*(?:=\S|[+\-@]\w*\s*[(|!]|[+\-@]\S*\|)")


def is_missing(value: object) -> bool:
    """Return whether a cell is null, NaN or NaT (an empty string is not missing)."""
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def is_nested(value: object) -> bool:
    """Return whether a cell holds a list, a mapping or an array."""
    return isinstance(value, list | dict | tuple | set | np.ndarray)


def cell_text(value: object) -> str | None:
    """Return a cell as text: `98.0` as 98, dates in ISO form, nested values as JSON, null as None."""
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if is_nested(value):
        return json.dumps(plain(value), ensure_ascii=False, default=str)
    return str(value)


def plain(value: object) -> object:
    """Return nested arrays, tuples and sets as lists, the rest as it is."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def looks_like_formula(text: str) -> bool:
    """Return whether a spreadsheet would run this text as a formula or command."""
    return _FORMULA.match(text) is not None


def count_formulas(frame: pd.DataFrame) -> int:
    """Return the number of text cells that look like formulas."""
    return sum(isinstance(value, str) and looks_like_formula(value) for name in frame.columns for value in frame[name])
