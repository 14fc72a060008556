"""Backup and restore of a workspace as one zip file.

The file holds a consistent copy of the database (SQLite's backup interface; the rows of a PostgreSQL as a file of
SQLite), the record tables, the released files and the workspace key, with a manifest of SHA-256 digests. What is
restored is a workspace with a database file, wherever it was kept before.

Privacy posture: a backup holds all private text and the key; it is written owner-only.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath

from sqlalchemy import Connection, select

from engine.at_rest import header, keys
from engine.at_rest.header import Header, LockedError, Secret
from engine.at_rest.keys import DataKey
from engine.errors import StorageError, UserError
from engine.store.audit import now
from engine.store.budget import unknown
from engine.store.database.database import Database, database_errors
from engine.store.database.migrations import VERSION
from engine.store.database.schema import corpora, leases, pending_removals, releases, runs
from engine.store.disk import heads, parts
from engine.store.disk.blobs.keeper import Blobs
from engine.store.disk.copying import write_file
from engine.store.disk.encryption import cipher, versions
from engine.store.disk.folder import PARTS, SCRATCH, Folder, file_errors, part_beside, sync_folder
from engine.store.disk.opening import open_database

FORMAT = "understudy-workspace"
MANIFEST = "manifest.json"
EMBEDDINGS = "embeddings_"  # files of a corpus' folder that can be computed again stay out of backups
BLOCK = 1 << 20


def write_backup(
    database: Database, target: Path, skip: Callable[[str], None] = lambda path: None, blobs: Blobs | None = None
) -> Path:
    """Write the workspace of `database` to `target`, which must not exist yet.

    Writers wait while the database is copied and files are linked, not while they are packed. What was written is
    read again before it gets its name.

    Args:
        database: of the workspace. target: file to write. skip: told of the unfinished file before it is made, so
            that a killed backup leaves nothing. blobs: what keeps the workspace's files elsewhere, if anything does;
            they are brought here first.

    Raises:
        UserError: the file exists, or a corpus or run was deleted meanwhile.
        StorageError: the disk is full, a file cannot be brought here, or what was written cannot be read again.
    """
    target = Path(target).absolute()
    if target.exists():
        raise UserError("path: a file with this name exists already; choose another name for the backup")
    folder = database.folder
    with database_errors():
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary, snapshot = part_beside(target), part_beside(folder.path / "snapshot")
        skip(str(temporary))
        try:
            snapshot.mkdir(mode=0o700)
            if blobs is not None:
                blobs.fetch("")
            # A write transaction keeps tables and database in step: nothing is added or deleted meanwhile.
            with database.write() as connection:
                if database.is_file:
                    _copy_database(folder, snapshot / "understudy.sqlite")
                else:
                    write_file(connection, snapshot)
                skipped = list(connection.execute(select(pending_removals.c.path)).scalars())
                files = _linked(folder, snapshot, skipped, None if blobs is None else blobs.in_force(connection))
                before = _owners(connection)
            _pack(files, temporary)
            with database.read() as connection:
                if before - _owners(connection):
                    raise UserError(
                        "A corpus or a run was deleted while the backup was written, so no backup was made. Start it "
                        "again."
                    )
            _read_again(temporary)
            os.replace(temporary, target)
            sync_folder(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
            parts.remove(snapshot)
    return target


def restore(
    path: Path,
    workspace_path: Path,
    actor: str = "restore",
    *,
    secret: Secret | None = None,
    key: DataKey | None = None,
) -> Path:
    """Unpack a backup into a new or empty folder and return that folder.

    Every ledger of it gets a line that what was spent after the backup is unknown. A backup of an encrypted workspace
    stays encrypted, and is unlocked for this process.

    Args:
        path: of the backup. workspace_path: the folder. actor: for the audit log.
        secret: what opened the workspace when the backup was made; or key: of the workspace, where it is open.

    Raises:
        UserError: the file is no backup, is damaged, or the folder is not empty.
        LockedError: the backup is encrypted, and neither `secret` nor `key` is given or fits.
        StorageError: the backup comes from a newer program.
    """
    target = Path(workspace_path).absolute()
    with file_errors():
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UserError("workspace: the folder is not empty; restore into a new folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        parts.sweep_beside(target)
        staging = part_beside(target)
        try:
            with zipfile.ZipFile(path) as archive:
                manifest = _manifest(archive)
                found = _header(archive)
                key = None if found is None else _key(found, secret, key)
                _unpack(archive, manifest, staging)
            if key is not None:
                keys.hold(staging, key)
            _finish(Folder(staging), str(manifest.get("created") or "an unknown time"), actor)
            if target.exists():
                target.rmdir()
            os.replace(staging, target)
            sync_folder(target.parent)
            if key is not None:
                keys.hold(target, key)
        except FileNotFoundError:
            raise UserError("path: there is no such backup file; check the path") from None
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise UserError("path: the file is not a complete backup; choose a file that `backup` wrote") from None
        finally:
            keys.drop(staging)
            shutil.rmtree(staging, ignore_errors=True)
    return target


def opened_by(path: Path) -> str | None:
    """Return what opens an encrypted backup, "passphrase" or "key file"; None for a plain one, or none at all."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = _header(archive)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError):
        return None
    return None if found is None else found.by


def _header(archive: zipfile.ZipFile) -> Header | None:
    try:
        info = archive.getinfo(header.NAME)
    except KeyError:
        return None
    if info.file_size > header.LONGEST:
        raise UserError("path: the header of the backup's encryption is too long; it was changed")
    return header.parse(archive.read(info))


def _key(found: Header, secret: Secret | None, key: DataKey | None) -> DataKey:
    cipher.library()
    if secret is not None:
        return found.unwrap(secret)
    if key is None or not found.fits(key):
        raise LockedError(f"This backup is encrypted. Give the {found.by} that opened its workspace when it was made.")
    return key


def _finish(folder: Folder, created: str, actor: str) -> None:
    """Bring an unpacked workspace up to date and write what it has lost, before it gets its name."""
    key, database = open_database(folder, check_heads=False)
    try:
        with database.write() as connection:  # reservations of another machine, and of files it did not pack
            connection.execute(pending_removals.delete())
            connection.execute(leases.delete())  # of workers of the workspace it is from: what they held goes on
        versions.restored(folder, database, left_out)
        unknown.restored(database, key, actor, created)
        heads.keep(folder, database, key, anew=True)
        if not database.truncate_log():
            raise StorageError("The restored database could not be written to disk. Try again.")
    finally:
        database.close()


def _owners(connection: Connection) -> set[str]:
    """Return the ids of what files belong to: a deletion takes the id away before it overwrites the files."""
    return {str(i) for table in (corpora, runs, releases) for i in connection.execute(select(table.c.id)).scalars()}


def _copy_database(folder: Folder, target: Path) -> None:
    key = keys.of(folder.path)
    with closing(cipher.connect(folder.database, key)) as live, closing(cipher.connect(target, key)) as copy:
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def _linked(folder: Folder, snapshot: Path, skipped: list[str], in_force: Mapping[str, bool] | None) -> dict[str, Path]:
    """Return name → file of everything a backup holds, linked into the snapshot so that a later change spares it.

    Files are replaced as a whole and never written in place, so a link keeps what was there.

    in_force: where files lie elsewhere too, which of them count, and whether each is here; None where all here do.

    Raises:
        UserError: one was written by another machine since it was brought here.
    """
    files: dict[str, Path] = {"understudy.sqlite": snapshot / "understudy.sqlite", "workspace.key": folder.key_file}
    if (folder.path / header.NAME).exists():
        files[header.NAME] = folder.path / header.NAME
    for part in PARTS:
        for file in sorted((folder.path / part).rglob("*")):
            name = file.relative_to(folder.path).as_posix()
            out = left_out(PurePosixPath(name)) or any(name.startswith(s + "/") for s in skipped)
            if file.is_file() and not file.is_symlink() and not out and (in_force is None or name in in_force):
                _safe(name)
                files[name] = snapshot / f"{len(files):06d}"
                try:
                    os.link(file, files[name])
                except OSError:  # a disk without links
                    shutil.copyfile(file, files[name])
                    files[name].chmod(0o600)
    wanted = {name for name in in_force or () if not left_out(PurePosixPath(name))}
    behind = [name for name in wanted if not (in_force or {})[name] or name not in files]
    if [name for name in behind if not any(name.startswith(s + "/") for s in skipped)]:
        raise UserError("Another machine wrote to the workspace while the backup began. Start it again.")
    return files


def left_out(path: PurePosixPath) -> bool:
    """Say whether a backup leaves out a file, by its path below the workspace: it can be made again, or given again."""
    passing = path.parts[0] == "runs" and SCRATCH in path.parts[2:-1]
    return path.parts[0] not in PARTS or path.name.startswith((".", EMBEDDINGS)) or passing


def _pack(files: Mapping[str, Path], target: Path) -> None:
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


def _read_again(path: Path) -> None:
    """Read a written backup as `restore` would, without keeping anything of it.

    Raises:
        StorageError: it cannot be restored.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for name, entry in _listed(archive, _manifest(archive)).items():
                digest = hashlib.sha256()
                with archive.open(str(_safe(name))) as packed:
                    while block := packed.read(BLOCK):
                        digest.update(block)
                if digest.hexdigest() != entry["sha256"]:
                    raise UserError("a file differs")
    except (UserError, zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise StorageError(
            "The backup that was written cannot be read again, so it was not kept. Check the disk, then try again."
        ) from None


def _listed(archive: zipfile.ZipFile, manifest: dict[str, object]) -> dict[str, dict[str, object]]:
    listed: dict[str, dict[str, object]] = manifest["files"]  # type: ignore[assignment]
    names = [info.filename for info in archive.infolist() if info.filename != MANIFEST]
    if sorted(names) != sorted(listed):
        raise UserError("path: the backup's files differ from its manifest; it is damaged or was changed")
    return listed


def _unpack(archive: zipfile.ZipFile, manifest: dict[str, object], staging: Path) -> None:
    listed = _listed(archive, manifest)
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
    known = name in ("understudy.sqlite", "workspace.key", header.NAME) or (top in PARTS and len(path.parts) >= 3)
    if not known or ".." in path.parts or path.is_absolute() or "\\" in name or ":" in name:
        raise UserError("path: the backup names a file outside the workspace; it was changed")
    return path


def _digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
