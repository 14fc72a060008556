"""A workspace moved to another folder and another database: SQLite to PostgreSQL, or back.

The rows are copied in one transaction, the files beside them, and both chains are checked in the copy before it gets
its key. The old workspace gives its key away first, so that whenever a process is killed at most one of the two can be
opened: two that go on would spend one budget twice.

`join_workspace` makes no copy but another machine's folder of the same workspace.

Privacy posture: writes private text into the new folder and the new database alone; files are owner-only.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from engine.at_rest import header
from engine.errors import StorageError, UserError
from engine.store import audit
from engine.store.budget import lines as ledger_lines
from engine.store.database.database import Database
from engine.store.database.postgresql import WRITER, WRITER_MOVED
from engine.store.disk import heads, place
from engine.store.disk.address import blobs_url, database_url
from engine.store.disk.blobs import keeper
from engine.store.disk.blobs.keeper import Blobs
from engine.store.disk.copying import copy_rows, empty_database, new_file
from engine.store.disk.folder import PART_SUFFIX, PARTS, Folder, file_errors, sync_folder, write_atomic
from engine.store.disk.lock import locked
from engine.store.disk.opening import open_database

KEYS = "keys"  # of endpoints
MOVED = ".moved"
AT_WORK = "A worker is at work in this workspace. Stop it on the settings page, close the program, then try again."


@dataclass(frozen=True)
class Copied:
    """What was copied: rows, files, and how many lines of each chain were checked.

    elsewhere: what the source's part of its place of blobs is called, which stays; empty where it has none.
    """

    rows: int
    files: int
    audit: int
    ledger: int
    elsewhere: str = ""


def copy_workspace(source: Path, target: Path, *, keep: bool = False) -> Copied:
    """Copy a workspace into a new folder, whose `workspace.toml` names an empty PostgreSQL where it is to go there.

    Args:
        source: the workspace's folder. target: a folder that is new, empty, or holds a `workspace.toml` alone.
        keep: leave the old one open too; the new one's ledger then says that the other's spends are unknown.

    Raises:
        UserError: the target is no such folder; the source is encrypted.
        StorageError: the source is damaged, or a worker is at work in it; the target's database is not empty.
    """
    here, there = Folder(Path(source).absolute()), Folder(Path(target).absolute())
    _check(here, there)
    key, database = open_database(here)
    try:
        if not _free(here):
            raise StorageError(AT_WORK)
        with locked(here.worker_lock):
            database.truncate_log()
            there.create()
            blobs = keeper.opened(here, database, key)
            if blobs is not None:
                blobs.fetch("")
            copied = _copy(database, there, key, keep, blobs)
    finally:
        database.close()
    return copied


def join_workspace(source: Path, target: Path) -> Path:
    """Make the folder of a further machine for a workspace whose rows and tables lie where several machines reach them.

    It holds the key, so it is carried as one would carry the workspace. It is not a copy that spends by itself: both
    folders have one ledger.

    Args:
        source: the workspace's folder on a machine that has it. target: a folder that is new or empty.

    Returns:
        The new folder.

    Raises:
        UserError: the source is no such workspace, or the target is not empty or lies in it.
        StorageError: the source cannot be read, or the target not be written.
    """
    here, there = Folder(Path(source).absolute()), Folder(Path(target).absolute())
    _check(here, there)
    if database_url(here) is None or blobs_url(here) is None:
        raise UserError(
            "workspace join: the workspace.toml of the first folder must name both a database and a place of blobs, "
            "else another machine finds no tables"
        )
    with file_errors():
        if there.path.exists() and any(there.path.iterdir()):
            raise UserError("workspace join: the second folder is not empty; name a new one")
        kept = json.loads(here.head_file.read_text("utf-8"))
        kept.pop("place", None)  # the new one's is noted where it is first opened
        there.create()
        write_atomic(there.head_file, json.dumps(kept, indent=1).encode())
        write_atomic(there.settings_file, here.settings_file.read_bytes())
        write_atomic(there.key_file, here.key())
    return there.path


def _check(here: Folder, there: Folder) -> None:
    if not here.key_file.exists():
        raise UserError("workspace: the first folder holds no workspace; check the path")
    if header.read(here.path) is not None:
        raise UserError(
            "workspace copy: the workspace is encrypted, and its copy would be a plain one; run `decrypt` first"
        )
    if here.path.resolve() == there.path.resolve() or here.path.resolve() in there.path.resolve().parents:
        raise UserError("workspace: the second folder must lie outside the first")
    with file_errors():
        if there.path.exists() and {path.name for path in there.path.iterdir()} - {there.settings_file.name, *PARTS}:
            raise UserError("workspace copy: the second folder is not empty; name a new one")


def _free(here: Folder) -> bool:
    try:
        with locked(here.worker_lock, 0.5):
            return True
    except StorageError:
        return False


def _copy(database: Database, there: Folder, key: bytes, keep: bool, blobs: Blobs | None) -> Copied:
    new = empty_database(there) if there.settings_file.exists() else new_file(there)
    try:
        with database.write() as connection:  # nobody writes meanwhile
            with new.write() as target:
                rows = copy_rows(connection, target)
            files = _copy_files(database.folder, there, None if blobs is None else blobs.in_force(connection))
            lines = _same_chains(connection, new, key)
            if not keep:
                _retire(database, connection)
        _give_key(database.folder, there, new, key, keep)
    finally:
        new.close()
    return Copied(rows, files, *lines, "" if blobs is None else blobs.ident)


def _copy_files(here: Folder, there: Folder, in_force: Mapping[str, bool] | None) -> int:
    """Copy what the parts of a workspace hold, and its endpoints' keys; return how many files that were.

    in_force: where files lie elsewhere too, which of them count, and whether each is here; None where all here do.

    Raises:
        StorageError: another machine wrote one of them meanwhile.
    """
    if in_force is not None and not all(in_force.values()):
        raise StorageError("Another machine is at work in this workspace. Stop its worker, then try again.")
    copied = 0
    with file_errors():
        for file in _files(here):
            name = file.relative_to(here.path).as_posix()
            if in_force is not None and not name.startswith(f"{KEYS}/") and name not in in_force:
                continue  # not finished, or no longer in force
            target = there.path / file.relative_to(here.path)
            for folder in reversed(target.relative_to(there.path).parents[:-1]):
                (there.path / folder).mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as out, file.open("rb") as packed:
                shutil.copyfileobj(packed, out, 1 << 20)
                out.flush()
                os.fsync(out.fileno())
            copied += 1
    return copied


def _files(here: Folder) -> Iterator[Path]:
    for part in (*PARTS, KEYS):
        for file in sorted((here.path / part).rglob("*")):
            if file.is_file() and not file.is_symlink() and not file.name.endswith(PART_SUFFIX):
                yield file


def _same_chains(connection: Connection, new: Database, key: bytes) -> tuple[int, int]:
    """Check both chains of the copy against the key and the source's heads; return how many lines each has."""
    lines = []
    with new.read() as copy:
        for chain in (audit.CHAIN, ledger_lines.CHAIN):
            before, after = chain.verify(connection, key), chain.verify(copy, key)
            if not after["ok"] or before != after:
                raise StorageError(
                    f"The {chain.name} does not hold in the copy from line {after['first_bad'] or before['first_bad']} "
                    "on, so it was not used. See `audit --verify` of the first workspace."
                )
            lines.append(after["lines"])
    return lines[0], lines[1]


def _retire(database: Database, connection: Connection) -> None:
    """Take the old workspace's key and database from everybody who has it open, or would open it."""
    folder = database.folder
    with file_errors():
        os.replace(folder.key_file, folder.key_file.with_name(folder.key_file.name + MOVED))
        sync_folder(folder.path)
        if database.is_file:
            os.replace(folder.database, folder.database.with_name(folder.database.name + MOVED))
        else:
            connection.exec_driver_sql(f"ALTER TABLE {WRITER} RENAME TO {WRITER_MOVED}")


def _give_key(here: Folder, there: Folder, new: Database, key: bytes, keep: bool) -> None:
    """Write the new workspace's key, and what tells its place and whether its database is the latest."""
    if keep:
        with file_errors():
            write_atomic(there.head_file, here.head_file.read_bytes())
        write_atomic(there.key_file, key)
        return
    write_atomic(there.key_file, key)
    heads.keep(there, new, key, anew=True, place=place.here(there, key))
