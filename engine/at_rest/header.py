"""The header of an encrypted workspace, `encryption.json`: the data key, wrapped under a passphrase or a key file.

It holds no secret, but whoever has it can try passphrases, each of which costs 128 MiB and some tenths of a second. A
changed passphrase wraps the same data key anew and counts the generation up: nothing else is written. So whoever kept
an earlier header and knows its passphrase can still read; to shut them out, decrypt the workspace and encrypt it again.

Source: scrypt, RFC 7914; HKDF, RFC 5869; AES-256-GCM, NIST SP 800-38D.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.at_rest import keys
from engine.at_rest.keys import KEY_BYTES, DataKey
from engine.errors import StorageError, UserError
from engine.json_types import JSON, JSONObject, as_object

NAME = "encryption.json"
FORMAT, VERSION = "understudy-encryption", 1
LONGEST = 1 << 16  # bytes of a header
LEAST_SIGNS = 12
SCRYPT = {"n": 1 << 17, "r": 8, "p": 1}
MOST_MEMORY = 1 << 30  # bytes that a header may ask for
SALT_BYTES, NONCE_BYTES = 16, 12

DAMAGED = (
    f"The header of this encrypted workspace, {NAME}, is damaged. Put it back from a backup of this workspace; without "
    "it nothing can be read."
)


class LockedError(StorageError):
    """The workspace is encrypted and this process has no key for it."""


class WrongSecretError(UserError):
    """The passphrase, or the key file, is not that of the workspace."""


@dataclass(frozen=True, repr=False)
class Secret:
    """What opens a workspace: a passphrase in UTF-8, or a key file's 32 bytes."""

    by: Literal["passphrase", "key file"]
    value: bytes


def passphrase(text: str, *, new: bool = False) -> Secret:
    """Return a passphrase as a secret; composed and decomposed letters are the same (NFC).

    Raises:
        UserError: it is `new` and too short, or empty.
    """
    value = unicodedata.normalize("NFC", text)
    if new and len(value) < LEAST_SIGNS:
        raise UserError(f"passphrase: must have {LEAST_SIGNS} signs or more; several words are best")
    if not value:
        raise UserError("passphrase: must not be empty")
    return Secret("passphrase", value.encode("utf-8", "surrogatepass"))


def key_file(path: Path) -> Secret:
    """Return a key file's content as a secret.

    Raises:
        UserError: it cannot be read, or does not hold 32 bytes.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UserError("key file: must be a file, not a folder or a device")
        with path.open("rb") as file:
            value = file.read(KEY_BYTES + 1)
    except OSError as error:
        raise UserError(f"key file: cannot be read: {error.strerror or 'unknown reason'}") from None
    if len(value) != KEY_BYTES:
        raise UserError("key file: must hold exactly 32 bytes; `encrypt --key-file FILE` makes one where there is none")
    return Secret("key file", value)


@dataclass(frozen=True)
class Header:
    """What is known of a workspace's encryption without its key.

    Attributes:
        by: "passphrase" or "key file". generation: how often the data key was wrapped, counted from 1.
        check: tells whether a data key is the wrapped one.
    """

    by: str
    generation: int
    check: str
    body: JSONObject

    def unwrap(self, secret: Secret) -> DataKey:
        """Return the data key.

        Raises:
            WrongSecretError: the secret does not fit. StorageError: the header was changed.
        """
        if secret.by != self.by:
            raise WrongSecretError(f"This workspace opens with a {self.by}, not with a {secret.by}.")
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        wrapped = as_object(self.body["wrapped"])
        cipher = AESGCM(_wrapping_key(secret, as_object(self.body["unlock"])))
        nonce, held = (bytes.fromhex(str(wrapped[name])) for name in ("nonce", "key"))
        try:
            value = cipher.decrypt(nonce, held, _about(self.body))
        except InvalidTag:
            raise WrongSecretError(f"This is not the {self.by} of the workspace. Nothing was opened.") from None
        return DataKey(value)

    def fits(self, key: DataKey) -> bool:
        """Say whether a data key is the one that is wrapped here."""
        return secrets.compare_digest(key.check, self.check)

    def written(self) -> bytes:
        """Return the header as it is stored."""
        return (json.dumps(self.body, indent=1, sort_keys=True) + "\n").encode()


def wrap(key: DataKey, secret: Secret, generation: int = 1) -> Header:
    """Return a header that holds a data key under a secret."""
    unlock: dict[str, JSON] = {"by": secret.by, "salt": secrets.token_hex(SALT_BYTES)}
    unlock |= {"kdf": "scrypt", **SCRYPT} if secret.by == "passphrase" else {"kdf": "hkdf-sha256"}
    body: dict[str, JSON] = {
        "format": FORMAT, "version": VERSION, "generation": generation, "unlock": unlock, "check": key.check,
        "files": "AES-256-GCM", "database": "SQLCipher 4",
    }  # fmt: skip
    nonce = secrets.token_bytes(NONCE_BYTES)
    held = key.wrapped_by(_wrapping_key(secret, unlock), nonce, _about(body))
    body["wrapped"] = {"nonce": nonce.hex(), "key": held.hex()}
    body["sha256"] = _digest(body)
    return Header(secret.by, generation, key.check, body)


def parse(data: bytes) -> Header:
    """Return a header from its file's content.

    Raises:
        StorageError: it is damaged, or a newer program wrote it.
    """
    try:
        body = json.loads(data.decode("utf-8"))
        if body["format"] != FORMAT or not isinstance(body["version"], int):
            raise ValueError
        if body["version"] > VERSION:
            raise StorageError("A newer program encrypted this workspace. Update Understudy, then open it.")
        if not secrets.compare_digest(str(body["sha256"]), _digest(body)):
            raise ValueError
        return Header(str(body["unlock"]["by"]), int(body["generation"]), str(body["check"]), body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StorageError(DAMAGED) from None


def read(workspace: Path) -> Header | None:
    """Return the header of a workspace, None where it is not encrypted.

    Raises:
        StorageError: the header is damaged or cannot be read, or a newer program wrote it.
    """
    try:
        with (workspace / NAME).open("rb") as file:
            data = file.read(LONGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        raise StorageError(f"The header of this encrypted workspace, {NAME}, cannot be read.") from None
    return parse(data)


def demand(workspace: Path) -> None:
    """Refuse to go on with an encrypted workspace whose key this process does not have.

    Raises:
        LockedError: it is locked. StorageError: its header is damaged, or is not that of the key.
    """
    header, key = read(workspace), keys.of(workspace)
    if key is not None and header is None:
        raise StorageError(
            f"The header of this encrypted workspace, {NAME}, is missing. Put it back from a backup of this workspace."
        )
    if header is None:
        return
    if key is None:
        raise LockedError(
            f"This workspace is encrypted and locked. Open it with its {header.by}: on the page that asks for it, at "
            "the command line where it asks, or with --key-file FILE or the environment variable UNDERSTUDY_KEY_FILE."
        )
    if not header.fits(key):
        raise StorageError(f"The header of this workspace, {NAME}, is that of another workspace. Put its own back.")


def _wrapping_key(secret: Secret, unlock: JSONObject) -> bytes:
    try:
        salt = bytes.fromhex(str(unlock["salt"]))
        if unlock["kdf"] == "scrypt":
            n, r, p = (int(str(unlock[name])) for name in ("n", "r", "p"))
            if not (n > 1 and not n & (n - 1) and r > 0 and 0 < p <= 16 and 128 * n * r <= MOST_MEMORY):
                raise ValueError
            from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

            return Scrypt(salt, KEY_BYTES, n, r, p).derive(secret.value)
        if unlock["kdf"] == "hkdf-sha256":
            return DataKey(secret.value).derive("key file", salt)
        raise ValueError
    except (ValueError, KeyError, TypeError):
        raise StorageError(DAMAGED) from None


def _about(body: JSONObject) -> bytes:
    kept = {name: value for name, value in body.items() if name not in ("wrapped", "sha256")}
    return json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()


def _digest(body: JSONObject) -> str:
    wrapped = json.dumps(body["wrapped"], sort_keys=True).encode()
    return hashlib.sha256(_about(body) + wrapped).hexdigest()
