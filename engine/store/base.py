"""What every station of the workspace shares: folder, key, database, actor."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.store import audit, staging
from engine.store.database import Database
from engine.store.folder import Folder, default_path, remove_tree
from engine.store.migrations import migrate
from engine.store.schema import pending_removals, runs


def new_id(prefix: str) -> str:
    """Return a short random id such as `c-3k9x2m7q`."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return f"{prefix}-" + "".join(secrets.choice(alphabet) for _ in range(10))


class Store:
    """An open workspace folder."""

    def __init__(self, path: Path | None = None, actor: str = "custodian") -> None:
        if not actor.strip():
            raise UserError("actor: must not be empty; give the name of the person at work")
        self.path = Path(path) if path is not None else default_path()
        self.actor = actor.strip()
        self.folder = Folder(self.path.absolute())
        self.folder.create()
        self.key = self.folder.key()
        self.db = Database(self.folder)
        migrate(self.db)
        self._sweep()

    def close(self) -> None:
        """Close the database connections of this process."""
        self.db.close()

    def _audit(self, connection: Connection, action: str, subject: str = "", **detail: Any) -> None:
        audit.append(connection, self.key, self.actor, action, subject, detail)

    def _wake(self) -> None:
        """Start the worker; the jobs part overrides this."""

    def _reserve(self, relative: str) -> None:
        """Note that this process writes to a folder, so that a crash leaves nothing behind."""
        with self.db.write() as connection:
            connection.execute(pending_removals.insert().values(path=relative, pid=os.getpid(), at=audit.now()))

    def _condemn(self, connection: Connection, relative: str) -> None:
        """Mark a folder for removal inside the caller's transaction; `_sweep` removes it."""
        connection.execute(pending_removals.delete().where(pending_removals.c.path == relative))
        connection.execute(pending_removals.insert().values(path=relative, pid=None, at=audit.now()))

    def _keep(self, connection: Connection, relative: str) -> None:
        """Drop the reservation of a folder inside the transaction that makes it part of the workspace."""
        connection.execute(pending_removals.delete().where(pending_removals.c.path == relative))

    def _sweep(self) -> None:
        """Remove condemned folders, those whose writer died, and tables of runs that were deleted."""
        with self.db.read() as connection:
            rows = connection.execute(select(pending_removals)).all()
        for row in rows:
            if row.pid is not None and (row.pid == os.getpid() or _alive(row.pid)):
                continue
            if Path(row.path).is_absolute():  # a copy of a release that was on its way out
                if not staging.discard(Path(row.path)):
                    continue
            else:
                remove_tree(self.folder.path / row.path)
            with self.db.write() as connection:
                connection.execute(
                    pending_removals.delete().where(
                        (pending_removals.c.path == row.path) & pending_removals.c.pid.is_not_distinct_from(row.pid)
                    )
                )
        folders = list((self.folder.path / "runs").iterdir())  # a run exists before its folder does
        if folders:
            with self.db.read() as connection:
                known = set(connection.execute(select(runs.c.id)).scalars())
            for folder in folders:
                if folder.name not in known:
                    remove_tree(folder)


def _alive(pid: int) -> bool:
    import psutil

    return bool(psutil.pid_exists(pid))
