"""Record tables: one Parquet file a corpus, read by row group.

Privacy posture: the file is owner-only; a small cache of row groups lives in memory alone and is keyed
by the corpus' random id.
"""

from __future__ import annotations

import hmac
import io
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from engine.at_rest import files
from engine.errors import StorageError
from engine.store.disk.folder import describe_os_error, file_errors, write_atomic

GROUP_ROWS = 512
CACHED_GROUPS = 96
KEPT_TEXT_BYTES = 64 << 20
PLAIN = ("record_id", "text", "source_id", "label", "split")

MISSING = "A table of the workspace is missing. Restore the workspace from a backup."
DAMAGED = "A table of the workspace is damaged. Restore the workspace from a backup."

_cache: OrderedDict[tuple[str, int], pd.DataFrame] = OrderedDict()
_texts: tuple[str, pa.ChunkedArray] | None = None
_lock = Lock()


@contextmanager
def table_errors() -> Iterator[None]:
    """Turn what a missing or damaged table raises, however it was damaged, into a sentence."""
    with file_errors():
        try:
            yield
        except FileNotFoundError:
            raise StorageError(MISSING) from None
        except OSError as error:
            if describe_os_error(error) is not None:
                raise
            raise StorageError(DAMAGED) from None
        except (pa.ArrowException, UnicodeDecodeError, OverflowError):
            raise StorageError(DAMAGED) from None


def write_table(path: Path, frame: pd.DataFrame) -> None:
    """Write a frame as Parquet in one step."""
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, buffer, row_group_size=GROUP_ROWS, compression="zstd")
    write_atomic(path, buffer.getvalue())


def digest(path: Path, key: bytes, name: str) -> str:
    """Return a keyed digest, hexadecimal, of a table's file as it was written, and of what the table is called.

    Raises:
        StorageError: it is missing or damaged.
    """
    found = hmac.new(key, b"table\0" + name.encode() + b"\0", "sha256")
    with table_errors(), files.opened(path) as source:
        while part := source.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def read_table(
    path: Path, columns: Sequence[str] | None = None, *, where: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Read a whole table, some of its columns, or the rows whose columns equal the values in `where`."""
    filters = [(name, "=", value) for name, value in where.items()] if where else None
    with table_errors(), files.readable(path) as source:
        return plain(pq.read_table(source, columns=list(columns) if columns else None, filters=filters).to_pandas())


def column_names(path: Path) -> tuple[str, ...]:
    """Return what a table's columns are called; no row is read."""
    with table_errors(), files.readable(path) as source:
        return tuple(pq.read_schema(source).names)


def read_rows(path: Path, positions: Sequence[int]) -> pd.DataFrame:
    """Return the rows at these positions, in this order, in milliseconds."""
    if not len(positions):
        return read_table(path).iloc[:0]
    wanted = sorted({p // GROUP_ROWS for p in positions})
    if len(wanted) > CACHED_GROUPS // 2:
        return read_table(path).iloc[list(positions)].reset_index(drop=True)
    groups = _groups(path, wanted)
    start: dict[int, int] = {}
    offset = 0
    for group in wanted:
        start[group] = offset
        offset += len(groups[group])
    joined = pd.concat([groups[group] for group in wanted], ignore_index=True)
    return joined.iloc[[start[p // GROUP_ROWS] + p % GROUP_ROWS for p in positions]].reset_index(drop=True)


def read_texts(path: Path) -> pa.ChunkedArray:
    """Return the text column of a record table; a small one is kept in memory for the next search."""
    global _texts
    with _lock:
        if _texts is not None and _texts[0] == str(path):
            return _texts[1]
    with table_errors():
        with files.readable(path) as source:
            column = pq.read_table(source, columns=["text"]).column("text")
        column.validate(full=True)
    if column.nbytes <= KEPT_TEXT_BYTES:
        with _lock:
            _texts = (str(path), column)
    return column


def forget(corpus_id: str) -> None:
    """Drop a corpus' row groups from memory."""
    global _texts
    with _lock:
        if _texts is not None and f"/{corpus_id}/" in _texts[0].replace("\\", "/"):
            _texts = None
        for key in [k for k in _cache if f"/{corpus_id}/" in k[0].replace("\\", "/")]:
            del _cache[key]


def _groups(path: Path, wanted: Sequence[int]) -> dict[int, pd.DataFrame]:
    name = str(path)
    with _lock:
        found = {g: _cache[name, g] for g in wanted if (name, g) in _cache}
        for group in found:
            _cache.move_to_end((name, group))
    missing = [g for g in wanted if g not in found]
    if missing:
        with table_errors(), files.readable(path) as source, pq.ParquetFile(source) as file:
            read = {g: plain(file.read_row_group(g).to_pandas()) for g in missing}
        found.update(read)
        with _lock:
            for group, frame in read.items():
                _cache[name, group] = frame
            while len(_cache) > CACHED_GROUPS:
                _cache.popitem(last=False)
    return found


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with text columns as objects and None, not NaN, for missing values."""
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.StringDtype):
            column = frame[name].astype(object)
            frame[name] = column.where(column.notna(), None)
    return frame
