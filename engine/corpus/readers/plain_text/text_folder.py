"""A folder of .txt, .docx and .pdf files, given by its path: one record a file, subfolders may stand for people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from engine.corpus.readers.base import Format, RawTable, ReadOptions, Source
from engine.corpus.readers.documents.apart import DOCUMENTS, PREVIEWED, DocumentReader
from engine.corpus.readers.plain_text.text_files import LEFT_OUT, TextFile, files_to_table, is_hidden, suffix_of
from engine.corpus.readers.plain_text.zip_of_text import example_zip
from engine.corpus.regular import NotRegularError, open_regular
from engine.errors import UserError


def read_folder(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return one row a file with text below the folder, sorted by path; links are not followed."""
    root = source.path
    if root is None:
        raise UserError("source: a folder is given by its path; to upload one, pack it as a zip archive")
    with DocumentReader(source) as reader:
        return _read_all(source, root, options, limit, reader)


def _read_all(source: Source, root: Path, options: ReadOptions, limit: int | None, reader: DocumentReader) -> RawTable:
    files: list[TextFile] = []
    links = others = total = size = documents = 0
    for path in _walk(source, root):
        relative = path.relative_to(root).as_posix()
        if is_hidden(relative):
            continue
        if path.is_symlink():
            links += 1
            continue
        suffix = suffix_of(path.name)
        if suffix is None:
            others += 1
            continue
        total += 1
        if total > options.max_entries:
            message = f"the folder holds more than {options.max_entries:,} files; split it and import the parts"
            raise source.error(message, "max entries")
        documents += suffix in DOCUMENTS
        if limit is not None and (len(files) >= limit or (suffix in DOCUMENTS and documents > PREVIEWED)):
            continue
        if suffix in DOCUMENTS:  # one in memory at a time, so that its text alone counts for the limit of all
            data = reader.text(suffix, _read(source, path, total, options.max_bytes), total)
        else:
            data = _read(source, path, total, options.max_bytes - size)
        size += len(data)
        files.append(TextFile(total, relative, data))
    table = files_to_table(source, files, options, total)
    warnings = [*table.warnings, *reader.warnings()]
    if links:
        warnings.append(f"{links} links were not followed; copy the files into the folder if they hold records.")
    if others:
        warnings.append(f"{others} {LEFT_OUT}")
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
        message = "this file cannot be opened; check its permissions"
        raise source.error(message, "readable file", row=number) from None
    if len(data) > allowed:
        message = "the folder's texts are larger than the limit; split it and import the parts"
        raise source.error(message, "max_bytes")
    return data


FOLDER = Format(
    "folder",
    "Folder of .txt, .docx or .pdf files (by path)",
    (),
    read_folder,
    lambda: ("understudy-example-folder.zip", example_zip()),
)
