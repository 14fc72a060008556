"""The two chained logs: lines, and the head of each."""

from __future__ import annotations

from sqlalchemy import Column, Index, String, Table, Text

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

audit = Table(
    "audit",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("detail", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("seal", String(64), nullable=False),
)

ledger = Table(  # no foreign key: a line outlives its corpus, its run and its population's merger
    "ledger",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("population", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("run_id", String, nullable=False),  # empty where no run is meant
    Column("body", Text, nullable=False),  # canonical JSON: numbers, events, sentence; no text of a record
    Column("hash", String(64), nullable=False),
    Index("ix_ledger_run", "run_id", "seq"),
    Index("ix_ledger_population", "population", "seq"),
)

ledger_head = Table(
    "ledger_head",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("seal", String(64), nullable=False),
)
