"""CSV and TSV: a header row, then one record a row; quoting as spreadsheets write it (RFC 4180)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

from engine.corpus.readers.base import (
    Format,
    RawTable,
    ReadOptions,
    Source,
    check_cells,
    check_rows,
    header_names,
    make_frame,
)
from engine.corpus.readers.encoding import decode
from engine.corpus.readers.example_rows import example_rows
from engine.errors import UserError

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_CHARACTERS = 64 * 1024
COUNT_BELOW_BYTES = 64 * 2**20
_FIELD_LIMIT = 2**31 - 1


def detect_delimiter(text: str) -> str:
    """Return the delimiter under which the first rows agree best with the header.

    A file of one column has none: then the candidate that never splits a sampled row is returned.
    """
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > SAMPLE_CHARACTERS:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    best, best_score, never_splits = ",", (0.0, 0), None
    for delimiter in DELIMITERS:
        widths = _widths(sample, delimiter)
        if not widths:
            continue
        if never_splits is None and set(widths) == {1}:
            never_splits = delimiter
        agreeing = sum(width == widths[0] for width in widths) / len(widths)
        if widths[0] > 1 and (agreeing, widths[0]) > best_score:
            best, best_score = delimiter, (agreeing, widths[0])
    return best if best_score > (0.0, 0) else (never_splits or ",")


def read_delimited(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return the rows of a delimited file; with `limit`, the first ones and the number of all."""
    if options.delimiter is not None and len(options.delimiter) != 1:
        raise UserError("delimiter: expected one character, for example , or ; or a tab; choose one of them")
    decoded = decode(source, source.read(options), options.encoding)
    if not decoded.text.strip():
        raise source.error("the file holds nothing but blanks; export it again", "not empty")
    text, hint = _without_hint(decoded.text)
    delimiter = options.delimiter or hint or detect_delimiter(text)
    check_cells(source, text.count(delimiter))
    rows = _rows(source, text, delimiter, skipped=1 if hint else 0)
    names, warnings = header_names(source, next(rows)[1])
    numbers: list[int] = []
    kept: list[list[str]] = []
    total: int | None = 0
    for number, row in rows:
        if len(row) != len(names):
            message = (
                f"this row has {len(row)} values and the header {len(names)}; put texts that hold the delimiter or "
                "a line break in double quotes, or choose the right delimiter"
            )
            raise source.error(message, "as many values as columns", row=number)
        total = (total or 0) + 1
        if limit is None or len(kept) < limit:
            numbers.append(number)
            kept.append(row)
            if len(kept) > options.max_rows:
                break
        elif len(text) > COUNT_BELOW_BYTES:
            total = None
            break
    check_rows(source, len(kept), options)
    columns = dict(zip(names, zip(*kept)))
    frame = make_frame(columns, numbers)
    return RawTable(frame, total, decoded.encoding, delimiter, (*decoded.warnings, *warnings))


def _without_hint(text: str) -> tuple[str, str | None]:
    """Return the text without Excel's first line `sep=;`, and the delimiter that line names."""
    match = re.match(r"sep=(.)\r?\n", text, flags=re.IGNORECASE)
    return (text[match.end() :], match.group(1)) if match else (text, None)


def _widths(sample: str, delimiter: str, rows: int = 100) -> list[int]:
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    widths: list[int] = []
    try:
        for row in reader:
            if row:
                widths.append(len(row))
            if len(widths) == rows:
                break
    except csv.Error:
        return []
    return widths


def _rows(source: Source, text: str, delimiter: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number as a spreadsheet counts, cells); empty lines count but are left out."""
    csv.field_size_limit(_FIELD_LIMIT)
    # Without strict an opened quote that never closes would swallow the rest of the file in silence.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = skipped
    while True:
        number += 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            message = (
                "the quotes of this row do not pair up; close each opened quote, double a quote inside a quoted "
                "text, or choose the right delimiter"
            )
            raise source.error(message, "paired quotes", row=number) from None
        if row:
            yield number, row


def _example(delimiter: str, name: str) -> tuple[str, bytes]:
    buffer = io.StringIO(newline="")
    rows = example_rows()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(rows[0])
    writer.writerows([*list(row.values())[:-1], json.dumps(row["spans"])] for row in rows)
    return name, buffer.getvalue().encode("utf-8")


CSV = Format(
    "csv", "Comma-separated values (CSV)", (".csv",), read_delimited, lambda: _example(",", "understudy-example.csv")
)
TSV = Format(
    "tsv",
    "Tab-separated values (TSV)",
    (".tsv", ".tab"),
    read_delimited,
    lambda: _example("\t", "understudy-example.tsv"),
)
