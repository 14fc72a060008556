"""What every part of a workspace shares: folder, key, database, actor, and the folders being written."""

from __future__ import annotations

import copy
import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Self
from weakref import WeakMethod

from sqlalchemy import Connection, select

from engine.at_rest import elsewhere
from engine.at_rest import versions as at_rest
from engine.errors import StorageError, UserError
from engine.store import audit
from engine.store.budget import unknown
from engine.store.database.dialect import insert
from engine.store.database.schema import corpora, pending_removals, releases, removed, runs
from engine.store.disk import heads, parts, staging
from engine.store.disk.address import default_path
from engine.store.disk.blobs import keeper
from engine.store.disk.blobs.keeper import Blobs
from engine.store.disk.encryption import versions
from engine.store.disk.encryption.versions import FileVersions
from engine.store.disk.folder import PARTS, Folder, remove_tree
from engine.store.disk.opening import open_database
from engine.store.disk.place import working_place
from engine.store.people.roles import Person
from engine.store.review import chained
from engine.store.rows import AnyRow


def new_id(prefix: str) -> str:
    """Return a short random id such as `c-3k9x2m7q`."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return f"{prefix}-" + "".join(secrets.choice(alphabet) for _ in range(10))


class Opened:
    """What is made of parts that share one session: an open workspace, whole or without a worker."""

    session: Session

    @property
    def path(self) -> Path:
        """The workspace's folder as it was given."""
        return self.session.path

    @property
    def folder(self) -> Folder:
        """The layout of the workspace's folder."""
        return self.session.folder

    @property
    def actor(self) -> str:
        """Who acts."""
        return self.session.actor

    def close(self) -> None:
        """Close the database connections of this process."""
        self.session.close()


class Session:
    """An open workspace folder: its database, its key, and who acts in it.

    Attributes:
        path, folder: where the workspace lies. key: of its keyed hashes. db: its database. actor: who acts.
        person: who signed in, None where nobody has to.
        blobs: what keeps its finished files elsewhere too, None where they lie in the folder alone.
    """

    person: Person | None = None
    blobs: Blobs | None = None

    def __init__(
        self, path: Path | None = None, actor: str = "custodian", wake: Callable[[Folder], object] | None = None
    ) -> None:
        if not actor.strip():
            raise UserError("actor: must not be empty; give the name of the person at work")
        self.path = Path(path) if path is not None else default_path()
        self.actor = actor.strip()
        self.folder = Folder(self.path.absolute())
        self.key, self.db = open_database(self.folder)
        try:
            unknown.notice_copy(self.folder, self.db, self.key, self.actor)
        except BaseException:
            self.db.close()
            raise
        self.db.grown = partial(heads.note, self.folder, self.db, self.key)
        chained.adopt(self.db, self.key, self.actor)
        versions.recover(self.folder, self.db)
        self._versions = FileVersions(self.folder, self.db)
        at_rest.follow(self.folder.path, self._versions)
        self._start_worker = wake
        # On a database file there is one machine, and its folder may be moved.
        self._machine = None if self.db.is_file else working_place(self.folder, self.key)
        try:
            self.blobs = keeper.opened(self.folder, self.db, self.key)
            if self.blobs is not None:
                elsewhere.follow(self.folder.path, self.blobs)
                self.blobs.tidy = _weakly(WeakMethod(self.sweep))
            self.sweep()
        except BaseException:
            self.close()
            raise

    def acting_as(self, person: Person) -> Self:
        """Return this session with somebody who signed in at work; both share folder, key and database."""
        acting = copy.copy(self)
        acting.person, acting.actor = person, person.name
        return acting

    def wake(self) -> None:
        """Have the worker started, unless it is at work or this session has none."""
        if self._start_worker is not None:
            self._start_worker(self.folder)

    def close(self) -> None:
        """Close the database connections of this process."""
        at_rest.drop(self.folder.path, self._versions)
        if self.blobs is not None:
            elsewhere.drop(self.folder.path, self.blobs)
        self.db.close()

    def write_audit(self, connection: Connection, action: str, subject: str = "", **detail: object) -> None:
        """Add a line to the audit log inside the caller's transaction."""
        audit.append(connection, self.key, self.actor, action, subject, detail)

    def begin_writing(self, relative: str) -> None:
        """Note that this process writes to a folder, or a file, so that a crash leaves nothing behind."""
        with self.db.write() as connection:
            values = {"path": relative, "pid": os.getpid(), "machine": self._machine, "at": audit.now()}
            connection.execute(pending_removals.insert().values(**values))
        _writing.add(str(self.folder.path / relative))

    def mark_for_removal(self, connection: Connection, relative: str) -> None:
        """Mark a folder for removal inside the caller's transaction; `sweep` removes it."""
        connection.execute(pending_removals.delete().where(pending_removals.c.path == relative))
        values = {"path": relative, "pid": None, "machine": self._machine, "at": audit.now()}
        connection.execute(pending_removals.insert().values(**values))
        connection.execute(insert(connection, removed).values(path=relative, at=audit.now()).on_conflict_do_nothing())
        versions.forget(connection, relative)
        _writing.discard(str(self.folder.path / relative))

    def finish_writing(self, connection: Connection, relative: str) -> None:
        """Drop the reservation of a folder inside the transaction that makes it part of the workspace."""
        connection.execute(pending_removals.delete().where(pending_removals.c.path == relative))
        _writing.discard(str(self.folder.path / relative))

    def discard(self, relative: str) -> None:
        """Remove what could not be finished: first the files, which may be what fills the disk, then their note."""
        path = self.folder.path / relative
        try:
            if Path(relative).is_absolute():
                staging.discard(path)
            else:
                remove_tree(path)
        except StorageError:  # a disk so full that not even zeros can be written
            shutil.rmtree(path, ignore_errors=True)
        _writing.discard(str(path))
        # On a disk that stays full the note stays too, and goes with the next sweep.
        with suppress(StorageError), self.db.write() as connection:
            connection.execute(pending_removals.delete().where(pending_removals.c.path == relative))

    def sweep(self) -> None:
        """Remove condemned folders, those whose writer died, and late tables of runs that were deleted.

        A folder that the database merely does not know is left alone; `doctor` lists it.
        """
        with self.db.read() as connection:
            rows = connection.execute(select(pending_removals)).all()
        for row in rows:
            path = self.folder.path / row.path
            if self._is_spared(row, path):
                continue
            if Path(row.path).is_absolute():  # a copy of a release that was on its way out, or a backup
                if not staging.discard(path):
                    continue
            else:
                remove_tree(path)
            with self.db.write() as connection:
                connection.execute(
                    pending_removals.delete().where(
                        (pending_removals.c.path == row.path) & pending_removals.c.pid.is_not_distinct_from(row.pid)
                    )
                )
        strangers = self.strangers()
        if strangers:
            with self.db.read() as connection:
                gone = set(connection.execute(select(removed.c.path)).scalars())
            for relative in strangers:
                if relative in gone:  # a worker wrote there after the deletion
                    remove_tree(self.folder.path / relative)
        parts.sweep(self.folder.path)
        if self.blobs is not None:
            self.blobs.sweep()

    def _is_spared(self, row: AnyRow, path: Path) -> bool:
        """Say whether a noted path is left alone: its writer is at work, or it is another machine's to remove."""
        if row.machine in (None, self._machine) or self.db.is_file:
            return _at_work(row, path)
        if Path(row.path).is_absolute():  # on the other machine's disk
            return True
        noted = datetime.fromisoformat(row.at)
        return row.pid is not None and (datetime.now(UTC) - noted).total_seconds() < parts.OLD_SECONDS

    def strangers(self) -> list[str]:
        """Return the folders of corpora, runs and releases that the database does not know, relative and sorted."""
        found = {f"{part}/{path.name}" for part in PARTS for path in (self.folder.path / part).iterdir()}
        if not found:
            return []
        with self.db.read() as connection:
            for part, table in (("corpora", corpora), ("runs", runs), ("releases", releases)):
                found -= {f"{part}/{known}" for known in connection.execute(select(table.c.id)).scalars()}
            # read after the folders: what is being written has its note before its folder
            found -= set(connection.execute(select(pending_removals.c.path)).scalars())
        return sorted(found)


_writing: set[str] = set()  # paths that this process has reserved and not finished


def _at_work(row: AnyRow, path: Path) -> bool:
    """Say whether the process that reserved a path is still writing there; none does what was condemned."""
    if row.pid is None:
        return False
    if row.pid == os.getpid():
        return str(path) in _writing
    return parts.writes(row.pid, datetime.fromisoformat(row.at).timestamp())


def _weakly(method: WeakMethod[Callable[[], None]]) -> Callable[[], None]:
    """Return what calls a method for as long as its object is there."""

    def call() -> None:
        found = method()
        if found is not None:
            found()

    return call
