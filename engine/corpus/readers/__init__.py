"""Readers: one file format a file, one registry, one way to preview and one to read everything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from engine.corpus.columns.cells import cell_text, count_formulas
from engine.corpus.columns.columns import MAX_CHARACTERS
from engine.corpus.columns.mapping import suggest_mapping
from engine.corpus.columns.preview import FilePreview, first_lettered
from engine.corpus.columns.proposals import person_column
from engine.corpus.readers.base import Format, RawTable, ReadOptions, Source
from engine.corpus.readers.characters import refuse_halves
from engine.corpus.readers.compressed import unpacked
from engine.corpus.readers.delimited import CSV, TSV
from engine.corpus.readers.encoding import CHECK_LETTERS
from engine.corpus.readers.excel import EXCEL
from engine.corpus.readers.json_files.json_list import JSON
from engine.corpus.readers.json_files.jsonl import JSONL
from engine.corpus.readers.parquet import PARQUET
from engine.corpus.readers.plain_text.text_files import SUFFIXES as TEXT_SUFFIXES
from engine.corpus.readers.plain_text.text_folder import FOLDER
from engine.corpus.readers.plain_text.zip_of_text import ZIP
from engine.errors import NotFoundError

FORMATS: tuple[Format, ...] = (CSV, TSV, JSONL, JSON, PARQUET, EXCEL, ZIP, FOLDER)
SUFFIXES: tuple[str, ...] = tuple(suffix for item in FORMATS for suffix in item.suffixes)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".heic", ".svg")
SAMPLE_ROWS = 5_000

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "FilePreview",
    "Format",
    "ReadOptions",
    "example_file",
    "get_format",
    "read_preview",
    "read_table",
]


def get_format(format_id: str) -> Format:
    """Return the format with this id."""
    for item in FORMATS:
        if item.id == format_id:
            return item
    known = ", ".join(item.id for item in FORMATS)
    raise NotFoundError(f"format: no format is called {format_id!r}; choose one of {known}")


def example_file(format_id: str) -> tuple[str, bytes]:
    """Return (file name, bytes) of a small made-up file in this format.

    The folder's example is a zip archive of the folder: unpack it and give its path.
    """
    return get_format(format_id).example()


def read_table(source: Path | bytes, filename: str, options: ReadOptions | None = None) -> pd.DataFrame:
    """Return the whole file as a frame of object columns.

    The index `row` holds row numbers as the file's own program counts them (a spreadsheet's header
    is row 1; lines of JSON Lines; items of JSON and Parquet from 1; entries of an archive).
    `attrs["warnings"]` lists what the custodian should know.

    Raises:
        DataError: the file breaks a rule; the message names file, row and rule.
    """
    _, raw = _read(source, filename, options or ReadOptions(), None)
    raw.frame.attrs["warnings"] = [*raw.warnings, *_formula_warnings(raw.frame)]
    return raw.frame


def read_preview(
    source: Path | bytes, filename: str, options: ReadOptions | None = None, rows: int = 10
) -> FilePreview:
    """Return the first rows as text, with what was detected and a suggested mapping."""
    options = options or ReadOptions()
    item, raw = _read(source, filename, options, max(rows, SAMPLE_ROWS))
    first = raw.frame.head(rows)
    # Lists first: `map` would turn text into pandas' own string type, which changes and refuses some of it.
    shown = pd.DataFrame(
        {name: pd.Series([cell_text(value) for value in first[name]], dtype=object) for name in first.columns}
    ).set_index(first.index)
    suggested = suggest_mapping(raw.frame)
    others = [column for role, column in suggested.roles().items() if role != "source_id"]
    person = person_column(raw.frame, others, suggested.source_id)
    if person is not None and person.by == "name":
        suggested = replace(suggested, source_id=person.column)
    guessed = any(CHECK_LETTERS in warning for warning in raw.warnings)
    return FilePreview(
        filename=_display_name(source, filename),
        format=item.id,
        encoding=raw.encoding,
        delimiter=raw.delimiter,
        columns=[str(name) for name in raw.frame.columns],
        rows=shown,
        total_rows=raw.total_rows,
        suggested=suggested,
        warnings=[*_long_warnings(raw.frame), *raw.warnings, *_formula_warnings(raw.frame)],
        person=person,
        lettered=first_lettered(raw.frame) if guessed else None,
        looked_at=len(raw.frame),
    )


def _read(source: Path | bytes, filename: str, options: ReadOptions, limit: int | None) -> tuple[Format, RawTable]:
    name = _display_name(source, filename)
    if isinstance(source, bytes | bytearray | memoryview):
        origin = Source(name, data=bytes(source))
    else:
        origin = Source(name, path=Path(source))
    if not origin.is_folder:
        origin.check_size(options)
    origin = unpacked(origin, options)
    item = _format_of(origin)
    raw = item.read(origin, options, limit)
    refuse_halves(origin, raw.frame)
    return item, raw


def _display_name(source: Path | bytes, filename: str) -> str:
    name = filename or (Path(source).name if isinstance(source, Path | str) else "")
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2] or "file"


def _format_of(origin: Source) -> Format:
    """Return the format by the name's ending, else by the first bytes of the content."""
    if origin.is_folder:
        return FOLDER
    lower = origin.filename.lower()
    for item in FORMATS:
        if lower.endswith(item.suffixes):
            return item
    if lower.endswith((".xls", ".ods", ".xlsb")):
        raise origin.error("this spreadsheet format is not read; save it as .xlsx or .csv", "known format")
    if lower.endswith((".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz")):
        raise origin.error("this kind of archive is not read; unpack it first", "known format")
    if lower.endswith((".doc", ".odt", ".rtf", ".pages")):
        raise origin.error("this kind of document is not read; save it as .docx, .pdf or .txt", "known format")
    if lower.endswith(PICTURES):
        message = "this is a picture; export the text as CSV, Excel, or a ZIP of text, Word or PDF files"
        raise origin.error(message, "known format")
    if lower.endswith(TEXT_SUFFIXES):
        message = "one text would be one record; pack .txt, .docx or .pdf files as a zip, or use a table such as .csv"
        raise origin.error(message, "known format")
    if origin.head(4) == b"PAR1":
        return PARQUET
    known = ", ".join(SUFFIXES)
    message = f"the name's ending is not one of {known}, also packed as .gz; export the text as CSV or Excel"
    raise origin.error(message, "known format")


def _formula_warnings(frame: pd.DataFrame) -> list[str]:
    count = count_formulas(frame)
    if not count:
        return []
    return [
        f"{count} cells look like spreadsheet formulas or commands. They are kept as plain text, never run, and "
        "made harmless in every spreadsheet export."
    ]


def _long_warnings(frame: pd.DataFrame) -> list[str]:
    """Return a sentence a column on cells that an import would refuse as text, of the rows that were read."""
    found = []
    for name in frame.columns:
        rows = [row for row, cell in frame[name].items() if isinstance(cell, str) and len(cell) > MAX_CHARACTERS]
        if rows:
            more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
            found.append(
                f"Row {rows[0]}{more}: {str(name)!r} is longer than {MAX_CHARACTERS:,} characters there, so as the "
                "column of texts it would be refused. Split such a text into records of a few pages."
            )
    return found
