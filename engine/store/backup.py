"""Backup and restore of a workspace as one zip file.

The file holds a consistent copy of the database (SQLite's backup interface), the record tables, the
released files and the workspace key, with a manifest of SHA-256 digests.

Privacy posture: a backup holds all private text and the key; it is written owner-only.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path, PurePosixPath

from sqlalchemy import select

from engine.errors import StorageError, UserError
from engine.store.audit import now
from engine.store.database import Database, database_errors
from engine.store.folder import SCRATCH, Folder, file_errors, sync_folder
from engine.store.migrations import VERSION, migrate
from engine.store.schema import pending_removals

FORMAT = "understudy-workspace"
MANIFEST = "manifest.json"
PARTS = ("corpora", "runs", "releases")
EMBEDDINGS = "embeddings_"  # files of a corpus' folder that can be computed again stay out of backups
BLOCK = 1 << 20


def write_backup(database: Database, target: Path) -> Path:
    """Write the workspace of `database` to `target`, which must not exist yet."""
    target = Path(target).absolute()
    if target.exists():
        raise UserError("path: a file with this name exists already; choose another name for the backup")
    folder = database.folder
    with database_errors():
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        snapshot = folder.path / f".snapshot.{secrets.token_hex(6)}.part"
        try:
            os.close(os.open(snapshot, os.O_CREAT | os.O_EXCL, 0o600))
            # A write transaction keeps tables and database in step: nothing is added or deleted meanwhile.
            with database.write() as connection:
                _copy_database(folder.database, snapshot)
                skipped = list(connection.execute(select(pending_removals.c.path)).scalars())
                _pack(folder, snapshot, temporary, skipped)
            os.replace(temporary, target)
            sync_folder(target.parent)
        finally:
            for leftover in (temporary, snapshot):
                leftover.unlink(missing_ok=True)
    return target


def restore(path: Path, workspace_path: Path) -> Path:
    """Unpack a backup into a new or empty folder and return that folder.

    Raises:
        UserError: the file is no backup, is damaged, or the folder is not empty.
        StorageError: the backup comes from a newer program.
    """
    target = Path(workspace_path).absolute()
    with file_errors():
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UserError("workspace: the folder is not empty; restore into a new folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, staging)
            if target.exists():
                target.rmdir()
            os.replace(staging, target)
            sync_folder(target.parent)
        except FileNotFoundError:
            raise UserError("path: there is no such backup file; check the path") from None
        except (zipfile.BadZipFile, EOFError):
            raise UserError("path: the file is not a complete backup; choose a file that `backup` wrote") from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    folder = Folder(target)
    folder.create()
    database = Database(folder)
    try:
        migrate(database)
    finally:
        database.close()
    return target


def _copy_database(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def _pack(folder: Folder, snapshot: Path, target: Path, skipped: list[str]) -> None:
    files: dict[str, Path] = {"understudy.sqlite": snapshot, "workspace.key": folder.key_file}
    for part in PARTS:
        for file in sorted((folder.path / part).rglob("*")):
            name = file.relative_to(folder.path).as_posix()
            left_out = file.name.startswith((".", EMBEDDINGS)) or any(name.startswith(s + "/") for s in skipped)
            left_out |= name.startswith("runs/") and SCRATCH in file.relative_to(folder.path).parts[2:-1]
            if file.is_file() and not left_out:
                files[name] = file
    manifest = {
        "format": FORMAT,
        "schema_version": VERSION,
        "created": now(),
        "files": {name: {"sha256": _digest(file), "bytes": file.stat().st_size} for name, file in files.items()},
    }
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as raw:
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(MANIFEST, json.dumps(manifest, indent=1, sort_keys=True))
            for name, file in files.items():
                archive.write(file, name)
        raw.flush()
        os.fsync(raw.fileno())


def _unpack(archive: zipfile.ZipFile, staging: Path) -> None:
    manifest = _manifest(archive)
    listed: dict[str, dict[str, object]] = manifest["files"]  # type: ignore[assignment]
    names = [info.filename for info in archive.infolist() if info.filename != MANIFEST]
    if sorted(names) != sorted(listed):
        raise UserError("path: the backup's files differ from its manifest; it is damaged or was changed")
    staging.mkdir(mode=0o700)
    for name, entry in listed.items():
        target = staging / _safe(name)
        for folder in reversed(target.relative_to(staging).parents[:-1]):
            (staging / folder).mkdir(mode=0o700, exist_ok=True)
        digest, left = hashlib.sha256(), int(str(entry["bytes"]))
        descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as out, archive.open(name) as packed:
            while block := packed.read(BLOCK):
                left -= len(block)
                if left < 0:
                    raise UserError("path: a file of the backup is larger than its manifest says; it was changed")
                digest.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != entry["sha256"]:
            raise UserError("path: a file of the backup does not match its digest; it is damaged or was changed")


def _manifest(archive: zipfile.ZipFile) -> dict[str, object]:
    try:
        manifest = json.loads(archive.read(MANIFEST))
        right = manifest["format"] == FORMAT and {"understudy.sqlite", "workspace.key"} <= set(manifest["files"])
        version = int(manifest["schema_version"])
    except (KeyError, ValueError, TypeError):
        right, version = False, 0
    if not right:
        raise UserError("path: the file is not a backup of a workspace; choose a file that `backup` wrote")
    if version > VERSION:
        raise StorageError(
            f"This backup has schema version {version}; this program knows versions up to {VERSION}. "
            "Update Understudy, then restore it."
        )
    return dict(manifest)


def _safe(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    top = path.parts[0] if path.parts else ""
    known = name in ("understudy.sqlite", "workspace.key") or (top in PARTS and len(path.parts) == 3)
    if not known or ".." in path.parts or path.is_absolute() or "\\" in name or ":" in name:
        raise UserError("path: the backup names a file outside the workspace; it was changed")
    return path


def _digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
