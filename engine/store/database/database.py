"""The workspace's database, SQLite or PostgreSQL: connections, transactions and clear errors.

Privacy posture: statements never carry their parameters into an exception (`hide_parameters`), deleted
content is overwritten (`secure_delete`), temporary tables stay in memory. PostgreSQL does not overwrite what is deleted
(`engine.store.database.postgresql`).
"""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from engine.errors import StorageError
from engine.store.database import postgresql
from engine.store.disk.address import database_url
from engine.store.disk.encryption import cipher
from engine.store.disk.folder import Folder, file_errors

BUSY_SECONDS = 30.0
PATIENCE = f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}"
RETRIES = 8  # of a transaction that another one made impossible
GROWN = "chain grew"  # noted on a connection by `Chain.append`
UNTOLD = "marks untold"  # noted on a connection by `marks.add`: what no line of the audit log tells of yet

GONE = (
    "The database of this workspace was moved, deleted or replaced while the program was running. Nothing can be read "
    "or stored. Put the file back in its place; or stop the program and start it again."
)

BUSY = (
    "Another program holds the workspace for too long. Wait a moment and try again; if it stays so, stop the worker on "
    "the settings page."
)
SENTENCES: tuple[tuple[str, str], ...] = (
    ("disk is full", "The disk that holds the workspace is full. Free some space, then try again."),
    (
        "readonly database",
        "The workspace is read-only. Give yourself write access to it, or choose another folder with --workspace.",
    ),
    ("database is locked", BUSY),
    (
        "unable to open database",
        "The workspace database cannot be opened. Check that the folder exists and that you may read and write it.",
    ),
    ("malformed", "The workspace database is damaged. Restore it from a backup."),
    ("not a database", "The workspace database is damaged. Restore it from a backup."),
    ("could not decode", "The workspace database is damaged. Restore it from a backup."),
    ("no such table", "The workspace database is damaged: a table is missing. Restore it from a backup."),
    ("disk i/o error", "The disk that holds the workspace reports read or write errors. Check the disk."),
)


T = TypeVar("T")


class BusyError(StorageError):
    """Another program held the database for as long as one waits for it; nothing of this transaction was kept."""


class ConflictError(StorageError):
    """Another transaction made this one impossible; nothing of it was kept, and it can be done again."""


def describe_database_error(error: BaseException) -> str | None:
    """Return a sentence that says what to do about a database error, or None for an unknown one."""
    message = str(getattr(error, "orig", None) or error).lower()
    for needle, sentence in SENTENCES:
        if needle in message:
            return sentence
    return None


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn database and file errors with a known cause into a `StorageError`."""
    with file_errors():
        try:
            yield
        except cipher.errors(DBAPIError) as error:
            state = postgresql.state_of(error)
            if state is not None:
                raise _kind_of(state)(postgresql.describe(error, state)) from None
            sentence = describe_database_error(error)
            if sentence is None:
                raise
            raise (BusyError if sentence == BUSY else StorageError)(sentence) from None


def _kind_of(state: str) -> type[StorageError]:
    """Return what a state of PostgreSQL is raised as."""
    return ConflictError if state in postgresql.CONFLICTS else BusyError if state == postgresql.HELD else StorageError


class Database:
    """One workspace's database; safe to use from several threads and processes."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        url = database_url(folder)
        self.is_file = url is None  # in the workspace's folder
        self.engine = _engine(folder) if url is None else postgresql.make_engine(url, BUSY_SECONDS, _json)
        self.grown: Callable[[], None] = lambda: None  # called after a commit that added a line to a chain
        self._writer = self.engine.execution_options(begin_mode="IMMEDIATE")
        self._brief = self.engine.execution_options(begin_mode="IMMEDIATE" if self.is_file else "BRIEF")
        if not self.is_file:
            with database_errors():
                postgresql.prepare(self.engine, keyed=folder.key_file.exists())
        self._here = local()
        self._file: tuple[int, int] | None = None  # device and inode of the database that was opened

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection inside one read transaction: a consistent snapshot."""
        with database_errors(), self._at_its_place(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield a connection inside one write transaction; commit at the end, roll back on an error."""
        with database_errors(), self._at_its_place(), self._marked(), self._writer.begin() as connection:
            connection.info.pop(GROWN, None)
            connection.info.pop(UNTOLD, None)
            yield connection
            if connection.info.pop(UNTOLD, None) and connection.in_transaction():  # what was taken back needs no line
                raise AssertionError("decisions or marks were changed, and no line of the audit log tells of it")
            grown = connection.info.pop(GROWN, False)
        if grown:
            self.grown()

    @contextmanager
    def brief(self) -> Iterator[Connection]:
        """Yield a connection inside a write transaction that waits for no other writer where rows have their own locks.

        For a claim or a heartbeat: a few rows, nothing that a chain or a budget rests on.
        """
        with database_errors(), self._at_its_place(), self._marked(), self._brief.begin() as connection:
            yield connection

    @property
    def writes(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return bool(getattr(self._here, "writes", False))

    @contextmanager
    def _marked(self) -> Iterator[None]:
        before, self._here.writes = self.writes, True
        try:
            yield
        finally:
            self._here.writes = before

    def retried(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns inside a write transaction; done again where another one made it impossible.

        Raises:
            ConflictError: `RETRIES` times in a row.
        """
        for attempt in range(1, RETRIES + 1):
            try:
                with self.write() as connection:
                    return work(connection)
            except ConflictError:
                if attempt == RETRIES:
                    raise
                time.sleep(random.uniform(0.0, 0.01 * 2**attempt))
        raise AssertionError("unreachable")

    @contextmanager
    def _at_its_place(self) -> Iterator[None]:
        """Refuse where the open database is no longer the file in the folder.

        A connection to a moved or deleted file goes on reading and writing it, so that decisions and spends
        would seem saved and be lost. A PostgreSQL has no file here: heads beside the key tell another one at opening.
        """
        if not self.is_file:
            yield
            return
        try:
            status = self.folder.database.stat()
            found = (status.st_dev, status.st_ino)
        except FileNotFoundError:
            found = None
        if self._file is None:
            self._file = found  # still None where the first connection makes it
        elif found != self._file:
            raise StorageError(GONE)
        yield

    def truncate_log(self, seconds: float = 10.0) -> bool:
        """Move the write-ahead log into the database and cut it to zero bytes; False where readers prevent it.

        Each try gives up at once, so that `seconds` hold whatever the connections' own patience is. The log of a
        PostgreSQL is its server's: nothing is done.
        """
        if not self.is_file:
            return True
        deadline = time.monotonic() + seconds
        while True:
            with database_errors():
                raw = self.engine.raw_connection()
                cursor = raw.cursor()
                try:
                    cursor.execute("PRAGMA busy_timeout=0")
                    busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                finally:
                    cursor.execute(PATIENCE)
                    raw.close()
            if not busy:
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()


def _json(value: object) -> str:
    """Return JSON; numbers of numpy become plain ones."""
    return json.dumps(value, ensure_ascii=False, default=lambda number: number.item())


def _engine(folder: Folder) -> Engine:
    engine = create_engine(
        f"sqlite:///{folder.database}",
        hide_parameters=True,
        json_serializer=_json,
        pool_size=4,
        max_overflow=12,
        **cipher.engine_options(folder.path, folder.database, BUSY_SECONDS),
    )

    @event.listens_for(engine, "connect")
    def on_connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # transactions are begun by `on_begin` alone
        cursor = connection.cursor()
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "secure_delete=ON",
            "foreign_keys=ON",
            "temp_store=MEMORY",
            "trusted_schema=OFF",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.execute(PATIENCE)
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("begin_mode", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")

    return engine
