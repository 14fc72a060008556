"""The database of an encrypted workspace: SQLCipher in place of SQLite, under a key derived from the workspace's.

Pages, log and temporary files are encrypted; nothing else differs, so a workspace that is not encrypted never loads it.

Privacy posture: the key is given to a connection as its first statement and stands in no message.
"""

from __future__ import annotations

import sqlite3
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

from engine.at_rest import keys
from engine.at_rest.keys import DataKey
from engine.errors import StorageError

DRIVER = "sqlcipher3"
MISSING = (
    "An encrypted workspace needs a package that is not installed here: pip install 'understudy[encryption]'. "
    "Nothing was changed."
)


def library() -> ModuleType:
    """Return the driver of encrypted databases.

    Raises:
        StorageError: it is not installed.
    """
    try:
        from sqlcipher3 import dbapi2
    except ImportError:
        raise StorageError(MISSING) from None
    driver: ModuleType = dbapi2
    return driver


def connect(
    path: Path, key: DataKey | None, *, timeout: float = 5.0, check_same_thread: bool = True
) -> sqlite3.Connection:
    """Return a connection to a database that is encrypted under a key, or to a plain one where there is none.

    timeout: seconds to wait for another process. check_same_thread: refuse the connection in another thread.
    """
    if key is None:
        return sqlite3.connect(path, timeout=timeout, check_same_thread=check_same_thread)
    connection: sqlite3.Connection = library().connect(str(path), timeout=timeout, check_same_thread=check_same_thread)
    connection.execute(f"PRAGMA key = {literal(key)}")
    return connection


def literal(key: DataKey | None) -> str:
    """Return the database's key as statements take it; an empty one is that of a plain database."""
    return "''" if key is None else f"\"x'{key.database.hex()}'\""


def engine_options(workspace: Path, path: Path, timeout: float) -> dict[str, object]:
    """Return what SQLAlchemy's `create_engine` is told of the connections to a workspace's database.

    timeout: seconds that a connection waits for another process.
    """
    key = keys.of(workspace)
    if key is None:
        return {"connect_args": {"timeout": timeout, "check_same_thread": False}}
    return {"module": library(), "creator": partial(connect, path, key, timeout=timeout, check_same_thread=False)}


def errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the classes of the drivers' own errors, and more."""
    driver = sys.modules.get(f"{DRIVER}.dbapi2")
    return (*more, sqlite3.DatabaseError, *([] if driver is None else [driver.DatabaseError]))
