"""Encrypting a workspace, decrypting it, and changing what opens it.

A conversion makes a whole copy, checks every file and every row of it against the original, and only then makes it the
workspace (`switch`). A kill at any point leaves the one or the other whole. It needs the workspace
alone: while a page or the worker has it open, it is refused.

Encrypted: record tables, spans, decisions, synthetic text, logs and settings (the database), tables of runs, embeddings
and other caches, tuned weights, parts of unfinished work, released bundles kept inside, keys of endpoints, the key of
digests. Not encrypted: names and sizes of files, the worker's log and the heads of the logs, which hold no text, and
models that were put into the workspace.

Privacy posture: no secret goes into a message; plain files are overwritten before they are deleted.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import zip_longest
from pathlib import Path

from engine.at_rest import header, keys, sealed, unlocking
from engine.at_rest.header import Header, Secret
from engine.at_rest.keys import KEY_BYTES, DataKey
from engine.errors import RefusedError, StorageError, UserError
from engine.store import audit
from engine.store.disk import parts
from engine.store.disk.address import database_url, default_path
from engine.store.disk.encryption import cipher, header_age, switch, versions
from engine.store.disk.encryption.switch import Kind
from engine.store.disk.folder import (
    TEMPORARY,
    Folder,
    file_errors,
    part_beside,
    remove_tree,
    sync_folder,
    write_private,
)
from engine.store.disk.lock import locked
from engine.store.disk.opening import open_database

PATIENCE_SECONDS = 6.0  # a worker that was stopped takes a moment to end
OPEN_ELSEWHERE = (
    "Another process has this workspace open. Stop the program in its terminal, then try again. Nothing was changed."
)
ELSEWHERE = (
    "A part of this workspace lies on another disk, by a link or a mount. Bring it into the folder first, or put the "
    "whole folder there. Nothing was changed."
)
NO_FILE = (
    "The database of this workspace is not a file in its folder, so it cannot be encrypted here. Encrypt the disk that "
    "it lies on. Nothing was changed."
)
DIFFERS = "The copy that was made differs from the original, so it was not used. Check the disk, then try again."


def state(path: Path | None = None) -> Kind:
    """Say whether a workspace is encrypted, after finishing a conversion that was cut off.

    Raises:
        StorageError: its header is damaged.
    """
    folder = _folder(path)
    switch.finish(folder)
    return "plain" if header.read(folder.path) is None else "encrypted"


def opens_with(path: Path | None = None) -> str | None:
    """Return what opens a workspace, "passphrase" or "key file"; None for one that is not encrypted.

    Raises:
        StorageError: its header is damaged.
    """
    found = header.read(_folder(path).path)
    return None if found is None else found.by


def unlock(given: str, path: Path | None = None) -> None:
    """Unlock a workspace for this process.

    Args:
        given: its passphrase; or where it opens with a key file, that file's path. path: the folder; None means the
            default one.

    Raises:
        WrongSecretError: it is another. UserError: the last try was wrong and too near, or the file cannot be read.
    """
    folder = _folder(path)
    by_file = opens_with(folder.path) == "key file"
    secret = header.key_file(Path(given.strip()).expanduser()) if by_file else header.passphrase(given)
    unlocking.unlock(folder.path, secret)


def encrypt(secret: Secret, path: Path | None = None, actor: str = "custodian") -> Path:
    """Encrypt a workspace in place, or begin a new one encrypted; it is unlocked for this process afterwards.

    Args:
        secret: opens it from now on. path: the folder; None means the default one. actor: for the audit log.

    Returns:
        The folder.

    Raises:
        UserError: it is encrypted already. RefusedError: another process has it open.
        StorageError: the driver is missing, the disk is full, or the workspace cannot be read.
    """
    cipher.library()
    folder = _folder(path)
    if state(folder.path) == "encrypted":
        raise UserError("The workspace is encrypted already. To change what opens it, run `rekey`.")
    key = DataKey.new()
    made = header.wrap(key, secret)
    if _is_new(folder):
        _begin(folder, key, made)
    else:
        _convert(folder, None, key, made, actor)
    keys.hold(folder.path, key)
    _note(folder, "workspace encrypted", actor, opened_by=secret.by)
    return folder.path


def decrypt(path: Path | None = None, actor: str = "custodian") -> Path:
    """Make an encrypted workspace a plain one again; this process must have unlocked it.

    Raises:
        UserError: it is not encrypted. LockedError: it is locked. RefusedError: another process has it open.
        StorageError: the disk is full, or a file of it was changed.
    """
    folder = _folder(path)
    if state(folder.path) == "plain":
        raise UserError("The workspace is not encrypted.")
    header.demand(folder.path)
    key = keys.of(folder.path)
    assert key is not None
    _convert(folder, key, None, None, actor)
    keys.drop(folder.path)
    _note(folder, "workspace decrypted", actor)
    return folder.path


def rekey(secret: Secret, path: Path | None = None, actor: str = "custodian") -> int:
    """Change what opens a workspace that this process has unlocked; return how often that was done, counted from 1.

    Only the header is written, in one step: the data key stays. An earlier header is of use to nobody without its
    passphrase, and is refused where the database has seen a later one.

    Raises:
        UserError: it is not encrypted. LockedError: it is locked. StorageError: it cannot be read or written.
    """
    folder = _folder(path)
    if state(folder.path) == "plain":
        raise UserError("The workspace is not encrypted. To encrypt it, run `encrypt`.")
    header.demand(folder.path)
    before, key = header.read(folder.path), keys.of(folder.path)
    assert before is not None
    assert key is not None
    _, database = open_database(folder, check_header=False)
    try:
        generation = max(before.generation, header_age.seen(database)) + 1
    finally:
        database.close()
    _put(folder, header.wrap(key, secret, generation))
    _note(folder, "encryption opened by another secret", actor, opened_by=secret.by)
    return generation


def new_key_file(path: Path, workspace: Path | None = None) -> Secret:
    """Return the secret of a key file, which is made, owner-only, where there is none.

    Raises:
        UserError: it would lie in the workspace that it opens, or cannot be read or written.
    """
    inside = os.path.realpath(_folder(workspace).path)
    if os.path.realpath(path).startswith(inside + os.sep):
        raise UserError("key file: must lie outside the workspace that it opens, best on another disk")
    if path.exists():
        return header.key_file(path)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(f"key file: cannot be written: {error.strerror or 'unknown reason'}") from None
    return header.key_file(path)


def _folder(path: Path | None) -> Folder:
    return Folder((Path(path) if path is not None else default_path()).absolute())


def _is_new(folder: Folder) -> bool:
    """Say whether a folder is missing or empty."""
    with file_errors():
        return not folder.path.exists() or (folder.path.is_dir() and not any(folder.path.iterdir()))


def _begin(folder: Folder, key: DataKey, made: Header) -> None:
    """Begin a workspace with its header, so that nothing is ever written plain."""
    folder.create()
    _put(folder, made)
    keys.hold(folder.path, key)
    try:
        open_database(folder)[1].close()
    except BaseException:
        keys.drop(folder.path)
        raise


def _put(folder: Folder, made: Header) -> None:
    """Write a header in one step."""
    with file_errors():
        os.replace(write_private(folder.path / header.NAME, made.written()), folder.path / header.NAME)
        sync_folder(folder.path)


def _note(folder: Folder, action: str, actor: str, **detail: object) -> None:
    key, database = open_database(folder)
    try:
        with database.write() as connection:
            audit.append(connection, key, actor, action, "", detail)
    finally:
        database.close()


def _convert(folder: Folder, old: DataKey | None, new: DataKey | None, made: Header | None, actor: str) -> None:
    """Copy a workspace from one key to another, None for none, check the copy, and make it the workspace."""
    if database_url(folder) is not None:
        raise RefusedError(NO_FILE)
    _check_in_one_place(folder)
    _check_versions(folder)
    _note(folder, "encryption asked for" if new is not None else "decryption asked for", actor)
    if not folder.database.exists():
        raise RefusedError(NO_FILE)
    parts.sweep(folder.path)
    remove_tree(folder.path / TEMPORARY)
    with file_errors(), ExitStack() as alone:
        alone.enter_context(_no_worker(folder))
        live = alone.enter_context(_alone(folder, old))
        stage = part_beside(folder.path / "encryption")
        try:
            stage.mkdir(mode=0o700)
            for file in switch.private_files(folder):
                _copy_file(folder, file, stage, old, new)
            _copy_database(live, stage / folder.database.name, old, new)
            if made is not None:
                os.replace(write_private(stage / header.NAME, made.written()), stage / header.NAME)
            _flush(stage)
        except BaseException:
            parts.remove(stage)
            raise
        with locked(folder.path / switch.LOCK):
            switch.decide(folder, stage, "plain" if new is None else "encrypted")
            if os.name == "nt":  # an open file cannot be replaced there; who comes now finds the switch
                live.close()
            switch.carry_out(folder)


def _check_versions(folder: Folder) -> None:
    """Refuse to copy an earlier file, which would be in force in the copy."""
    _, database = open_database(folder)
    try:
        versions.recover(folder, database)
        found = versions.breaks(folder, database)
    finally:
        database.close()
    if found:
        raise StorageError(f"{found[0]} Restore the workspace from a backup. Nothing was changed.")


def _check_in_one_place(folder: Folder) -> None:
    """Refuse a workspace whose files could not be moved into place.

    Raises:
        RefusedError: a folder or file of it is a link, or lies on another disk.
    """
    with file_errors():
        disk = folder.path.stat().st_dev
        for top in switch.TOPS:
            for path in ((folder.path / top), *(folder.path / top).rglob("*")):
                if path.is_symlink() or (path.exists() and path.stat().st_dev != disk):
                    raise RefusedError(ELSEWHERE)


@contextmanager
def _no_worker(folder: Folder) -> Iterator[None]:
    """Keep the worker from starting; refuse where one is at work."""
    with ExitStack() as held:
        try:
            held.enter_context(locked(folder.worker_lock, 0.5))
        except StorageError:
            raise RefusedError(OPEN_ELSEWHERE) from None
        yield


@contextmanager
def _alone(folder: Folder, key: DataKey | None) -> Iterator[sqlite3.Connection]:
    """Yield a connection that no other process can have beside it, its log moved into the database.

    The log mode is left for another: that fails where anybody else has the database open.
    """
    connect = cipher.library().connect
    with closing(connect(str(folder.database), timeout=0.5, isolation_level=None)) as connection:
        if key is not None:
            connection.execute(f"PRAGMA key = {cipher.literal(key)}")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not _taken(connection):
            if time.monotonic() > deadline:
                raise RefusedError(OPEN_ELSEWHERE)
            time.sleep(0.1)
        yield connection


def _taken(connection: sqlite3.Connection) -> bool:
    try:
        if connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0] != "delete":
            return False
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except cipher.errors() as error:
        if "locked" in str(error):
            return False
        raise
    return True


def _copy_file(folder: Folder, file: Path, stage: Path, old: DataKey | None, new: DataKey | None) -> None:
    """Write a file under another key and read it again."""
    place = file.relative_to(folder.path).as_posix()
    data = file.read_bytes()
    plain = data if old is None else sealed.unseal(data, old, place)
    target = stage / place
    for parent in reversed(target.relative_to(stage).parents[:-1]):
        (stage / parent).mkdir(mode=0o700, exist_ok=True)
    stored = plain if new is None else sealed.seal(plain, new, place)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(stored)
        out.flush()
        os.fsync(out.fileno())
    again = target.read_bytes()
    if (again if new is None else sealed.unseal(again, new, place)) != plain:
        raise StorageError(DIFFERS)
    shutil.copystat(file, target)


def _copy_database(live: sqlite3.Connection, target: Path, old: DataKey | None, new: DataKey | None) -> None:
    """Write the database under another key, and compare tables and rows with a connection of its own."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    live.execute(f"ATTACH DATABASE ? AS copy KEY {cipher.literal(new)}", (str(target),))
    live.execute("SELECT sqlcipher_export('copy')").fetchall()
    for name in ("user_version", "application_id"):
        live.execute(f"PRAGMA copy.{name} = {int(live.execute(f'PRAGMA main.{name}').fetchone()[0])}")
    live.execute("DETACH DATABASE copy")
    with closing(cipher.connect(target, new)) as copy:
        if copy.execute("PRAGMA integrity_check").fetchall() != [("ok",)] or not _same(live, copy):
            raise StorageError(DIFFERS)


def _same(one: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """Say whether two databases have the same tables, indexes, triggers and rows, numbers of rows included."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    found = one.execute(query).fetchall()
    if found != other.execute(query).fetchall():
        return False
    for kind, name, _, sql in found:
        if kind != "table":
            continue
        keyed = "WITHOUT ROWID" in str(sql).upper()  # such rows come in the order of their key
        rows = f'SELECT * FROM "{name}"' if keyed else f'SELECT rowid, * FROM "{name}" ORDER BY rowid'
        if any(a != b for a, b in zip_longest(one.execute(rows), other.execute(rows))):
            return False
    return True


def _flush(stage: Path) -> None:
    for path in stage.rglob("*"):
        if path.is_dir():
            sync_folder(path)
    sync_folder(stage)
