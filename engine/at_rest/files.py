"""The seam that private files go through: encrypted below an unlocked workspace, as they are everywhere else.

A file below a workspace that this process has unlocked is written encrypted and read back checked; a plain one there
is refused, and so is an earlier one (`engine.at_rest.versions`). Elsewhere, and in a workspace that is not encrypted,
these do what the plain calls do.

A file that is written beside its place is put there by `put`, and a folder of such files is told to `settle` once it
has its name; what is removed is removed within `removing`. Where a workspace's files lie elsewhere too
(`engine.at_rest.elsewhere`), that is when they are put there and removed there; what is read is brought here first, and
whoever looks whether a file is there, or lists a folder, calls `fetch` before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.at_rest import elsewhere, keys, versions
from engine.at_rest.sealed import HEAD, SealedFile, UnsealError, is_sealed, seal, version

LOOKS = 20  # at a file that another process or thread replaces meanwhile
UNFINISHED = ".tmp"  # what a killed writer leaves has this behind its name


def stored(path: Path, data: bytes) -> bytes:
    """Return content as it has to be stored at a path; from here on it may lie there."""
    beyond = elsewhere.above(path)
    if beyond is not None:
        beyond.keeper.begin(beyond.place)
    found = keys.above(path)
    if found is None:
        return data
    body = seal(data, found.key, found.place)
    kept = versions.of(found.workspace, found.place)
    if kept is not None:
        kept.begin(found.place, version(body[:HEAD]))
    return body


def put(part: Path, path: Path) -> None:
    """Give a file that was written beside its place its name there, in one step."""
    os.replace(part, path)
    settle(path)


def settle(path: Path) -> None:
    """Say that a file, or each file of a folder, has its name: an earlier one in its place is refused from now on.

    Raises:
        StorageError: it could not be put where the workspace's files lie elsewhere.
    """
    found = keys.above(path)
    kept = None if found is None else versions.of(found.workspace, f"{found.place}/")
    if found is not None and kept is not None:
        kept.settle([found.place, *(f"{found.place}/{name}" for name in _below(path))])
    beyond = elsewhere.above(path)
    if beyond is not None:
        beyond.keeper.settle([beyond.place, *(f"{beyond.place}/{name}" for name in _below(path))])


def fetch(path: Path) -> None:
    """Have here what there is of a file, or of a folder with all below it, where its workspace's files lie elsewhere.

    Raises:
        StorageError: it cannot be reached, or is not what was put there.
    """
    beyond = elsewhere.above(path)
    if beyond is not None:
        beyond.keeper.fetch(beyond.place)


@contextmanager
def removing(path: Path) -> Iterator[None]:
    """Remove a file, or a folder, within this: what is gone after it is not missed."""
    beyond = elsewhere.above(path)
    if beyond is not None:
        beyond.keeper.leave(beyond.place)
    with _unkept(path):
        yield
    if beyond is not None:
        beyond.keeper.left(beyond.place)


@contextmanager
def _unkept(path: Path) -> Iterator[None]:
    found = keys.above(path)
    kept = None if found is None else versions.of(found.workspace, f"{found.place}/")
    if found is None or kept is None:
        yield
        return
    there = [(found.place, path), *((f"{found.place}/{name}", path / name) for name in _below(path))]
    told = [(place, version_of(file), file) for place, file in there if file.is_file()]
    if told:
        kept.leave([(place, said) for place, said, _ in told])
    yield
    if told:
        kept.left([(place, said) for place, said, file in told if not file.exists()])


def version_of(path: Path) -> bytes:
    """Return what tells this writing of a file from all others; none where there is no file, or it is not encrypted."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return version(file.read(HEAD))
    except OSError:
        return b""


def write_bytes(path: Path, data: bytes, *, at: Path | None = None) -> None:
    """Write a file owner-only and flush it to disk; in one step only where it is encrypted, or lies elsewhere too.

    path: of the file. data: its content. at: the place it is moved to later, where that is another.
    """
    beside = at is None and (encrypted(path) or elsewhere.above(path) is not None)
    part = path.with_name(path.name + UNFINISHED) if beside else path
    descriptor = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(stored(at or path, data))
        out.flush()
        os.fsync(out.fileno())
    if beside:
        put(part, path)


def opened(path: Path) -> BinaryIO:
    """Return a file's content, to be read from any position.

    Raises:
        UnsealError: it is not what was written there. OSError: it cannot be read.
    """
    fetch(path)
    found = keys.above(path)
    if found is None:
        return path.open("rb")
    for _ in range(LOOKS):
        content, known = _looked(path, found)
        if known:
            return content  # type: ignore[return-value]  # raw, and all that is asked of it
        content.close()
        if version_of(path) == content.version:
            break  # else it was replaced between the look at the file and that at its version: look again
    raise UnsealError(versions.EARLIER)


def _looked(path: Path, found: keys.Found) -> tuple[SealedFile, bool]:
    """Return a file's content, and whether its version is one in force."""
    file = path.open("rb")
    try:
        content = SealedFile(file, found.key, found.place)
        kept = versions.of(found.workspace, found.place)
        return content, kept is None or kept.knows(found.place, content.version)
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
        fetch(path)
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


def _below(path: Path) -> list[str]:
    """Return the files below a folder, relative, with forward slashes; none for a file."""
    found = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    return sorted(file.relative_to(path).as_posix() for file in found if not file.is_symlink())
