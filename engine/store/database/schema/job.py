"""Jobs and their shards, the leases of workers, and requests of accounting that a worker answers."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Index, String, Table

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("lane", String, nullable=False),
    Column("state", String, nullable=False),
    Column("stage", String, nullable=False, default=""),
    Column("done", Integer, nullable=False, default=0),
    Column("total", Integer, nullable=False, default=0),
    Column("seconds_left", Float),
    Column("created", String, nullable=False),
    Column("started", String),
    Column("finished", String),
    Column("heartbeat", String),
    Column("worker", String),  # that took it; whether it lives stands in `leases`
    Column("attempts", Integer, nullable=False, default=0),
    Column("cancel", Boolean, nullable=False, default=False),
    Column("error", String),
    Column("sample", JSON, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("cursor", JSON),
    Column("whole", JSON),
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE")),
    Column("run_id", String, ForeignKey("runs.id", ondelete="CASCADE")),
    Index("ix_job_state", "state", "lane", "seq"),
    sqlite_autoincrement=True,
)

leases = Table(  # of workers: until when their jobs are theirs, unless they say so again
    "leases",
    metadata,
    Column("worker", String, primary_key=True),
    Column("place", String, nullable=False),  # keyed digest of machine and folder, where one works at a time
    Column("until", Float, nullable=False),  # seconds since 1970 by the database's clock
)

shards = Table(  # ranges of a running job's records that any number of workers claim; a row goes when it is kept
    "shards",
    metadata,
    Column("job_id", String, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("start", Integer, nullable=False),  # position of the first record that is still to do
    Column("end", Integer, nullable=False),  # of the first one after it
    Column("stage", String, nullable=False),  # 'survey' or 'work'
    Column("state", String, nullable=False),  # 'open', 'claimed' or 'done'
    Column("worker", String),  # that claimed it; whether it lives stands in `leases`
    Column("claims", Integer, nullable=False, default=0),  # tells a claim from every earlier one
    Column("reached", Integer, nullable=False, default=0),  # records that its worker has done, to show
    Column("survey", JSON),  # what the first stage found
    Column("found", JSON),  # what was found, until it is put where it belongs
    sqlite_with_rowid=False,
)

accounts = Table(
    "accounts",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("kind", String, nullable=False),  # 'account' or 'signal'
    Column("request", JSON, nullable=False),  # public parameters only
    Column("answer", JSON),  # None while pending
    Column("error", String),
    Column("final", Boolean, nullable=False, default=True),  # an error that another try would not change
    Column("at", String, nullable=False),
)
