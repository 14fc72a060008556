"""The workspace on disk: SQLite and Parquet, migrations, audit chain, backup.

corpora/, review/, runs/, budget/  what is kept of each noun, and the rules of keeping it; disk/: files, locks, backups
schema, rows, views                the tables, their rows decoded, and what parts hand out
store, session                     the parts together, and what they share
"""

from engine.store.budget.unknown import accept_rollback
from engine.store.disk.backup import restore
from engine.store.disk.folder import default_path as default_workspace_path

__all__ = ["accept_rollback", "default_workspace_path", "restore"]
