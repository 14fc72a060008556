"""Where blobs lie: any URL of fsspec. What is put there is sealed under a key of the workspace, whatever the URL.

Each workspace has a folder of its own below the URL, named by a random id, with a mark in it by which a wrong URL is
told from an empty one. A key is written once, whole, and never again; so it is whole where a row in force names it,
also on stores that know no renaming.

Privacy posture: who runs the place sees random names, sizes and times. No address and nothing a library says stands in
a message: both may hold a credential.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from engine.errors import StorageError
from engine.store.disk.folder import overwrite

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

MARK = "place"
BATCH_BYTES = 1 << 22
MISTAKE = (
    'The file workspace.toml of this workspace is not usable: blobs must be a URL such as blobs = "s3://bucket/prefix" '
    'or blobs = "file:///srv/blobs". Correct it; without it tables of other machines cannot be found.'
)
CREDENTIALS = (
    "The URL of the blobs in workspace.toml must hold no name, password or other setting, which every backup of the "
    "file would hold too. Give them to fsspec: by the store's own variables or files, such as AWS_PROFILE, or by "
    "FSSPEC_S3_ENDPOINT_URL."
)
NOTHING_KEPT = "The URL of the blobs in workspace.toml names memory, which keeps nothing. Name a folder or a store."
INSIDE = "The URL of the blobs in workspace.toml lies in the workspace's folder. Name another folder or a store."
AWAY = (
    "The place of the workspace's blobs, which workspace.toml names, cannot be reached, or does not allow it. Check "
    "the network, the URL and this machine's credentials, then try again."
)
FULL = "The place of the workspace's blobs is full. Free some space there, then try again."
OTHER = (
    "The place of the blobs that workspace.toml names is not that of this workspace. Correct the URL: every machine "
    "must name the same place."
)
CUT = "A file was not put whole where the workspace's blobs lie. Try again."


class BlobError(StorageError):
    """The place of the blobs cannot be used."""


class NoBlobError(BlobError):
    """There is no such blob."""


def checked(text: object, folder: Path) -> str:
    """Return a URL as `workspace.toml` has it.

    folder: of the workspace, in which it must not lie.

    Raises:
        StorageError: it is none, holds a credential, or names no place that keeps anything.
    """
    if not isinstance(text, str) or "::" in text:
        raise StorageError(MISTAKE)
    try:
        parts = urlsplit(text)
        named = parts.username is not None or parts.password is not None
    except ValueError:
        raise StorageError(MISTAKE) from None
    if named or "@" in parts.netloc or parts.query or parts.fragment:
        raise StorageError(CREDENTIALS)
    if not parts.scheme or not (parts.netloc or parts.path.strip("/")):
        raise StorageError(MISTAKE)
    if parts.scheme == "memory":
        raise StorageError(NOTHING_KEPT)
    if parts.scheme in ("file", "local"):
        if parts.netloc or not parts.path.startswith("/"):
            raise StorageError(MISTAKE)
        where, inside = os.path.realpath(parts.path), os.path.realpath(folder)
        if where == inside or where.startswith(inside + os.sep):
            raise StorageError(INSIDE)
    return text.rstrip("/")


def scheme(url: str) -> str:
    """Return what kind of place a URL names, such as `s3`: all that is said of it."""
    return urlsplit(url).scheme


def at(url: str, ident: str) -> BlobPlace:
    """Return a workspace's place below a URL; nothing is connected to before it is used.

    Raises:
        StorageError: what reads and writes such URLs is not installed.
    """
    import fsspec

    options = {"auto_mkdir": True} if scheme(url) in ("file", "local") else {"use_listings_cache": False}
    try:
        system, root = fsspec.core.url_to_fs(url, **options)
    except ImportError:
        extra = " pip install 'understudy[blobs-s3]'" if scheme(url) in ("s3", "s3a") else ""
        raise BlobError(f"A package that {scheme(url)} URLs need is not installed here.{extra}") from None
    except ValueError:
        raise StorageError(MISTAKE) from None
    except Exception:  # noqa: BLE001  a library's own: of its settings
        raise BlobError(AWAY) from None
    return BlobPlace(system, f"{root.rstrip('/')}/{ident}")


class BlobPlace:
    """A workspace's folder at a place of blobs."""

    def __init__(self, system: AbstractFileSystem, root: str) -> None:
        self._system, self._root, self._known = system, root, False
        self._local = "file" in ((p,) if isinstance(p := system.protocol, str) else p)

    def make(self) -> None:
        """Mark the place as this workspace's.

        Raises:
            BlobError: it cannot be written.
        """
        with _reached():
            self._write(MARK, [b"A place of blobs of Understudy. All of it is sealed.\n"])
        self._known = True

    def put(self, key: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a blob under a key that nothing was written to; it is whole there afterwards.

        pieces: of its content. size: of all of them, in bytes.

        Raises:
            BlobError: it could not be written whole. What there is of it is under its key.
        """
        self.demand()
        with _reached():
            self._write(key, pieces)
            if int(self._system.size(self._path(key)) or 0) != size:
                raise BlobError(CUT)

    @contextmanager
    def reading(self, key: str) -> Iterator[BinaryIO]:
        """Yield a blob, to be read once from its start.

        Raises:
            NoBlobError: it is not there. BlobError: the place cannot be reached.
        """
        self.demand()
        with _reached(), self._system.open(self._path(key), "rb") as file:
            yield file

    def remove(self, key: str) -> None:
        """Remove a blob; one that is not there is no error.

        Raises:
            BlobError: the place cannot be reached.
        """
        self.demand()
        with _reached():
            try:
                if self._local:
                    overwrite(Path(self._path(key)))
                self._system.rm_file(self._path(key))
                return
            except FileNotFoundError:
                self._known = False
        self.demand()  # else it is the whole place that is not there today

    def sizes(self) -> dict[str, int]:
        """Return key → bytes of every blob that is there.

        Raises:
            BlobError: the place cannot be reached.
        """
        self._known = False
        self.demand()
        with _reached():
            self._system.invalidate_cache()
            found = self._system.find(self._root, detail=True)
        sizes = {str(path).rpartition("/")[2]: int(about["size"] or 0) for path, about in found.items()}
        sizes.pop(MARK, None)
        return sizes

    def demand(self) -> None:
        """Refuse a place that is another's.

        Raises:
            BlobError: it is, or cannot be reached.
        """
        if self._local or not self._known:  # a disk can be taken away, and its folder stays
            with _reached():
                self._system.invalidate_cache()
                if not self._system.isfile(self._path(MARK)):
                    raise BlobError(OTHER)
            self._known = True

    def _write(self, key: str, pieces: Iterable[bytes]) -> None:
        with self._system.open(self._path(key), "wb") as out:
            for batch in _batched(pieces):
                out.write(batch)
            if self._local:
                out.flush()
                os.fsync(out.fileno())

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"


def _batched(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= BATCH_BYTES:
            yield b"".join(held)
            held = []
    yield b"".join(held)


@contextmanager
def _reached() -> Iterator[None]:
    """Turn whatever a library raises into a sentence; what it says may hold an address or a credential."""
    try:
        yield
    except StorageError:
        raise
    except FileNotFoundError:
        raise NoBlobError(AWAY) from None
    except OSError as error:
        raise BlobError(FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else AWAY) from None
    except Exception:  # noqa: BLE001
        raise BlobError(AWAY) from None
