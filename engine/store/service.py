"""Audit, settings and backup of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from engine.errors import UserError
from engine.store import audit
from engine.store.backup import write_backup
from engine.store.releases import ReleaseStation
from engine.store.schema import settings


class ServiceStation(ReleaseStation):
    """What the ledger and settings pages ask of the workspace itself."""

    def audit(self, limit: int = 200, offset: int = 0) -> pd.DataFrame:
        """Return audit lines, latest first: seq, at, actor, action, subject, detail (JSON), hash."""
        with self.db.read() as connection:
            return audit.read(connection, limit, offset)

    def verify_audit(self) -> dict[str, Any]:
        """Check the audit chain: `ok`, `lines`, `first_bad` (number of the first line that does not hold)."""
        with self.db.read() as connection:
            return audit.verify(connection, self.key)

    def setting(self, key: str, default: Any = None) -> Any:
        """Return a stored setting, or the default."""
        with self.db.read() as connection:
            row = connection.execute(select(settings.c.value).where(settings.c.key == key)).first()
        return default if row is None else row.value

    def set_setting(self, key: str, value: Any) -> None:
        """Store a JSON value under a key."""
        try:
            audit.canonical(value)
        except (TypeError, ValueError):
            raise UserError(f"setting {key!r}: must be a JSON value, is {type(value).__name__}") from None
        statement = insert(settings).values(key=key, value=value)
        with self.db.write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))

    def backup(self, path: Path) -> Path:
        """Write the whole workspace, with its key, to one file and return its path."""
        target = write_backup(self.db, Path(path))
        with self.db.write() as connection:
            self._audit(connection, "workspace backed up")
        return target
