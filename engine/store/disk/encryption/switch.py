"""The step from a plain workspace to its encrypted copy, or back: decided by one file, finished by whoever comes next.

The copy is made whole and checked in a folder of its own inside the workspace. Then `encryption.switch` is written:
before it, the workspace is what it was, and the copy goes with other left-overs; from it on, the workspace is the copy.
What is left, overwriting the old files and moving the new ones to their places, needs no key, so that a process which
opens the workspace after a kill finishes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from engine.at_rest import header
from engine.errors import StorageError
from engine.store.disk.folder import (
    PART_SUFFIX,
    PARTS,
    Folder,
    file_errors,
    overwrite,
    remove_tree,
    sync_folder,
    write_private,
)
from engine.store.disk.lock import locked

NAME = "encryption.switch"
LOCK = "opening.lock"
TOPS = (*PARTS, "keys")  # folders of private files; each has a version (`engine.at_rest.versions`)
UNFINISHED = (PART_SUFFIX, ".tmp")
BESIDE = ("-wal", "-shm", "-journal")  # of a database

Kind = Literal["encrypted", "plain"]


def decide(folder: Folder, stage: Path, to: Kind) -> None:
    """Make the copy in `stage` the workspace: from here on there is no way back, and no way but on."""
    body = json.dumps({"stage": stage.name, "to": to}).encode()
    os.replace(write_private(folder.path / NAME, body), folder.path / NAME)
    sync_folder(folder.path)


def finish(folder: Folder) -> Kind | None:
    """Carry out what a killed process has decided; return what the workspace is since, None where nothing was left.

    Raises:
        StorageError: another process is at it for too long, or a file cannot be moved.
    """
    if not (folder.path / NAME).exists():
        return None
    with file_errors(), locked(folder.path / LOCK):
        return carry_out(folder)


def carry_out(folder: Folder) -> Kind | None:
    """Move the decided copy into place; the caller holds the lock. Can be begun again after a kill at any point."""
    switch = folder.path / NAME
    try:
        said = json.loads(switch.read_text("ascii"))
        stage, to = folder.path / Path(str(said["stage"])).name, said["to"]
    except FileNotFoundError:  # another process was first
        return None
    except (ValueError, KeyError, TypeError):
        raise StorageError(f"The file {switch.name} of the workspace is damaged. Restore a backup.") from None
    database = stage / folder.database.name
    if database.exists():
        for ending in BESIDE:
            folder.database.with_name(folder.database.name + ending).unlink(missing_ok=True)
    for new in _files(stage):
        _move(new, folder.path / new.relative_to(stage), keep_inode=new.name == folder.key_file.name)
    if to == "plain":
        remove_tree(folder.path / header.NAME)
    for place in _folders(folder):
        sync_folder(place)
    for path in [*_unfinished(folder), stage]:
        remove_tree(path)
    sync_folder(folder.path)
    switch.unlink()
    sync_folder(folder.path)
    found: Kind = "plain" if to == "plain" else "encrypted"
    return found


def private_files(folder: Folder) -> Iterator[Path]:
    """Yield every file that a workspace encrypts, the database apart; what a killed writer left is not among them."""
    yield folder.key_file
    yield from (path for path in _below(folder) if path.is_file() and not _is_unfinished(path, folder))


def _below(folder: Folder) -> Iterator[Path]:
    for top in TOPS:
        yield from (path for path in sorted((folder.path / top).rglob("*")) if not path.is_symlink())


def _is_unfinished(path: Path, folder: Folder) -> bool:
    return any(name.endswith(UNFINISHED) for name in path.relative_to(folder.path).parts)


def _unfinished(folder: Folder) -> list[Path]:
    return [path for path in _below(folder) if path.is_file() and _is_unfinished(path, folder)]


def _files(stage: Path) -> Iterator[Path]:
    yield from sorted(path for path in stage.rglob("*") if path.is_file())


def _folders(folder: Folder) -> Iterator[Path]:
    yield folder.path
    yield from (path for path in _below(folder) if path.is_dir())


def _move(new: Path, old: Path, *, keep_inode: bool) -> None:
    """Put a file in the place of another, whose content is overwritten first.

    The key file keeps its inode, by which a moved workspace is told from a copied one.
    """
    old.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if keep_inode and old.exists():
        data = new.read_bytes()
        with old.open("r+b") as file:
            file.write(data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        new.unlink()
        return
    with suppress(FileNotFoundError):
        if old.lstat().st_nlink == 1:
            overwrite(old)
    os.replace(new, old)
