"""Sign what leaves with Ed25519, and make the key that does.

Privacy posture: the private key lies outside the workspace, so that a backup never carries it; errors name its file
and never its content.

Reference: RFC 8032. The recipient's side is `engine.release.bundle.checker`, which needs nothing but Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import RefusedError, StorageError, UserError


@dataclass(frozen=True)
class Signer:
    """A key that signs: its public half in hexadecimal, and the signature of some bytes in hexadecimal."""

    public: str
    sign: Callable[[bytes], str]


def make_key(path: Path, workspace: Path) -> str:
    """Write a new private key at `path`, for its owner alone, and its public half beside it; return the latter.

    Raises:
        RefusedError: the place is inside the workspace.
        UserError: there is something at `path` already.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    _outside(path, workspace)
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw().hex()
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    beside = path.with_name(f"{path.name}.pub")
    if path.exists() or beside.exists():
        raise UserError(f"key: {path.name} or {beside.name} exists already; a key is never overwritten")
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        beside.write_text(f"{public}\n", "ascii")
    except OSError as error:
        raise StorageError(f"key: {path.name} cannot be written: {error.strerror or 'unknown reason'}") from error
    return public


def read_key(path: Path, workspace: Path) -> Signer:
    """Read a private key that `make_key` wrote.

    Raises:
        RefusedError: the file lies inside the workspace, or others than its owner may read it.
        UserError: there is no such file, or it holds no such key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    _outside(path, workspace)
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise RefusedError(f"key: others may read {path.name}; let its owner alone read it (chmod 600)")
            key = load_pem_private_key(file.read(10_000), password=None)
    except OSError as error:
        raise UserError(f"key: {path.name} cannot be read: {error.strerror or 'unknown reason'}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UserError(f"key: {path.name} holds no private key without a password; `key` makes one") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"key: {path.name} holds a key of another kind than Ed25519; `key` makes one")
    private = key
    return Signer(private.public_key().public_bytes_raw().hex(), lambda data: private.sign(data).hex())


def _outside(path: Path, workspace: Path) -> None:
    if path.resolve().is_relative_to(workspace.resolve()):
        raise RefusedError("key: keep it outside the workspace, so that no backup and no copy of it carries the key")
