"""Where a workspace lies: tells a folder that was copied from one that was moved.

A move on one file system keeps the key file's inode, a copy makes another one. So a workspace whose key file is another
file than it was, at another path or on another machine, is a copy: also one that was moved to another file system,
since that is a copy and a deletion. Inodes alone do not count, since some file systems give new ones at each mount.

Not noticed: a copy or snapshot of the whole disk, which keeps path and inodes; a folder that is put back at its own
place; and the folder that was copied never learns of its copy.

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
    """A workspace's path, a keyed digest of its machine's id, and the inode of its key file."""

    path: str
    machine: str
    inode: int


def here(folder: Folder, key: bytes) -> Place:
    """Return where a workspace lies now."""
    with file_errors():
        inode = folder.key_file.stat().st_ino
        return Place(str(folder.path.resolve()), keyed_digest(key, "machine", _machine()).hex()[:32], inode)


def is_copy(before: Place, now: Place) -> bool:
    """Say whether a workspace was copied from one place to another."""
    return before.inode != now.inode and (before.path, before.machine) != (now.path, now.machine)


def _machine() -> str:
    try:
        return MACHINE_FILE.read_text("ascii").strip() or str(uuid.getnode())
    except (OSError, ValueError):
        return str(uuid.getnode())
