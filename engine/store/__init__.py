"""The workspace on disk: SQLite and Parquet, migrations, audit chain, backup."""

from engine.store.budget.unknown import accept_rollback
from engine.store.disk.backup import restore
from engine.store.disk.folder import default_path as default_workspace_path

__all__ = ["accept_rollback", "default_workspace_path", "restore"]
