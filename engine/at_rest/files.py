"""The seam that private files go through: encrypted below an unlocked workspace, as they are everywhere else.

A file below a workspace that this process has unlocked is written encrypted and read back checked; a plain one there
is refused. Elsewhere, and in a workspace that is not encrypted, these do what the plain calls do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.at_rest import keys
from engine.at_rest.sealed import SealedFile, is_sealed, seal


def stored(path: Path, data: bytes) -> bytes:
    """Return content as it has to be stored at a path."""
    found = keys.above(path)
    return data if found is None else seal(data, found[1], found[0])


def write_bytes(path: Path, data: bytes, *, at: Path | None = None) -> None:
    """Write a file owner-only and flush it to disk; not in one step.

    path: of the file. data: its content. at: the place it is moved to later, where that is another.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(stored(at or path, data))
        out.flush()
        os.fsync(out.fileno())


def opened(path: Path) -> BinaryIO:
    """Return a file's content, to be read from any position.

    Raises:
        UnsealError: it is not what was written there. OSError: it cannot be read.
    """
    found, file = keys.above(path), path.open("rb")
    if found is None:
        return file
    try:
        return SealedFile(file, found[1], found[0])  # type: ignore[return-value]  # raw, and all that is asked of it
    except BaseException:
        file.close()
        raise


@contextmanager
def readable(path: Path) -> Iterator[Path | BinaryIO]:
    """Yield what a library reads a file from: its path, or its content where it is stored encrypted.

    Raises:
        UnsealError: it is not what was written there. OSError: it cannot be read.
    """
    if not encrypted(path):
        yield path
        return
    with opened(path) as file:
        yield file


def read_bytes(path: Path) -> bytes:
    """Return a file's content.

    Raises:
        UnsealError: it is not what was written there. OSError: it cannot be read.
    """
    with opened(path) as file:
        return file.read()


def seal_plain(folder: Path) -> None:
    """Encrypt the files of a folder that a library wrote plain, where the folder's workspace is encrypted.

    For what holds nothing private, such as a vocabulary: what was plain for a moment may stay on a disk.
    """
    for path in sorted(folder.rglob("*")) if encrypted(folder) else ():
        if path.is_file():
            data = path.read_bytes()
            if not is_sealed(data):
                write_bytes(path, data)


def encrypted(path: Path) -> bool:
    """Say whether a file at this path is stored encrypted."""
    return keys.above(path) is not None
