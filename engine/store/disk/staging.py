"""A copy of a release outside the workspace: staged beside its place, put there once the release is on record.

Privacy posture: what is staged holds released records, so its path is noted in the database before the first byte
is written, and whoever opens the workspace after a crash removes it (`discard`).
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import zipfile
from pathlib import Path

from engine.at_rest import files
from engine.errors import StorageError
from engine.store.disk.folder import file_errors, remove_tree, sync_folder

_STAGED = re.compile(r"\..+\.[0-9a-f]{12}\.part")


def beside(target: Path) -> Path:
    """Return a new hidden path in the folder of `target`."""
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")


def stage(bundle: Path, staged: Path, *, as_zip: bool) -> None:
    """Copy a bundle's files to a folder, or into one zip file, and flush them to disk."""
    with file_errors():
        staged.parent.mkdir(parents=True, exist_ok=True)
        if as_zip:
            with staged.open("xb") as file:
                os.fchmod(file.fileno(), 0o600)
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                    for part in sorted(bundle.iterdir()):
                        archive.writestr(zipfile.ZipInfo(part.name), files.read_bytes(part), zipfile.ZIP_DEFLATED)
                file.flush()
                os.fsync(file.fileno())
            return
        shutil.copytree(bundle, staged, copy_function=_copy)
        for part in staged.iterdir():
            with part.open("rb") as file:
                os.fsync(file.fileno())
        sync_folder(staged)


def _copy(source: str, target: str) -> None:
    """Copy a file out of the workspace, as it is read there: what leaves is not encrypted."""
    if files.encrypted(Path(source)):
        files.write_bytes(Path(target), files.read_bytes(Path(source)))
        shutil.copystat(source, target)
    else:
        shutil.copy2(source, target)


def place(staged: Path, target: Path) -> None:
    """Give what was staged its name; never over something that has come there meanwhile.

    Raises:
        StorageError: the name is taken, or the file system refuses.
    """
    with file_errors():
        try:
            if staged.is_dir():
                if target.exists():
                    raise FileExistsError
                os.rename(staged, target)  # fails on a folder with files in it
            else:
                os.link(staged, target)
                staged.unlink()
        except FileExistsError:
            raise StorageError(f"out: {target.name} exists by now; name another folder or zip file") from None
        sync_folder(target.parent)


def discard(staged: Path) -> bool:
    """Remove what was staged; return whether nothing of it is left. Other names than `beside` makes are not touched."""
    if not _STAGED.fullmatch(staged.name) or staged.is_symlink():
        return True
    try:
        if not staged.parent.exists():  # a disk that is not there today
            return False
        if staged.is_dir():
            remove_tree(staged)
        elif staged.exists():
            if staged.stat().st_nlink == 1:  # two: it was placed, and only its old name is left
                with staged.open("r+b") as file:
                    file.write(b"\0" * staged.stat().st_size)
                    file.flush()
                    os.fsync(file.fileno())
            staged.unlink()
    except (OSError, StorageError):
        return False
    return True
