"""The workspace on disk: SQLite and Parquet, migrations, audit chain, backup."""

from engine.store.backup import restore
from engine.store.folder import default_path as default_workspace_path
from engine.store.unknown import accept_rollback

__all__ = ["accept_rollback", "default_workspace_path", "restore"]
