"""Which version of each file lies in this machine's folder: a small database beside the workspace's.

A file that is as it was when it was put or brought is known to be that version without being read. Losing this list
loses nothing: what it does not know is brought again.

Privacy posture: paths below the workspace, random keys, sizes and times.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.errors import StorageError
from engine.store.disk import parts
from engine.store.disk.folder import file_errors, overwrite

NAME = "machine.sqlite"
WAIT_SECONDS = 30.0
LONGEST_WRITE = 3600.0  # seconds after which whoever began a file has given it up
BUSY = "Another program holds the workspace for too long. Wait a moment and try again."
TABLE = (
    "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, key TEXT NOT NULL DEFAULT '', "
    "size INTEGER NOT NULL DEFAULT -1, changed INTEGER NOT NULL DEFAULT 0, inode INTEGER NOT NULL DEFAULT 0, "
    "pid INTEGER, since REAL)"
)


@dataclass(frozen=True)
class Known:
    """What is known of a file here: its version's key, empty where it was never put, and how it looked then.

    pid, since: the process of this machine that began to write it anew, and when; None where none did.
    """

    key: str = ""
    size: int = -1
    changed: int = 0
    inode: int = 0
    pid: int | None = None
    since: float | None = None

    @property
    def being_written(self) -> bool:
        """Whether a process of this machine is writing the file."""
        if self.pid is None or self.since is None or time.time() - self.since > LONGEST_WRITE:
            return False
        return self.pid == os.getpid() or parts.writes(self.pid, self.since)

    def is_at(self, file: Path) -> bool:
        """Say whether the file looks as it did."""
        try:
            return (self.size, self.changed, self.inode) == look(file)
        except OSError:
            return False


NOTHING = Known()


def look(file: Path | int) -> tuple[int, int, int]:
    """Return size, time of change and inode of a file, by its path or descriptor."""
    found = os.stat(file)
    return found.st_size, found.st_mtime_ns, found.st_ino


class Here:
    """What lies in this machine's folder of a workspace; safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / NAME
        with file_errors():
            os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
        with self._open() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(TABLE)

    def below(self, path: str) -> dict[str, Known]:
        """Return what is known of a file, or of all files of a folder, by path below the workspace."""
        query = "SELECT path, key, size, changed, inode, pid, since FROM files"
        with self._open() as connection:
            if not path:
                rows = connection.execute(query).fetchall()
            else:
                where = f"{query} WHERE path = ? OR (path > ? AND path < ?)"
                rows = connection.execute(where, (path, f"{path}/", f"{path}0")).fetchall()  # "0" comes after "/"
        return {row[0]: Known(*row[1:]) for row in rows}

    def begin(self, path: str) -> None:
        """Note that this process is about to write a file."""
        with self._change() as connection:
            connection.execute(
                "INSERT INTO files (path, pid, since) VALUES (?, ?, ?) "
                "ON CONFLICT (path) DO UPDATE SET pid = excluded.pid, since = excluded.since",
                (path, os.getpid(), time.time()),
            )

    def abandon(self, paths: Sequence[str]) -> None:
        """Note that files could not be put, so that those in force count here again."""
        with self._change() as connection:
            connection.executemany("UPDATE files SET pid = NULL WHERE path = ?", [(path,) for path in paths])

    def settled(self, path: str, key: str, seen: tuple[int, int, int]) -> None:
        """Note that a file was put under a key, and how it looked when it was read for that."""
        with self._change() as connection:
            _set(connection, path, key, seen)

    def exchange(self, path: str, before: Known, part: Path, key: str) -> bool:
        """Give what was brought the file's name here; False, and nothing is changed, where the file is another by now.

        before: what was known of it when it was decided to bring it.
        """
        file = self._folder / path
        with self._change() as connection:
            if _known(connection, path) != before:
                return False
            os.replace(part, file)
            _set(connection, path, key, look(file))
        return True

    def withdraw(self, path: str, before: Known) -> None:
        """Remove a file here that is no longer in force, unless it is another by now."""
        file = self._folder / path
        with self._change() as connection:
            if _known(connection, path) != before:
                return
            if file.is_file() and not file.is_symlink():
                overwrite(file)
                file.unlink(missing_ok=True)
            connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def forget(self, path: str) -> None:
        """Forget a file, or all files of a folder."""
        with self._change() as connection:
            connection.execute(
                "DELETE FROM files WHERE path = ? OR (path > ? AND path < ?)", (path, f"{path}/", f"{path}0")
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with (
                file_errors(),
                closing(sqlite3.connect(self._file, timeout=WAIT_SECONDS, isolation_level=None)) as connection,
            ):
                connection.execute("PRAGMA synchronous=NORMAL")
                yield connection
        except sqlite3.OperationalError:
            raise StorageError(BUSY) from None
        except sqlite3.DatabaseError:
            raise StorageError(
                f"The file {NAME} of this workspace is damaged. Delete it: it says which tables lie here already, and "
                "they are then brought again."
            ) from None

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _known(connection: sqlite3.Connection, path: str) -> Known:
    query = "SELECT key, size, changed, inode, pid, since FROM files WHERE path = ?"
    row = connection.execute(query, (path,)).fetchone()
    return NOTHING if row is None else Known(*row)


def _set(connection: sqlite3.Connection, path: str, key: str, seen: tuple[int, int, int]) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO files (path, key, size, changed, inode, pid, since) VALUES (?, ?, ?, ?, ?, NULL, NULL)",
        (path, key, *seen),
    )
