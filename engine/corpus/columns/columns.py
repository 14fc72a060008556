"""Read the mapped columns of a table and check every cell that is used.

Privacy posture: messages name the part, the row and the rule, never the cell.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from engine.corpus.columns.cells import cell_text, is_missing, is_nested
from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import DataError

MAX_CHARACTERS = 1_000_000
MAX_TOTAL_CHARACTERS = 2_000_000_000
MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True)
class Columns:
    """The used cells of all rows that have text, as lists of one length."""

    rows: list[int] = field(repr=False)
    record_ids: list[str] = field(repr=False)
    texts: list[str] = field(repr=False)
    source_ids: list[str | None] = field(repr=False)
    labels: list[str | None] = field(repr=False)
    span_cells: list[object] = field(repr=False)
    kept: dict[str, list[str | None]] = field(repr=False)
    empties_dropped: int
    warnings: list[str]


def read_columns(table: pd.DataFrame, mapping: ColumnMapping, filename: str) -> Columns:
    """Return the checked columns; rows whose text is empty are left out and counted."""
    check_present(table, mapping, filename)
    numbers = row_numbers(table)
    reader = _CellReader(filename, numbers)
    texts = reader.texts(list(table[mapping.text]))
    if sum(map(len, texts)) > MAX_TOTAL_CHARACTERS:
        message = f"the texts hold more than {MAX_TOTAL_CHARACTERS:,} characters; split the file and import the parts"
        raise DataError(message, file=filename, rule="max total characters")
    kept_rows = [i for i, text in enumerate(texts) if text.strip()]
    if not kept_rows:
        message = "every text is empty; choose the column that holds the private text"
        raise DataError(message, file=filename, rule="texts are not empty")
    reader.refuse_numbers([texts[i] for i in kept_rows])

    def cells(column: str | None) -> list[object]:
        if column is None:
            return [None] * len(kept_rows)
        values = list(table[column])
        return [values[i] for i in kept_rows]

    reader = _CellReader(filename, [numbers[i] for i in kept_rows])
    empties = len(texts) - len(kept_rows)
    warnings = []
    if empties:
        warnings.append(f"{empties:,} rows without text were left out.")
    return Columns(
        rows=reader.rows,
        record_ids=reader.record_ids(cells(mapping.record_id), given=mapping.record_id is not None),
        texts=[texts[i] for i in kept_rows],
        source_ids=reader.names(cells(mapping.source_id), "source id"),
        labels=reader.names(cells(mapping.label), "label"),
        span_cells=cells(mapping.spans),
        kept={name: reader.kept(cells(name)) for name in mapping.keep},
        empties_dropped=empties,
        warnings=warnings,
    )


def row_numbers(table: pd.DataFrame) -> list[int]:
    """Return the numbers by which messages name the rows of a table."""
    return [int(row) for row in table.index] if table.index.name == "row" else list(range(1, len(table) + 1))


def read_texts(table: pd.DataFrame, column: str, filename: str) -> list[str]:
    """Return every text of a column, the empty string for a missing one, or raise `DataError`."""
    return _CellReader(filename, row_numbers(table)).texts(list(table[column]))


def check_present(table: pd.DataFrame, mapping: ColumnMapping, filename: str) -> None:
    """Raise `DataError` where a mapped column is not there, or there twice."""
    if table.columns.has_duplicates:
        raise DataError("two columns have the same name; rename one of them", file=filename, rule="unique column names")
    if not len(table):
        raise DataError("there are no records in it; export it again", file=filename, rule="at least one row")
    wanted = [*mapping.roles().items(), *(("keep", name) for name in mapping.keep)]
    for part, column in wanted:
        if column not in table.columns:
            message = (
                f"{part}: none of its {len(table.columns)} columns is called {column!r}; check the spelling, or look "
                "at the preview and choose another"
            )
            raise DataError(message, file=filename, rule="mapped column exists")


@dataclass(frozen=True)
class _CellReader:
    filename: str
    rows: list[int]

    def error(self, position: int, message: str, rule: str) -> DataError:
        return DataError(message, file=self.filename, row=self.rows[position], rule=rule)

    def texts(self, cells: Sequence[object]) -> list[str]:
        """Return every text, the empty string for a missing one."""
        found: list[str] = []
        for position, cell in enumerate(cells):
            if is_nested(cell) or not (isinstance(cell, str) or is_missing(cell)):
                message = "the text column holds something that is not text here; choose the column with the texts"
                raise self.error(position, message, "text is text")
            text = str(cell) if isinstance(cell, str) else ""
            if len(text) > MAX_CHARACTERS:
                message = (
                    f"this text is longer than {MAX_CHARACTERS:,} characters; split it into records of a few pages"
                )
                raise self.error(position, message, "max characters")
            self._check_characters(position, text, "text")
            found.append(text)
        return found

    def refuse_numbers(self, texts: Sequence[str]) -> None:
        """Refuse a column whose every value is a number or a date in digits."""
        if not any(any(character.isalpha() for character in text) for text in texts):
            message = "the text column holds no letters at all, only numbers; choose the column with the texts"
            raise DataError(message, file=self.filename, rule="text is text")

    def record_ids(self, cells: Sequence[object], given: bool) -> list[str]:
        """Return the given ids (unique and not empty), or made ones: 000001, 000002, …"""
        if not given:
            width = max(6, len(str(len(cells))))
            return [f"{number:0{width}d}" for number in range(1, len(cells) + 1)]
        first: dict[str, int] = {}
        ids: list[str] = []
        for position, name in enumerate(self.names(cells, "record id")):
            if name is None:
                message = "the record id is empty; fill it in, or map no column and let ids be made"
                raise self.error(position, message, "record ids are not empty")
            if name in first:
                message = (
                    f"its record id is already used in row {first[name]}; make ids unique, or map no column and let "
                    "ids be made"
                )
                raise self.error(position, message, "record ids are unique")
            first[name] = self.rows[position]
            ids.append(name)
        return ids

    def names(self, cells: Sequence[object], part: str) -> list[str | None]:
        """Return short one-line values (ids and labels) without blanks around them, None for empty."""
        found: list[str | None] = []
        same: dict[str, str] = {}  # names that recur are kept once
        for position, cell in enumerate(cells):
            if is_nested(cell):
                message = f"the {part} is a list or an object; choose a column of plain values"
                raise self.error(position, message, f"{part} is a plain value")
            name = (cell_text(cell) or "").strip()
            if len(name) > MAX_NAME_CHARACTERS:
                message = f"the {part} is longer than {MAX_NAME_CHARACTERS} characters; choose a column of short values"
                raise self.error(position, message, f"{part} is short")
            self._check_characters(position, name, part)
            if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in name):
                message = f"the {part} holds a line break or control character; choose a column of plain values"
                raise self.error(position, message, f"{part} is one line")
            found.append(same.setdefault(name, name) if name and part != "record id" else name or None)
        return found

    def kept(self, cells: Sequence[object]) -> list[str | None]:
        """Return the values of a kept column as text."""
        found = [cell_text(cell) for cell in cells]
        for position, value in enumerate(found):
            self._check_characters(position, value or "", "kept column")
        return found

    def _check_characters(self, position: int, text: str, part: str) -> None:
        if "\x00" in text:
            message = f"the {part} holds a NUL character, which text never does; export the file again"
            raise self.error(position, message, "no NUL characters")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            message = f"the {part} holds half of a character (a lone surrogate); export the file again as UTF-8"
            raise self.error(position, message, "whole characters") from None
