"""The rows of a workspace's database, copied from SQLite to PostgreSQL or back, each value as it stands.

JSON is copied as its text, so that nothing is read and written anew, and an empty field stays empty.

Privacy posture: holds some rows at a time, and writes them to the database it was given alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import JSON, Column, ColumnElement, Connection, Text, bindparam, cast, func, select, type_coerce

from engine.errors import StorageError
from engine.store.database import dialect, schema
from engine.store.database.database import Database
from engine.store.database.migrations import current_version, migrate
from engine.store.disk.blobs.keeper import TOLD
from engine.store.disk.folder import Folder
from engine.store.disk.opening import KEY_TOLD

ROWS = 1000  # at a time
PASSING = ("blobs", "leases", "readers", "shards")  # who works now, at what, and where files lie too: not what is kept


def copy_rows(source: Connection, target: Connection) -> int:
    """Copy every row of one database into another that has tables and no rows; return how many.

    Raises:
        StorageError: the target has rows, or does not have as many as the source afterwards.
    """
    copied = 0
    for table in schema.metadata.sorted_tables:
        if table.name in PASSING:
            continue
        if table is schema.schema_version:
            target.execute(table.delete())
        if target.execute(select(func.count()).select_from(table)).scalar_one():
            raise StorageError(f"The new database is not empty: its table {table.name} has rows. Nothing was copied.")
        query = select(*(_read(source, column).label(column.name) for column in table.columns))
        if table is schema.settings:
            query = query.where(table.c.key.not_in((KEY_TOLD, TOLD)))
        write = table.insert().values({column.name: _written(target, column) for column in table.columns})
        expected = 0
        for rows in source.execute(query, execution_options={"yield_per": ROWS}).partitions():
            target.execute(write, [{_name(name): value for name, value in row._mapping.items()} for row in rows])
            expected += len(rows)
        found = int(target.execute(select(func.count()).select_from(table)).scalar_one())
        if found != expected:
            raise StorageError(f"The copy of the table {table.name} has {found} rows and not {expected}.")
        dialect.number_on(target, table)
        copied += found
    return copied


def write_file(source: Connection, folder: Path) -> None:
    """Write the rows of a database into a new database file of SQLite in an empty folder."""
    database = new_file(Folder(folder))
    try:
        with database.write() as connection:
            copy_rows(source, connection)
        if not database.truncate_log():
            raise StorageError("The copied database could not be written to disk. Try again.")
    finally:
        database.close()


def new_file(folder: Folder) -> Database:
    """Return a new database file of SQLite with tables and no rows, open."""
    os.close(os.open(folder.database, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    return _with_tables(Database(folder))


def empty_database(folder: Folder) -> Database:
    """Return the PostgreSQL that a folder names, open, with tables and no rows.

    Raises:
        StorageError: it holds a workspace already.
    """
    return _with_tables(Database(folder))


def _with_tables(database: Database) -> Database:
    try:
        with database.read() as connection:
            used = current_version(connection)
        if used:
            raise StorageError("The new database holds a workspace already. Name an empty one. Nothing was copied.")
        migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def _name(column: str) -> str:
    return f"v_{column}"


def _read(connection: Connection, column: Column[object]) -> ColumnElement[object]:
    if not isinstance(column.type, JSON):
        return column
    if dialect.kind(connection) == dialect.POSTGRESQL:
        return cast(column, Text)
    return type_coerce(column, Text)


def _written(connection: Connection, column: Column[object]) -> object:
    if not isinstance(column.type, JSON):
        return bindparam(_name(column.name), type_=column.type)
    value: ColumnElement[str] = bindparam(_name(column.name), type_=Text())
    if dialect.kind(connection) == dialect.POSTGRESQL:
        return cast(value, JSON)
    return value
