"""What a reader is: where bytes come from, how much is allowed, and the raw table it returns.

Privacy posture: messages name the file, a row number and the rule; never a cell, never a header
(a file without a header row has text there), never the name of a file inside an archive.
"""

from __future__ import annotations

import io
import stat
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from engine.corpus.regular import NotRegularError, open_regular
from engine.errors import DataError, UserError

MEBIBYTE = 2**20
MAX_COLUMNS = 1_000
MAX_CELLS = 20_000_000  # values of one table; each costs up to about a hundred bytes of memory


@dataclass(frozen=True)
class ReadOptions:
    """What the custodian may choose, and the limits of one import.

    encoding, delimiter, sheet: None means detected (first sheet). max_bytes: size of the file, and
    half of what an archive may unpack to. max_rows: records a file may hold. max_ratio: how many
    times larger than itself an archive may unpack. columns: those needed, where that is known; a format that can
    leave the others unread does.
    """

    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    max_bytes: int = 512 * MEBIBYTE
    max_rows: int = 2_000_000
    max_entries: int = 200_000
    max_ratio: int = 200
    columns: tuple[str, ...] | None = None

    @property
    def max_unpacked_bytes(self) -> int:
        """Return the bytes an archive may unpack to."""
        return 2 * self.max_bytes


@dataclass(frozen=True)
class RawTable:
    """A table as the file has it; the frame's index holds each row's number in the file."""

    frame: pd.DataFrame
    total_rows: int | None
    encoding: str | None = None
    delimiter: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Bytes in memory, a file or a folder, with the name shown in messages."""

    filename: str
    data: bytes | None = field(default=None, repr=False)
    path: Path | None = field(default=None, repr=False)

    @property
    def is_folder(self) -> bool:
        """Return whether this is a folder on disk."""
        return self.path is not None and self.path.is_dir()

    def size(self) -> int:
        """Return the size in bytes."""
        if self.data is not None:
            return len(self.data)
        try:
            found = self._file().stat()
            if not stat.S_ISREG(found.st_mode):
                raise NotRegularError
            return found.st_size
        except OSError as error:
            raise self.unreadable(error) from None

    def read(self, options: ReadOptions) -> bytes:
        """Return all bytes, refusing an empty file and one over the limit."""
        self.check_size(options)
        if self.data is not None:
            return self.data
        try:
            with open_regular(self._file()) as file:
                # In parts: one `read` of the limit would set aside half a gigabyte for each file.
                parts, size = [], 0
                while size <= options.max_bytes and (part := file.read(MEBIBYTE)):
                    parts.append(part)
                    size += len(part)
        except OSError as error:
            raise self.unreadable(error) from None
        if size > options.max_bytes:
            raise self._too_large(options)
        return b"".join(parts)

    def check_size(self, options: ReadOptions) -> None:
        """Refuse an empty file and one over the limit, before anything is read."""
        size = self.size()
        if size == 0:
            raise DataError("the file is empty (0 bytes); export it again", file=self.filename, rule="not empty")
        if size > options.max_bytes:
            raise self._too_large(options)

    def head(self, length: int = 16) -> bytes:
        """Return the first bytes."""
        if self.data is not None:
            return self.data[:length]
        try:
            with open_regular(self._file()) as file:
                return file.read(length)
        except OSError as error:
            raise self.unreadable(error) from None

    def handle(self, options: ReadOptions) -> io.BytesIO:
        """Return a seekable binary stream over all bytes."""
        return io.BytesIO(self.read(options))

    def error(self, message: str, rule: str, row: int | None = None) -> DataError:
        """Return a data error that names this file."""
        return DataError(message, file=self.filename, row=row, rule=rule)

    def unreadable(self, error: OSError) -> DataError:
        """Return the data error for a file that the system will not open."""
        reason = {
            FileNotFoundError: "there is no such file; check the path",
            NotRegularError: "this is a pipe or a device and no file; copy its content into a file",
            PermissionError: "this account may not read it; change its permissions or copy it elsewhere",
        }.get(type(error), "the system could not read it; check that the disk or share is connected")
        return self.error(reason, "readable file")

    def _file(self) -> Path:
        if self.path is None:
            raise UserError("source: expected bytes or a path, got neither; give the file's content or its path")
        return self.path

    def _too_large(self, options: ReadOptions) -> DataError:
        limit = options.max_bytes
        shown = f"{limit / MEBIBYTE:,.0f} MiB" if limit >= MEBIBYTE else f"{limit:,} bytes"
        return self.error(f"the file is larger than the limit of {shown}; split it and import the parts", "max_bytes")


@dataclass(frozen=True)
class Format:
    """One file format: how it is read, and a small example of it to download."""

    id: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, ReadOptions, int | None], RawTable] = field(repr=False)
    example: Callable[[], tuple[str, bytes]] = field(repr=False)


def make_frame(columns: Mapping[str, Sequence[object]], row_numbers: Sequence[int]) -> pd.DataFrame:
    """Return a frame of object columns whose index `row` holds the rows' numbers in the file."""
    index = pd.Index(np.asarray(row_numbers, dtype=np.int64), name="row")
    data: dict[Hashable, pd.Series] = {
        name: pd.Series(list(values), index=index, dtype=object) for name, values in columns.items()
    }
    return pd.DataFrame(data, index=index)


def check_rows(source: Source, rows: int, options: ReadOptions) -> None:
    """Refuse a table without rows and one with more rows than allowed."""
    if rows == 0:
        raise source.error("there are no records below the header; export it again with its rows", "at least one row")
    if rows > options.max_rows:
        raise source.error(
            f"there are more than {options.max_rows:,} rows; split the file and import the parts", "max_rows"
        )


def check_cells(source: Source, count: int) -> None:
    """Refuse a table of more values than memory holds."""
    if count > MAX_CELLS:
        message = f"there are more than {MAX_CELLS:,} values; keep the columns you need, or split the file"
        raise source.error(message, "max values")


def check_columns(source: Source, count: int) -> None:
    """Refuse a table that is wider than any table of records."""
    if count > MAX_COLUMNS:
        raise source.error(
            f"there are more than {MAX_COLUMNS:,} columns; keep those you need and export again", "max columns"
        )


def header_names(source: Source, cells: Sequence[object], row: int | None = 1) -> tuple[list[str], list[str]]:
    """Return clean column names and warnings; refuse two columns of one name.

    An empty name becomes `column N`. Names are never repeated in a message.
    """
    check_columns(source, len(cells))
    warnings: list[str] = []
    names = [str(cell).strip() if cell is not None else "" for cell in cells]
    unnamed = [position for position, name in enumerate(names, 1) if not name]
    names = [name or f"column {position}" for position, name in enumerate(names, 1)]
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if name in first:
            message = f"columns {first[name]} and {position} have the same name; rename one of them"
            raise source.error(message, "unique column names", row=row)
        first[name] = position
    if unnamed:
        warnings.append(f"{len(unnamed)} columns have no name and are shown as “column N”.")
    if any(len(name) > 80 or name.replace(".", "", 1).lstrip("+-").isdigit() for name in names):
        warnings.append(
            "The first row looks like data and not like column names. If it is data, add a row of names above it; "
            "otherwise its content is treated as names and not as a record."
        )
    return names, warnings
