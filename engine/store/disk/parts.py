"""Files and folders that are being written: their names, who writes them, and what a killed writer left behind.

Names are `.NAME.PID.RANDOM.part`, so that a left-over one can be told from one at work. A process id that was
given to another process meanwhile is told by that process' age.

Privacy posture: a part may hold private text, so a left-over one is overwritten before it is deleted.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from engine.store.disk.folder import PART_SUFFIX, file_errors, remove_tree

SLACK_SECONDS = 2.0  # between the clocks of files and of processes
OLD_SECONDS = 86_400.0  # a part without a process id, made by an earlier version
NAMED = re.compile(r"\..+\.(\d{1,10})\.[0-9a-f]{8,}\.part")
UNNAMED = re.compile(r"\.(?:snapshot|probe|.+)\.[0-9a-f]{8,12}\.part")


def left_over(path: Path) -> bool:
    """Say whether the process that wrote a part is gone."""
    try:
        written = path.lstat().st_mtime
    except FileNotFoundError:
        return False
    named = NAMED.fullmatch(path.name)
    if named:
        return not writes(int(named[1]), written)
    return UNNAMED.fullmatch(path.name) is not None and time.time() - written > OLD_SECONDS


def writes(pid: int, since: float) -> bool:
    """Say whether the process with this id was at work at this time (seconds since 1970) and still is."""
    import psutil

    try:
        return bool(psutil.Process(pid).create_time() <= since + SLACK_SECONDS)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def left_overs(workspace: Path) -> list[Path]:
    """Return what killed writers left in a workspace folder, and beside it from a restore into it."""
    with file_errors():
        inside = [path for folder in _folders(workspace) for path in _parts(folder, "")]
        return sorted(path for path in (*inside, *_beside(workspace)) if left_over(path))


def sweep(workspace: Path) -> int:
    """Overwrite and delete what killed writers left; return how many files and folders that were."""
    found = left_overs(workspace)
    for path in found:
        remove(path)
    return len(found)


def sweep_beside(workspace: Path) -> None:
    """Overwrite and delete what killed restores into a folder left beside it."""
    for path in _beside(workspace):
        if left_over(path):
            remove(path)


def remove(path: Path) -> None:
    """Delete a part; a file that is also the workspace's own, linked for a backup, is not overwritten."""
    if path.is_dir():
        for file in path.rglob("*"):
            if file.is_file() and not file.is_symlink() and file.stat().st_nlink == 1:
                remove_tree(file)
        shutil.rmtree(path, ignore_errors=True)
    else:
        remove_tree(path)


def _beside(workspace: Path) -> list[Path]:
    return _parts(workspace.parent, f".{workspace.name}.") if workspace.parent != workspace else []


def _folders(workspace: Path) -> Iterator[Path]:
    """Yield the workspace and the folders below it two levels deep: nothing is written at once further down."""
    yield workspace
    for top in _subfolders(workspace):
        yield top
        yield from _subfolders(top)


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, PermissionError):
        return []


def _parts(folder: Path, begin: str) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.name.startswith(begin or ".") and e.name.endswith(PART_SUFFIX)]
    except (FileNotFoundError, PermissionError):
        return []
    return [folder / name for name in names]
