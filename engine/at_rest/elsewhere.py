"""A workspace whose finished files lie elsewhere too, and whose folder is this machine's copy of them.

Whoever keeps them there (`engine.store.disk.blobs`) is told before a file is written, once it has its name, before it
is read and when it is removed. Where nobody does, none of this costs more than a look at an empty table.

Privacy posture: places of files, which are random ids and names of this program.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol
from weakref import ref


class Elsewhere(Protocol):
    """Keeps one workspace's finished files. Places are paths below it, with forward slashes."""

    def begin(self, place: str) -> None:
        """Note that this process is about to write a file here, which is therefore the one to be read here."""
        ...

    def settle(self, places: Sequence[str]) -> None:
        """Put files that have their names; returns once they are there and in force."""
        ...

    def fetch(self, place: str) -> None:
        """Have here what is in force of a file, or of a folder with all below it."""
        ...

    def leave(self, place: str) -> None:
        """Note, before it is removed here, that a file, or a folder with all below it, is no longer in force."""
        ...

    def left(self, place: str) -> None:
        """Remove there what `leave` was told of; what cannot be reached now is removed later."""
        ...


class Found(NamedTuple):
    """A file's place in a workspace, and who keeps that workspace's files."""

    place: str
    keeper: Elsewhere


_followed: dict[str, list[ref[Elsewhere]]] = {}  # by the workspace's path, links followed; one an opening


def follow(workspace: Path, keeper: Elsewhere) -> None:
    """Have this process tell a keeper of a workspace's files, for as long as somebody holds it."""
    _followed.setdefault(os.path.realpath(workspace), []).append(ref(keeper))


def drop(workspace: Path, keeper: Elsewhere) -> None:
    """End what `follow` began; nothing where it did not."""
    name = os.path.realpath(workspace)
    left = [one for one in _followed.pop(name, []) if one() not in (None, keeper)]
    if left:
        _followed[name] = left


def above(path: Path) -> Found | None:
    """Return where in such a workspace a file lies, as it is called there; None for others."""
    if not _followed:
        return None
    where = Path(os.path.abspath(path))
    for folder in (where, *where.parents):
        for one in reversed(_followed.get(os.path.realpath(folder), ())):
            if (keeper := one()) is not None:
                return Found("" if folder == where else where.relative_to(folder).as_posix(), keeper)
    return None
