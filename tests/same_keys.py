"""Keys of the workspaces that tests make: the same ones each time, so that a test meets the same people again.

A workspace's key decides who is set aside, which records stay in use, and which stand-ins are written. With a new key
each time a test of eighty letters has other people set aside in every run of the suite, and a statement that holds for
nearly all such draws fails now and then, beside changes that have nothing to do with it. Noise of mechanisms is of the
operating system still: what a test says of it must hold with a probability that the test names.

`UNDERSTUDY_TEST_KEYS=random` leaves the program's own keys, to see whether statements hold for other people too.
Processes that a test starts and that make a workspace of their own draw its key themselves.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

MODULE = "engine.store.disk.folder"


class Keys:
    """Keys by test file and by how many its current test has made: in the place of `secrets` where keys are made."""

    def __init__(self) -> None:
        self._file, self._made = "", 0

    def begin(self, path: Path) -> None:
        """Note which file's test begins, and take the module's `secrets` over once it is loaded."""
        self._file, self._made = path.name, 0
        module = sys.modules.get(MODULE)
        if module is not None and os.environ.get("UNDERSTUDY_TEST_KEYS") != "random":
            module.__dict__["secrets"] = self

    def token_bytes(self, size: int) -> bytes:
        """Return the next key of this test."""
        self._made += 1
        return hashlib.shake_256(f"{self._file}\0{self._made}".encode()).digest(size)

    def token_hex(self, size: int) -> str:
        """Return a name for a file that is at work: a new one each time, as in the program."""
        return os.urandom(size).hex()


KEYS = Keys()
