"""What the Load page shows before anything is imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.columns.proposals import PersonColumn

ROOM = 50  # characters that are shown on each side of a letter; of a text's beginning or end as many in all
_BEYOND = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True)
class Lettered:
    """A row with a letter that ASCII lacks: its number as the file counts rows, and a text cut around that letter."""

    row: int
    text: str = field(repr=False)


@dataclass(frozen=True)
class FilePreview:
    """The first rows of a file as text (missing cells None), what was detected, and what is proposed.

    lettered: column -> the first row that was read in which it has a letter that ASCII lacks, where the encoding is a
    guess that such letters show to be right or wrong; else None. A column without one is not in it. looked_at: how many
    rows were read.
    """

    filename: str
    format: str
    encoding: str | None
    delimiter: str | None
    columns: list[str]
    rows: pd.DataFrame = field(repr=False)
    total_rows: int | None
    suggested: ColumnMapping
    warnings: list[str]
    person: PersonColumn | None = None
    lettered: dict[str, Lettered] | None = field(default=None, repr=False)
    looked_at: int = 0


def first_lettered(frame: pd.DataFrame) -> dict[str, Lettered]:
    """Return column -> its first row with a letter that ASCII lacks, or else with another such character.

    A wrong encoding may turn every letter into a mark, so that where no letter is the first mark is shown.
    """
    found: dict[str, Lettered] = {}
    for name in frame.columns:
        cells = [(row, cell) for row, cell in zip(frame.index, frame[name], strict=True) if isinstance(cell, str)]
        for wanted in (str.isalpha, lambda mark: not mark.isspace()):
            if (one := _first(cells, wanted)) is not None:
                found[str(name)] = one
                break
    return found


def _first(cells: Sequence[tuple[int, str]], wanted: Callable[[str], bool]) -> Lettered | None:
    for row, cell in cells:
        at = next((one.start() for one in _BEYOND.finditer(cell) if wanted(one.group())), None)
        if at is not None:
            return Lettered(int(row), _around(cell, at))
    return None


def _around(text: str, at: int) -> str:
    """Return what stands around a place of a text, on one line, with a mark where it was cut."""
    begin = max(0, min(at - ROOM, len(text) - 2 * ROOM - 1))
    end = begin + 2 * ROOM + 1
    return ("… " if begin else "") + " ".join(text[begin:end].split()) + (" …" if end < len(text) else "")
