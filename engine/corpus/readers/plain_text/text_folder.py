"""A folder of .txt files, given by its path: one record a file, subfolders may stand for people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from engine.corpus.readers.base import Format, RawTable, ReadOptions, Source
from engine.corpus.readers.plain_text.text_files import TextFile, files_to_table, is_hidden
from engine.corpus.readers.plain_text.zip_of_text import example_zip
from engine.corpus.regular import NotRegularError, open_regular
from engine.errors import UserError


def read_folder(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return one row a .txt file below the folder, sorted by path; links are not followed."""
    root = source.path
    if root is None:
        raise UserError("source: a folder is given by its path; to upload one, pack it as a zip archive")
    files: list[TextFile] = []
    links = others = total = size = 0
    for path in _walk(source, root):
        relative = path.relative_to(root).as_posix()
        if is_hidden(relative):
            continue
        if path.is_symlink():
            links += 1
            continue
        if path.suffix.lower() != ".txt":
            others += 1
            continue
        total += 1
        if total > options.max_entries:
            message = f"the folder holds more than {options.max_entries:,} files; split it and import the parts"
            raise source.error(message, "max entries")
        if limit is not None and len(files) >= limit:
            continue
        data = _read(source, path, total, options.max_bytes - size)
        size += len(data)
        files.append(TextFile(total, relative, data))
    table = files_to_table(source, files, options, total)
    warnings = list(table.warnings)
    if links:
        warnings.append(f"{links} links were not followed; copy the files into the folder if they hold records.")
    if others:
        warnings.append(f"{others} files that do not end in .txt were left out.")
    return RawTable(table.frame, table.total_rows, table.encoding, None, tuple(warnings))


def _walk(source: Source, root: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise source.unreadable(error)

    for folder, subfolders, names in os.walk(root, onerror=refuse, followlinks=False):
        subfolders.sort()
        yield from (Path(folder) / name for name in sorted(names))


def _read(source: Source, path: Path, number: int, allowed: int) -> bytes:
    try:
        with open_regular(path) as file:
            data = file.read(allowed + 1)
    except NotRegularError:
        message = "this entry is a pipe or a device and no file; take it out of the folder"
        raise source.error(message, "readable file", row=number) from None
    except OSError:
        message = "this .txt file cannot be opened; check its permissions"
        raise source.error(message, "readable file", row=number) from None
    if len(data) > allowed:
        message = "the folder's texts are larger than the limit; split it and import the parts"
        raise source.error(message, "max_bytes")
    return data


FOLDER = Format(
    "folder",
    "Folder of .txt files (by path)",
    (),
    read_folder,
    lambda: ("understudy-example-folder.zip", example_zip()),
)
