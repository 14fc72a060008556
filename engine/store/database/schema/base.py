"""What every table stands in, and what belongs to the workspace itself."""

from __future__ import annotations

from sqlalchemy import JSON, Column, MetaData, String, Table

from engine.store.database.dialect import WHOLE as Integer

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

settings = Table(
    "settings",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", JSON, nullable=False),
)

pending_removals = Table(
    "pending_removals",
    metadata,
    Column("path", String, primary_key=True),  # relative to the workspace
    Column("pid", Integer),  # the process that is still writing there, None for a deletion
    Column("at", String, nullable=False),
)

removed = Table(  # what was deleted for good: a late write there is removed too
    "removed",
    metadata,
    Column("path", String, primary_key=True),  # relative to the workspace
    Column("at", String, nullable=False),
)

file_versions = Table(  # of the files of an encrypted workspace: which writing of each is in force
    "file_versions",
    metadata,
    Column("place", String, primary_key=True),  # what the file is told by (`engine.at_rest.sealed.identity`)
    Column("version", String, primary_key=True),  # hexadecimal
    Column("path", String, nullable=False),  # where it was put, relative to the workspace
    Column("state", String, nullable=False),  # in force | written | removed
    Column("pid", Integer),  # the process that is writing or removing it
    Column("at", String, nullable=False),
)
