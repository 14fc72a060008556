"""What every table stands in, and what belongs to the workspace itself."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Index, MetaData, String, Table

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
    Column("machine", String),  # `working_place` of who noted it, where several machines may; else None
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

blobs = Table(  # files of a workspace that lie elsewhere too (`engine.store.disk.blobs`)
    "blobs",
    metadata,
    Column("key", String, primary_key=True),  # random, hexadecimal: where it lies below the place
    Column("path", String, nullable=False),  # relative to the workspace
    Column("size", Integer, nullable=False),  # bytes there, sealed
    Column("state", String, nullable=False),  # written | in force | removed
    Column("machine", String),  # which is writing it: `working_place`
    Column("pid", Integer),  # and which process of it
    Column("at", String, nullable=False),
    Index("ix_blob_path", "path", "state"),
)
