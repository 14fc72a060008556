"""The workspace on disk: SQLite and Parquet, migrations, audit chain, backup.

corpora/, review/, runs/, budget/  what is kept of each noun, and the rules of keeping it; disk/: files, locks, backups
logs/                              the two chained logs checked, and written to a file
database/                          the tables, SQLite and PostgreSQL, migrations
rows, views                        rows decoded, and what parts hand out
store, session                     the parts together, and what they share
"""

from engine.store.budget.unknown import accept_rollback
from engine.store.disk.address import default_path as default_workspace_path
from engine.store.disk.backup import restore
from engine.store.logs.check import check_logs

__all__ = ["accept_rollback", "check_logs", "default_workspace_path", "restore"]
