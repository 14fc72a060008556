"""Turn many files of text into records: what the zip and the folder reader share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.corpus.readers.base import RawTable, ReadOptions, Source, check_rows, make_frame
from engine.corpus.readers.documents.apart import DOCUMENTS
from engine.corpus.readers.encoding import CHECK_LETTERS, SAMPLE_BYTES, decode, detect_encoding
from engine.corpus.readers.example_rows import example_rows
from engine.errors import DataError

SUFFIXES = (".txt", *DOCUMENTS)
LEFT_OUT = "files that do not end in .txt, .docx or .pdf were left out."


@dataclass(frozen=True)
class TextFile:
    """One file: its number in the archive or folder, its relative path, its bytes or the text of a document."""

    number: int
    path: str
    data: bytes = field(repr=False)


def is_hidden(path: str) -> bool:
    """Return whether a path is a system's own bookkeeping (dot files, `__MACOSX`)."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.split("/"))


def suffix_of(path: str) -> str | None:
    """Return the ending of a file that holds a text, in small letters, or None for any other file."""
    lower = path.lower()
    return next((suffix for suffix in SUFFIXES if lower.endswith(suffix)), None)


def files_to_table(source: Source, files: Sequence[TextFile], options: ReadOptions, total: int) -> RawTable:
    """Return one row a file: its path without ending, its folder, its text."""
    if not files:
        message = "there are no .txt, .docx or .pdf files in it; put one text into each file"
        raise source.error(message, "at least one row")
    check_rows(source, total, options)
    encoding = options.encoding or _shared_encoding(source, files)
    texts: list[str] = []
    for file in files:
        texts.append(_text(source, file, encoding))
    warnings = []
    if options.encoding is None and encoding != "utf-8":
        warnings.append(
            f"Some files are not UTF-8 and were read as {encoding}. {CHECK_LETTERS} in the preview; if they "
            "look wrong, choose another encoding."
        )
    columns = {
        "file": [file.path.rsplit(".", 1)[0] for file in files],
        "folder": [file.path.rpartition("/")[0] for file in files],
        "text": texts,
    }
    frame = make_frame(columns, [file.number for file in files])
    return RawTable(frame, total, encoding, None, tuple(warnings))


def example_files() -> list[tuple[str, bytes]]:
    """Return (path, bytes) of the made-up example: one folder a patient, one file a note."""
    return [(f"{row['patient']}/{row['note_id']}.txt", row["text"].encode("utf-8")) for row in example_rows()]


def _text(source: Source, file: TextFile, fallback: str) -> str:
    encoding = None if fallback == "utf-8" or _is_utf8(file.data) or _is_marked(file.data) else fallback
    try:
        return decode(Source(""), file.data, encoding).text if file.data else ""
    except DataError as error:
        message = str(error).removeprefix(f"row {error.row}: ")
        raise source.error(f"this file: {message}", error.rule, row=file.number) from None


def _shared_encoding(source: Source, files: Sequence[TextFile]) -> str:
    """Return the one encoding of all files that are neither UTF-8 nor marked; short texts alone tell too little."""
    odd = b"\n".join(file.data[:4096] for file in files if not _is_utf8(file.data) and not _is_marked(file.data))
    if not odd:
        return "utf-8"
    guess = detect_encoding(odd[:SAMPLE_BYTES])
    if guess is None:
        message = "its files are not text in any known encoding; save them as UTF-8, or choose their encoding"
        raise source.error(message, "known encoding")
    return guess


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_marked(data: bytes) -> bool:
    return data[:2] in (b"\xff\xfe", b"\xfe\xff")
