"""A lock that one process of a workspace holds; the system frees it when that process dies."""

from __future__ import annotations

import os
from pathlib import Path

from engine.store.disk.lock import try_lock

_PID_PLACE = 64  # on Windows the locked byte must not cover the process id


class ProcessLock:
    """An exclusive lock on a file that also holds the owner's process id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int | None:
        """The open file while the lock is held: whoever inherits it holds the lock too."""
        return self._descriptor

    def acquire(self) -> bool:
        """Take the lock without waiting; False where another process holds it."""
        descriptor = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
        if not try_lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def name_owner(self, pid: int | None = None) -> None:
        """Write a process' id into the file, this one's by default."""
        assert self._descriptor is not None
        os.lseek(self._descriptor, _PID_PLACE, os.SEEK_SET)
        os.write(self._descriptor, f"{pid or os.getpid():>20}".encode())

    def release(self) -> None:
        """Free the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def held(self) -> bool:
        """Say whether some process, this one included, holds the lock."""
        if self._descriptor is not None:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDWR)
        except FileNotFoundError:
            return False
        free = try_lock(descriptor)
        os.close(descriptor)
        return not free

    def owner(self) -> int | None:
        """Return the process id that was written last, or None."""
        try:
            with self.path.open("rb") as file:
                file.seek(_PID_PLACE)
                text = file.read(20).decode("ascii", "ignore").strip()
        except OSError:
            return None
        return int(text) if text.isdecimal() else None
