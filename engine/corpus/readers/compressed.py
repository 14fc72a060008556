"""Unpack one file compressed with gzip, in memory; sizes are counted while reading, as in an archive."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace

from engine.corpus.readers.archive import CHUNK_BYTES, Meter
from engine.corpus.readers.base import ReadOptions, Source

SUFFIX = ".gz"


def inner_name(filename: str) -> str | None:
    """Return the name without its .gz, or None where it does not end so or wraps an archive."""
    inner = filename[: -len(SUFFIX)]
    if not filename.lower().endswith(SUFFIX) or inner.lower().endswith((".tar", ".zip")):
        return None
    return inner


def unpacked(source: Source, options: ReadOptions) -> Source:
    """Return what a .gz file holds, under its inner name; other sources as they are.

    Raises:
        DataError: the file is damaged, or unpacks to more than a text does.
    """
    inner = None if source.is_folder else inner_name(source.filename)
    if inner is None:
        return source
    meter = Meter(source, options, source.size())
    chunks: list[bytes] = []
    try:
        with gzip.GzipFile(fileobj=source.handle(options)) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                meter.add(len(chunk))
                chunks.append(chunk)
    except (OSError, EOFError, zlib.error):
        message = "this cannot be unpacked with gzip; it may be cut short or damaged, export it again"
        raise source.error(message, "readable gzip") from None
    return replace(source, filename=inner, data=b"".join(chunks), path=None)
