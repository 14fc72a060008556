"""Where a workspace lies: tells a folder that was copied from one that was moved.

A move on one file system keeps the key file's inode, a copy makes another one. So a workspace whose key file is another
file than it was, at another path, on another machine or changed at another time, is a copy: also one that was moved to
another file system, since that is a copy and a deletion, and one that was saved elsewhere and put back at its own
place. Inodes alone do not count, since some file systems give new ones at each mount; the time at which a file was
made or last changed its attributes stays.

Not noticed: a copy or snapshot of the whole disk, which keeps path and inodes; a folder that was put aside and put back
while a copy of it was used in its place; and the folder that was copied never learns of its copy.

Privacy posture: the path stays in the workspace; of the machine's id a keyed digest is kept.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from engine.corpus.keyed import keyed_digest
from engine.store.disk.folder import Folder, file_errors

MACHINE_FILE = Path("/etc/machine-id")


@dataclass(frozen=True)
class Place:
    """A workspace's path, a keyed digest of its machine's id, and the inode of its key file.

    changed: when the key file was made or its attributes last changed, in nanoseconds; 0 where an earlier version
    did not keep it.
    """

    path: str
    machine: str
    inode: int
    changed: int = 0


def here(folder: Folder, key: bytes) -> Place:
    """Return where a workspace lies now."""
    with file_errors():
        file = folder.key_file.stat()
        machine = keyed_digest(key, "machine", _machine()).hex()[:32]
        return Place(str(folder.path.resolve()), machine, file.st_ino, file.st_ctime_ns)


def working_place(folder: Folder, key: bytes) -> str:
    """Return a keyed digest of the machine and the folder in which one worker works at a time."""
    return keyed_digest(key, "worker", f"{_machine()}\0{folder.path.resolve()}").hex()[:32]


def is_copy(before: Place, now: Place) -> bool:
    """Say whether a workspace was copied from one place to another."""
    elsewhere = (before.path, before.machine) != (now.path, now.machine)
    return before.inode != now.inode and (elsewhere or before.changed not in (0, now.changed))


def _machine() -> str:
    try:
        return MACHINE_FILE.read_text("ascii").strip() or str(uuid.getnode())
    except (OSError, ValueError):
        return str(uuid.getnode())
