"""Unlocking a workspace for this process; wrong passphrases make the next try wait."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from threading import Lock

from engine.at_rest import keys
from engine.at_rest.header import Header, Secret, WrongSecretError, key_file, read
from engine.errors import StorageError, UserError

ENVIRONMENT = "UNDERSTUDY_KEY_FILE"
LONGEST_WAIT = 60.0  # seconds after many wrong ones

_tries: dict[str, tuple[int, float]] = {}  # wrong ones in a row, and when the next may come
_one_at_a_time = Lock()  # each costs 128 MiB


def locked(workspace: Path) -> Header | None:
    """Return the header of a workspace that this process has yet to unlock, None where nothing is to be unlocked.

    Raises:
        StorageError: the header is damaged.
    """
    return None if keys.of(workspace) is not None else read(workspace)


def unlock(workspace: Path, secret: Secret) -> None:
    """Keep the key of a workspace for this process.

    Raises:
        WrongSecretError: it is another. UserError: the last try was wrong and too near.
        StorageError: the workspace has no header, or a damaged one.
    """
    header = read(workspace)
    if header is None:
        raise StorageError("This workspace is not encrypted; there is nothing to unlock.")
    name = os.path.realpath(workspace)
    with _one_at_a_time:
        wrong, until = _tries.get(name, (0, 0.0))
        left = until - time.monotonic()
        if left > 0:
            raise UserError(f"Wrong ones were given before. Wait {math.ceil(left)} seconds, then try again.")
        try:
            key = header.unwrap(secret)
        except WrongSecretError:
            _tries[name] = (wrong + 1, time.monotonic() + min(2.0**wrong, LONGEST_WAIT))
            raise
        _tries.pop(name, None)
    keys.hold(workspace, key)


def unlock_from_environment(workspace: Path) -> bool:
    """Unlock a workspace that opens with a key file with the one that `UNDERSTUDY_KEY_FILE` names.

    Returns:
        Whether it was unlocked: False where none is named, or the workspace opens with a passphrase.

    Raises:
        UserError: the file cannot be read, or is not that of the workspace.
    """
    named = os.environ.get(ENVIRONMENT, "").strip()
    header = read(workspace)
    if not named or header is None or header.by != "key file":
        return False
    unlock(workspace, key_file(Path(named).expanduser()))
    return True
