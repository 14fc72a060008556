"""Locks on files: taken at once or waited for; the system frees them when their process dies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import StorageError

WAIT_SECONDS = 30.0


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this descriptor alone; False where somebody else holds it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(path: Path, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of a file inside the block, made owner-only where it is missing.

    Raises:
        StorageError: another process holds it for longer than `seconds`.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        deadline = time.monotonic() + seconds
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise StorageError("Another program holds the workspace for too long. Wait a moment and try again.")
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)
