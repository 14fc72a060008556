"""Notices that an earlier header of an encrypted workspace was put back, under which an earlier passphrase opens it.

The database keeps the number of the latest header it was opened with.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from engine.at_rest import header
from engine.errors import StorageError
from engine.store.database.database import Database
from engine.store.database.dialect import insert
from engine.store.database.schema import settings

GENERATION = "encryption generation"  # a setting


def seen(database: Database) -> int:
    """Return the number of the latest header, 0 where there was none."""
    with database.read() as connection:
        row = connection.execute(select(settings.c.value).where(settings.c.key == GENERATION)).first()
    return int(row.value) if row is not None else 0


def check(workspace: Path, database: Database) -> None:
    """Compare a workspace's header with the latest that its database knows, and keep its number from now on.

    Raises:
        StorageError: the header is an earlier one.
    """
    found = header.read(workspace)
    if found is None:
        return
    before = seen(database)
    if found.generation < before:
        raise StorageError(
            f"The header of this workspace, {header.NAME}, is an earlier one: number {found.generation}, after number "
            f"{before}. What opened it may have been changed because somebody should no longer open it. Put the latest "
            "back; or run `python -m engine rekey` to give it a new passphrase or key file."
        )
    if found.generation > before:
        with database.write() as connection:
            row = insert(connection, settings).values(key=GENERATION, value=found.generation)
            connection.execute(row.on_conflict_do_update(index_elements=["key"], set_={"value": found.generation}))
