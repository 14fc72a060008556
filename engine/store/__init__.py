"""The workspace on disk: SQLite and Parquet, migrations, audit chain, backup."""

from engine.store.backup import restore
from engine.store.folder import default_path as default_workspace_path

__all__ = ["default_workspace_path", "restore"]
