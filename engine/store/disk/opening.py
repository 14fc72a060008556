"""Opening a workspace: what must be there, what is made on first use, and what is refused with a sentence.

A workspace has a database once it has a key. Where one of the two is gone, or tables are, the rest is left as
it is: a new and empty database beside old folders would forget what was spent, and a new key would make known
people look like strangers.

Privacy posture: looks at names, sizes and counts.
"""

from __future__ import annotations

import os

from sqlalchemy import Connection, func, inspect, select

from engine.at_rest import header
from engine.corpus.keyed import keyed_digest
from engine.errors import StorageError
from engine.store.database import schema
from engine.store.database.database import Database
from engine.store.database.dialect import insert
from engine.store.database.migrations import current_version, migrate
from engine.store.disk import heads
from engine.store.disk.encryption import header_age, switch, versions
from engine.store.disk.folder import PARTS, Folder, file_errors
from engine.store.disk.lock import locked

KEY_TOLD = "key of the workspace"  # a setting, on PostgreSQL: which key the database belongs to
LEFT = "Nothing was changed."
RESTORE = "Restore the latest backup into a new folder, or put the missing file back."
# Settings: opening a workspace that has a key notes there that its heads are kept.
HISTORY = (schema.audit, schema.ledger, schema.populations, schema.corpora, schema.runs, schema.settings)


def open_database(folder: Folder, *, check_heads: bool = True, check_header: bool = True) -> tuple[bytes, Database]:
    """Return the key and the database of a workspace, both made on first use.

    Args:
        folder: the workspace, unlocked where it is encrypted. check_heads: refuse a database that was rolled back.
        check_header: refuse an earlier header of an encrypted one.

    Raises:
        StorageError: the database, the key or a table is missing, damaged, from a newer program or rolled back.
        LockedError: it is encrypted and this process has no key for it.
    """
    folder.create()
    switch.finish(folder)
    header.demand(folder.path)
    if folder.key_file.exists():
        key = folder.key()
        database = _known(folder)
    else:
        with file_errors(), locked(folder.path / "opening.lock"):
            # Another process may have been first while this one waited.
            database = _known(folder) if folder.key_file.exists() else _first(folder)
            key = folder.key()
    try:
        if not database.is_file:
            _belongs(database, key)
        if check_heads:
            heads.check(folder, database, key)
        if check_header:
            header_age.check(folder.path, database)
        versions.adopt(folder, database)
    except BaseException:
        database.close()
        raise
    return key, database


def _known(folder: Folder) -> Database:
    """Open the database that a key belongs to."""
    if not folder.settings_file.exists() and _is_empty(folder):
        raise StorageError(
            f"The database of this workspace, {folder.database.name}, is missing or empty, but its key is there. "
            f"{RESTORE} {LEFT}"
        )
    return _with_tables(Database(folder), made=True)


def _first(folder: Folder) -> Database:
    """Make the database, then the key: a process killed in between leaves an empty database, and no key."""
    traces = folder.head_file.exists() or any(any((folder.path / part).iterdir()) for part in PARTS)
    elsewhere = folder.settings_file.exists()
    empty = not elsewhere and _is_empty(folder)
    if empty and traces:
        raise StorageError(
            f"This folder holds parts of a workspace, but not its key, {folder.key_file.name}, nor its database. "
            f"{RESTORE} {LEFT}"
        )
    if empty:
        os.close(os.open(folder.database, os.O_CREAT | os.O_RDWR, 0o600))
    database = Database(folder)
    try:
        with database.read() as connection:
            used = current_version(connection) > 0 and _has_history(connection)
    except BaseException:
        database.close()
        raise
    if used or (traces and not empty):
        database.close()
        raise StorageError(
            f"The key of this workspace, {folder.key_file.name}, is missing. Without it known people look like "
            f"strangers, and the logs cannot be checked. Put {folder.key_file.name} back from a backup. {LEFT}"
        )
    database = _with_tables(database, made=False)
    folder.make_key()
    return database


def _with_tables(database: Database, *, made: bool) -> Database:
    try:
        with database.read() as connection:
            if made and current_version(connection) == 0:
                raise StorageError(
                    "The database of this workspace has no tables of ours: it was replaced or cut off. "
                    f"{RESTORE} {LEFT}"
                )
        migrate(database)
        with database.read() as connection:
            missing = set(schema.metadata.tables) - set(inspect(connection).get_table_names())
        if missing:
            raise StorageError(
                f"The database of this workspace lacks {len(missing)} of its tables: {', '.join(sorted(missing))}. "
                f"{RESTORE} {LEFT}"
            )
    except BaseException:
        database.close()
        raise
    return database


def _belongs(database: Database, key: bytes) -> None:
    """Refuse a database whose workspace has another key: it is named here by mistake, or two folders name it.

    What it is told by is written when the database is first opened with a key.
    """
    told = keyed_digest(key, "database", KEY_TOLD).hex()[:32]
    query = select(schema.settings.c.value).where(schema.settings.c.key == KEY_TOLD)
    with database.read() as connection:
        found = connection.execute(query).scalar()
    if found is None:
        with database.write() as connection:
            values = {"key": KEY_TOLD, "value": told}
            connection.execute(insert(connection, schema.settings).values(values).on_conflict_do_nothing())
            found = connection.execute(query).scalar()
    if found != told:
        raise StorageError(
            "The database that workspace.toml names belongs to a workspace with another key. Correct the address, or "
            f"open the folder that it belongs to. {LEFT}"
        )


def _is_empty(folder: Folder) -> bool:
    """Say whether there is no database, or one without a byte, not even in its log."""
    with file_errors():
        log = folder.database.with_name(folder.database.name + "-wal")
        return not any(path.exists() and path.stat().st_size for path in (folder.database, log))


def _has_history(connection: Connection) -> bool:
    names = set(inspect(connection).get_table_names())
    return any(
        connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in HISTORY
        if table.name in names
    )
