"""Refuse halves of characters: JSON can write one surrogate of a pair, which no text file can hold."""

from __future__ import annotations

import pandas as pd

from engine.corpus.readers.base import Source

ADVICE = "holds half of a character (a lone surrogate); export the file again as UTF-8"


def refuse_halves(source: Source, frame: pd.DataFrame) -> None:
    """Raise a data error that names the row and the column's position."""
    for position, (_, column) in enumerate(frame.items(), 1):
        for row, value in zip(frame.index, column):
            if is_half(value):
                raise source.error(f"the value in column {position} {ADVICE}", "whole characters", row=int(row))


def is_half(value: object) -> bool:
    """Return whether a value, or one inside it, holds a lone surrogate."""
    if isinstance(value, str):
        if value.isascii():
            return False
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return True
        return False
    if isinstance(value, dict):
        return any(map(is_half, value)) or any(map(is_half, value.values()))
    return isinstance(value, list | tuple) and any(map(is_half, value))
