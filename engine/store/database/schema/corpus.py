"""Corpora, what a person declared public of them, and the index of their records."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Index, String, Table, Text, UniqueConstraint

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

corpora = Table(
    "corpora",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("created", String, nullable=False),
    Column("unit", String, nullable=False),
    Column("cap", Integer, nullable=False),
    Column("holdout_rate", Float, nullable=False),
    Column("records", Integer, nullable=False),
    Column("units", Integer, nullable=False),
    Column("holdout_units", Integer, nullable=False),
    Column("has_gold", Boolean, nullable=False),
    Column("span_source", String),  # None, 'gold' or 'detected'
    Column("spans_at", String),  # when the custodian detected or chose the gold spans
    Column("detected_at", String),
    Column("revision", Integer, nullable=False, default=0),  # rises when accepted spans change
    Column("population", String, ForeignKey("populations.id"), nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("statistics", JSON, nullable=False),
    Column("detector", Text),
)

declarations = Table(  # what a person declared public of a corpus
    "declarations",
    metadata,
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), primary_key=True),
    Column("what", String, primary_key=True),  # 'labels', 'description'
    Column("value", JSON, nullable=False),
    Column("actor", String, nullable=False),
    Column("at", String, nullable=False),
)

record_index = Table(
    "record_index",
    metadata,
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),  # row of the Parquet file
    Column("record_id", String, nullable=False),
    Column("split", String, nullable=False),
    Column("spans", Integer, nullable=False, default=0),
    Column("accepted", Integer, nullable=False, default=0),
    Column("undecided", Integer, nullable=False, default=0),
    Column("decided", Integer, nullable=False, default=0),
    Column("hazard", Float, nullable=False, default=0.0),  # risk = 1 - exp(-hazard)
    Column("reviewed", Boolean, nullable=False, default=False),
    UniqueConstraint("corpus_id", "record_id"),
    Index("ix_record_risk", "corpus_id", "hazard", "position"),
    sqlite_with_rowid=False,
)
