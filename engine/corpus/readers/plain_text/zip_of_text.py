"""A zip archive of .txt, .docx and .pdf files: one record a file, folders may stand for people."""

from __future__ import annotations

import io
import zipfile

from engine.corpus.readers.archive import open_archive, read_entry
from engine.corpus.readers.base import Format, RawTable, ReadOptions, Source
from engine.corpus.readers.documents.apart import DOCUMENTS, PREVIEWED, DocumentReader
from engine.corpus.readers.plain_text.text_files import (
    LEFT_OUT,
    TextFile,
    example_files,
    files_to_table,
    is_hidden,
    suffix_of,
)

_ARCHIVES = (".zip", ".7z", ".rar", ".gz", ".tar", ".tgz", ".bz2", ".xz")


def read_zip(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return one row an entry with text; entries are numbered in the archive's order."""
    files: list[TextFile] = []
    seen: set[str] = set()
    nested = others = total = documents = 0
    with open_archive(source, options) as (archive, meter), DocumentReader(source) as reader:
        for number, info in enumerate(archive.infolist(), 1):
            path = info.filename.replace("\\", "/")
            if info.is_dir() or is_hidden(path):
                continue
            suffix = suffix_of(path)
            if suffix is None:
                nested += path.lower().endswith(_ARCHIVES)
                others += not path.lower().endswith(_ARCHIVES)
                continue
            if path in seen:
                message = "two entries have the same path; pack the archive again"
                raise source.error(message, "unique file names", row=number)
            seen.add(path)
            total += 1
            documents += suffix in DOCUMENTS
            if limit is not None and (len(files) >= limit or (suffix in DOCUMENTS and documents > PREVIEWED)):
                continue
            data = read_entry(archive, info, meter)
            files.append(TextFile(number, path, reader.text(suffix, data, number) if suffix in DOCUMENTS else data))
    table = files_to_table(source, files, options, total)
    warnings = [*table.warnings, *reader.warnings()]
    if nested:
        warnings.append(f"{nested} archives inside the archive were left out; unpack them first if they hold records.")
    if others:
        warnings.append(f"{others} {LEFT_OUT}")
    return RawTable(table.frame, table.total_rows, table.encoding, None, tuple(warnings))


def example_zip() -> bytes:
    """Return the made-up example as a zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in example_files():
            archive.writestr(zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


ZIP = Format(
    "zip",
    "Zip archive of .txt, .docx or .pdf files",
    (".zip",),
    read_zip,
    lambda: ("understudy-example.zip", example_zip()),
)
