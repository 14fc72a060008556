"""Parquet: any flat table; nested columns may only serve as spans, binary ones are left out."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

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
from engine.corpus.readers.example_rows import example_rows

BATCH_ROWS = 1_024


def read_parquet(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return the rows of a Parquet file, read batch by batch under the limits; rows count from 1."""
    data = source.handle(options)
    try:
        file = pq.ParquetFile(data)
        names, warnings = header_names(source, file.schema_arrow.names, None)
        text_like = [i for i, kind in enumerate(file.schema_arrow.types) if not _is_binary(kind)]
        wanted = options.columns if options.columns and set(options.columns) <= set(names) else names
        kept = [i for i in text_like if names[i] in wanted]
        total = file.metadata.num_rows
        check_rows(source, total, options)
        check_cells(source, min(total, limit or total) * len(kept))
        # Columns are picked after reading a batch: nested ones go by leaf names, which may repeat.
        columns: dict[str, list[object]] = {names[i]: [] for i in kept}
        rows = 0
        for batch in _batches(source, file, options, limit):
            for i in kept:
                columns[names[i]] += _values(source, i + 1, rows, pa.chunked_array([batch.column(i)]))
            rows += batch.num_rows
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        message = "this cannot be read as Parquet; the file may be cut short or protected, export it again"
        raise source.error(message, "readable Parquet") from None
    if len(text_like) < len(names):
        warnings.append(f"{len(names) - len(text_like)} columns hold binary data, which is no text; they are left out.")
    frame = make_frame(columns, range(1, rows + 1))
    return RawTable(frame, total, None, None, tuple(warnings))


def _batches(source: Source, file: pq.ParquetFile, options: ReadOptions, limit: int | None) -> Iterator[pa.RecordBatch]:
    rows = size = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS):
        # A dictionary-coded column may unpack to thousands of times its size.
        size += batch.nbytes
        if size > options.max_unpacked_bytes:
            raise source.error(
                "the table unpacks to more than the limit; split it and import the parts", "max unpacked bytes"
            )
        yield batch if limit is None else batch.slice(0, limit - rows)
        rows += batch.num_rows
        if limit is not None and rows >= limit:
            break


def _is_binary(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _values(source: Source, position: int, before: int, column: pa.ChunkedArray) -> list[object]:
    """Return a column's values; name the row of the first one that is none, such as a date of the year 300,000.

    Args:
        position: of the column, from 1. before: rows before these.
    """
    try:
        return _converted(column)
    except Exception:  # noqa: BLE001 - dates out of range, broken text, unknown time zones: many kinds, with content
        row = before + next((i for i in range(len(column)) if not _convertible(column.slice(i, 1))), 0) + 1
        message = f"the value in column {position} is no valid text, number or date; correct it and export again"
        raise source.error(message, "readable values", row=row) from None


def _converted(column: pa.ChunkedArray) -> list[object]:
    if pa.types.is_timestamp(column.type):  # nanoseconds do not fit Python's datetime
        values = [None if value is pd.NaT else value for value in column.to_pandas(timestamp_as_object=False)]
        if any(value is not None and not datetime.MINYEAR <= value.year <= datetime.MAXYEAR for value in values):
            raise ValueError
        return values
    return column.to_pylist()


def _convertible(value: pa.ChunkedArray) -> bool:
    try:
        _converted(value)
    except Exception:  # noqa: BLE001 - as above
        return False
    return True


def _example() -> tuple[str, bytes]:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(example_rows()), buffer)
    return "understudy-example.parquet", buffer.getvalue()


PARQUET = Format("parquet", "Parquet", (".parquet", ".pq"), read_parquet, _example)
