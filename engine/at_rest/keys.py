"""The data keys of this process: one an unlocked workspace, held in memory until the process ends or drops it.

Privacy posture: a key has no form in text, so that no log, exception or audit line can hold one.
"""

from __future__ import annotations

import os
import secrets
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from engine.errors import InternalError

KEY_BYTES = 32


class DataKey:
    """The random 256-bit key of one workspace; what encrypts is derived from it, each purpose its own."""

    def __init__(self, value: bytes) -> None:
        if len(value) != KEY_BYTES:
            raise InternalError("a data key has 32 bytes")
        self._value = value

    def __repr__(self) -> str:
        return "DataKey(...)"

    def __reduce__(self) -> NoReturn:
        raise InternalError("a data key is not written anywhere but into its header")

    @classmethod
    def new(cls) -> DataKey:
        """Return a fresh key from the system's entropy."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def derive(self, purpose: str, salt: bytes | None = None) -> bytes:
        """Return 32 bytes for one purpose. Source: HKDF, RFC 5869, with SHA-256."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        return HKDF(SHA256(), KEY_BYTES, salt, f"understudy workspace {purpose}".encode()).derive(self._value)

    @cached_property
    def database(self) -> bytes:
        """The raw key of the database."""
        return self.derive("database")

    @cached_property
    def check(self) -> str:
        """What tells in a header whether a key is the one it wraps; says nothing of the key."""
        return self.derive("check").hex()[:32]

    def wrapped_by(self, key: bytes, nonce: bytes, about: bytes) -> bytes:
        """Return this key encrypted under another, bound to what the header says of it (AES-256-GCM)."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(key).encrypt(nonce, self._value, about)

    def send(self, pipe: IO[bytes]) -> None:
        """Write the key to the inherited pipe of a process that this one starts."""
        pipe.write(self._value)
        pipe.flush()


class Found(NamedTuple):
    """A file's place in the unlocked workspace it lies in, that workspace's key, and its path, links followed."""

    place: str
    key: DataKey
    workspace: str


_held: dict[str, DataKey] = {}  # by the workspace's path, links followed


def hold(workspace: Path, key: DataKey) -> None:
    """Keep the key of a workspace for this process."""
    _held[os.path.realpath(workspace)] = key


def drop(workspace: Path) -> None:
    """Forget the key of a workspace."""
    _held.pop(os.path.realpath(workspace), None)


def of(workspace: Path) -> DataKey | None:
    """Return the key of a workspace, None where this process has none."""
    return _held.get(os.path.realpath(workspace)) if _held else None


def above(path: Path) -> Found | None:
    """Return where in an unlocked workspace a file lies; None for others.

    Its place is how it is called there, also where a folder of the workspace is a link to another disk.
    """
    if not _held:
        return None
    where = Path(os.path.abspath(path))
    for folder in where.parents:
        workspace = os.path.realpath(folder)
        key = _held.get(workspace)
        if key is not None:
            return Found(where.relative_to(folder).as_posix(), key, workspace)
    return None


def received(pipe: IO[bytes]) -> DataKey:
    """Return the key that the starting process sent.

    Raises:
        InternalError: it sent none.
    """
    return DataKey(pipe.read(KEY_BYTES))
