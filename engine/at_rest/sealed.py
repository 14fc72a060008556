"""The format of an encrypted file: AES-256-GCM in chunks, so that a part of it can be read without the rest.

    magic (8 bytes) | salt (16 bytes) | chunk, chunk, ..., last chunk

Each file has a key of its own, derived from the data key and its salt. A chunk is 64 KiB of content, the last one less,
with a tag of 16 bytes behind it; its nonce is its number and whether it is the last. What is authenticated beside the
content is the file's place in the workspace. So a file that was changed, cut, made longer, put in the place of another
or taken from another workspace is refused. An earlier content of the same file is told from the present one by its salt
(`engine.at_rest.versions`).

Source: the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizar, "Online Authenticated-Encryption and its
Nonce-Reuse Misuse-Resistance" (2015), with GCM of NIST SP 800-38D.
"""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from engine.at_rest.keys import DataKey
from engine.errors import StorageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"UNDSEAL1"
SALT_BYTES, TAG_BYTES, CHUNK = 16, 16, 1 << 16
HEAD = len(MAGIC) + SALT_BYTES
STORED = CHUNK + TAG_BYTES
PASSING = "scratch"  # a folder that files leave for the one above it
UNFINISHED = ".part"

REFUSED = (
    "A file of the encrypted workspace was changed, cut or put in the place of another, so it is not used. Restore the "
    "workspace from a backup."
)
NOT_SEALED = (
    "A file of the encrypted workspace is not encrypted: another program put it there. Remove it, or restore the "
    "workspace from a backup."
)


class UnsealError(StorageError):
    """An encrypted file is not what was written."""


def identity(place: str) -> bytes:
    """Return what a file is told from others by: its place, where it stays once the run that writes it is done.

    place: its path below the workspace, with forward slashes.
    """
    *folders, name = PurePosixPath(place).parts
    kept = [folder.removesuffix(UNFINISHED) for folder in folders if folder != PASSING]
    return "/".join([*kept, name]).encode("utf-8", "surrogateescape")


def seal(data: bytes, key: DataKey, place: str) -> bytes:
    """Return content as it is stored at its place in the workspace."""
    return b"".join(sealing(io.BytesIO(data), len(data), key, place))


def sealing(content: BinaryIO, size: int, key: DataKey, place: str) -> Iterator[bytes]:
    """Yield, piece by piece, content of `size` bytes as it is stored at its place.

    Raises:
        StorageError: the content ends before.
    """
    salt = secrets.token_bytes(SALT_BYTES)
    cipher, about = _cipher(key, salt), identity(place)
    last = max(0, (size - 1) // CHUNK)
    yield MAGIC + salt
    for number in range(last + 1):
        wanted = min(CHUNK, size - number * CHUNK)
        chunk = content.read(wanted)
        if len(chunk) != wanted:
            raise StorageError("A file of the workspace became shorter while it was read. Try again.")
        yield cipher.encrypt(_nonce(number, number == last), chunk, about)


def stored_size(size: int) -> int:
    """Return how many bytes content of `size` bytes takes as it is stored."""
    return HEAD + size + TAG_BYTES * (max(0, (size - 1) // CHUNK) + 1)


def unsealing(stored: BinaryIO, size: int, key: DataKey, place: str) -> Iterator[bytes]:
    """Yield, piece by piece and each checked, the content of what was stored in `size` bytes, read once from its start.

    Raises:
        UnsealError: it is not what was written at this place.
    """
    head = stored.read(HEAD)
    if len(head) != HEAD or not is_sealed(head) or size < HEAD + TAG_BYTES:
        raise UnsealError(REFUSED)
    cipher, about = _cipher(key, version(head)), identity(place)
    last = (size - HEAD - 1) // STORED
    for number in range(last + 1):
        yield _decrypted(cipher, number, number == last, stored.read(min(STORED, size - HEAD - number * STORED)), about)
    if stored.read(1):
        raise UnsealError(REFUSED)


def unseal(stored: bytes, key: DataKey, place: str) -> bytes:
    """Return the content of what was stored.

    Raises:
        UnsealError: it is not what was written at this place.
    """
    return SealedFile(io.BytesIO(stored), key, place).read()


def is_sealed(head: bytes) -> bool:
    """Say whether a file with these first bytes was written by `seal`."""
    return head.startswith(MAGIC)


def version(head: bytes) -> bytes:
    """Return what tells this writing of a file from all others, given its first bytes; none where it is not sealed."""
    return head[len(MAGIC) : HEAD] if is_sealed(head) else b""


class SealedFile(io.BufferedIOBase):
    """The content of an encrypted file, to be read from any position; each chunk is checked before it is handed out.

    Attributes:
        version: tells this writing of the file from all others.

    Args:
        file: what is stored, seekable; closed with this one. key: of the workspace. place: of the file in it.

    Raises:
        UnsealError: it is not what was written at this place; also while reading.
    """

    def __init__(self, file: BinaryIO, key: DataKey, place: str) -> None:
        super().__init__()
        self._file, self._about = file, identity(place)
        stored = file.seek(0, os.SEEK_END) - HEAD
        file.seek(0)
        head = file.read(HEAD)
        if not is_sealed(head):
            raise UnsealError(NOT_SEALED)
        if stored < TAG_BYTES or 0 < stored % STORED < TAG_BYTES:
            raise UnsealError(REFUSED)
        self._last = (stored - 1) // STORED
        self._size = stored - TAG_BYTES * (self._last + 1)
        self.version = version(head)
        self._cipher = _cipher(key, self.version)
        self._at = 0
        self._known: tuple[int, bytes] = (-1, b"")
        self._chunk(self._last)  # a file that was cut is refused before anything of it is used

    def readable(self) -> bool:
        """Say yes."""
        return True

    seekable = readable

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position of the content and return it."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return bytes from here, fewer at the end; without a number, or with a negative one, all that is left."""
        left = self._size - self._at
        wanted = max(0, left if size is None or size < 0 else min(size, left))
        found = b"".join(self._pieces(wanted))
        self._at += len(found)
        return found

    def close(self) -> None:
        """Close the stored file too."""
        if not self.closed:
            self._file.close()
        super().close()

    def _pieces(self, wanted: int) -> Iterator[bytes]:
        at = self._at
        while wanted > 0:
            number, begin = divmod(at, CHUNK)
            piece = self._chunk(number)[begin : begin + wanted]
            at, wanted = at + len(piece), wanted - len(piece)
            yield piece

    def _chunk(self, number: int) -> bytes:
        if self._known[0] != number:
            self._file.seek(HEAD + number * STORED)
            stored = self._file.read(STORED)
            self._known = (number, _decrypted(self._cipher, number, number == self._last, stored, self._about))
        return self._known[1]


def _decrypted(cipher: AESGCM, number: int, last: bool, stored: bytes, about: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(_nonce(number, last), stored, about)
    except InvalidTag:
        raise UnsealError(REFUSED) from None


def _cipher(key: DataKey, salt: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key.derive("file", salt))


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])
