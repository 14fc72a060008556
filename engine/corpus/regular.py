"""Open plain files only: a pipe waits for ever and a device may never end."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path


class NotRegularError(OSError):
    """A pipe, a socket or a device stands where a file was expected."""


def open_regular(path: Path) -> BufferedReader:
    """Return a file opened for reading, without waiting.

    Raises:
        NotRegularError: it is no plain file. OSError: the system will not open it.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotRegularError
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # it was another thing a moment ago
        file.close()
        raise NotRegularError
    return file
