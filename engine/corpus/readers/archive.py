"""Open zip archives that strangers made: nothing is extracted to disk, sizes are counted while reading.

Privacy posture: entries are named by their number, since a file name may name a person.
"""

from __future__ import annotations

import io
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from engine.corpus.readers.base import MEBIBYTE, ReadOptions, Source

CHUNK_BYTES = 64 * 1024
FREE_BYTES = 10 * MEBIBYTE
_CENTRAL_ENTRY = b"PK\x01\x02"
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)
_DRIVE = re.compile(r"^[A-Za-z]:")


@dataclass
class Meter:
    """Counts unpacked bytes and stops at the limits; what headers claim is not believed."""

    source: Source
    options: ReadOptions
    packed_bytes: int
    unpacked_bytes: int = 0

    def add(self, count: int) -> None:
        """Count bytes; raise when the archive unpacks to more than it may."""
        self.unpacked_bytes += count
        bomb = self.unpacked_bytes > max(FREE_BYTES, self.packed_bytes * self.options.max_ratio)
        if bomb or self.unpacked_bytes > self.options.max_unpacked_bytes:
            message = "the archive unpacks to far more than a text archive does; split it, or give the plain files"
            raise self.source.error(message, "unpacked size")


BROKEN = "this cannot be read as a zip archive; it may be cut short or damaged, pack it again"


@contextmanager
def open_archive(source: Source, options: ReadOptions, broken: str = BROKEN) -> Iterator[tuple[zipfile.ZipFile, Meter]]:
    """Open a zip whose entries all have harmless names, or raise a data error.

    broken: what is said of one that cannot be read, and what to do about it.
    """
    data = source.read(options)
    if data.count(_CENTRAL_ENTRY) > options.max_entries:
        message = f"the archive holds more than {options.max_entries:,} files; split it and import the parts"
        raise source.error(message, "max entries")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for number, info in enumerate(archive.infolist(), 1):
                check_entry(source, info, number)
            yield archive, Meter(source, options, len(data))
    except _BROKEN:
        raise source.error(broken, "readable zip") from None


def check_entry(source: Source, info: zipfile.ZipInfo, number: int) -> None:
    """Refuse an entry that points outside its archive, is a link, or is encrypted."""
    name = (info.orig_filename or info.filename).replace("\\", "/")
    outside = name.startswith("/") or _DRIVE.match(name) is not None or ".." in name.split("/") or "\x00" in name
    if outside:
        message = "this entry's path leads outside the archive; the archive is refused, pack it again without it"
        raise source.error(message, "no path traversal", row=number)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        message = "this entry is a link or a device and not a file; pack it again with plain files only"
        raise source.error(message, "no links", row=number)
    if info.flag_bits & 0x1:
        raise source.error(
            "this entry is protected by a password; pack it again without one", "no password", row=number
        )


def read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, meter: Meter) -> bytes:
    """Return an entry's bytes, counted while they are unpacked."""
    chunks: list[bytes] = []
    with archive.open(info) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            meter.add(len(chunk))
            chunks.append(chunk)
    return b"".join(chunks)
