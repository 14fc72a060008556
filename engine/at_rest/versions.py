"""Which version of each encrypted file is the one in force: what tells an earlier content from the present one.

A file's version is the random salt in its header: no two writings have the same, and content of another version does
not decrypt under it. Whoever keeps the versions (`engine.store.disk.encryption.versions`, in the encrypted database) is
told before a file is written and after it has its name, so that at every moment the version on the disk is a known one.

Privacy posture: places of files and random numbers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from weakref import ref

TOPS = ("corpora", "runs", "releases", "keys")  # folders of a workspace in which each file has a version in force

EARLIER = (
    "A file of the encrypted workspace is not the one that was written last: an earlier one, or one from elsewhere, "
    "was put in its place. It is not used. Put the latest back, or restore the workspace from a backup. "
    "`python -m engine audit --verify` names it."
)


class Versions(Protocol):
    """Keeps the versions in force of one workspace's files. Places are paths below it, with forward slashes."""

    def begin(self, place: str, version: bytes) -> None:
        """Note, before it is written, that a file may have this version too from now on."""
        ...

    def settle(self, places: Sequence[str]) -> None:
        """Note that files have their names: each has the version on the disk and no earlier one."""
        ...

    def knows(self, place: str, version: bytes) -> bool:
        """Say whether this version of a file is in force, or about to be."""
        ...

    def leave(self, found: Sequence[tuple[str, bytes]]) -> None:
        """Note, before they are removed, that these versions of files may be gone from now on."""
        ...

    def left(self, found: Sequence[tuple[str, bytes]]) -> None:
        """Forget versions whose files are gone."""
        ...


_followed: dict[str, list[ref[Versions]]] = {}  # by the workspace's path, links followed; one an opening


def follow(workspace: Path, versions: Versions) -> None:
    """Have the files of a workspace checked against these versions in this process, as long as somebody holds them."""
    _followed.setdefault(os.path.realpath(workspace), []).append(ref(versions))


def drop(workspace: Path, versions: Versions) -> None:
    """End what `follow` began; nothing where it did not."""
    name = os.path.realpath(workspace)
    left = [one for one in _followed.pop(name, []) if one() not in (None, versions)]
    if left:
        _followed[name] = left


def of(workspace: str, place: str) -> Versions | None:
    """Return who keeps the version of a file; None where it has none, or nobody has opened the workspace's database.

    workspace: its path, links followed.
    """
    found = _followed.get(workspace, ()) if place.partition("/")[0] in TOPS else ()
    return next((versions for one in reversed(found) if (versions := one()) is not None), None)
