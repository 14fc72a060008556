"""Runs, their records and findings, and what mechanisms and trainings made for them."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

runs = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), nullable=False),
    Column("method", String, nullable=False),
    Column("title", String, nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("model", String, nullable=False),
    Column("count", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("created", String, nullable=False),
    Column("started", String),
    Column("finished", String),
    Column("seconds", Float, nullable=False, default=0.0),
    Column("kept", Integer, nullable=False, default=0),
    Column("funnel", JSON, nullable=False),
    Column("diagnostics", JSON, nullable=False),
    Column("guarantee", JSON, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("error", String),
    Column("state_json", JSON),  # the method's own state to resume from
    Column("revision", Integer, nullable=False),  # the corpus' revision when the run was asked for
    Column("needs_spans", Boolean, nullable=False),
    Column("examined_at", String),
    Column("examined_revision", Integer),
    Column("released_at", String),
    Column("job_id", String),
    Column("name", String, nullable=False, default="", server_default=""),
    Column("note", String, nullable=False, default="", server_default=""),
    Column("sealed", String),  # digests of what was made so far; None where an earlier edition asked for the run
    Index("ix_run_corpus", "corpus_id", "created"),
)

synthetic = Table(
    "synthetic",
    metadata,
    Column("run_id", String, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("record_id", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("label", String),
    Column("lineage", String),
    Column("approval", String, nullable=False, default="pending"),
    Column("risk", Float),
    UniqueConstraint("run_id", "record_id"),
    Index("ix_synthetic_risk", "run_id", "risk", "position"),
)

findings = Table(
    "findings",
    metadata,
    Column("run_id", String, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("body", JSON, nullable=False),
)

seen_outputs = Table(  # no foreign key: what was examined outlives its run
    "seen_outputs",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("digest", String(32), primary_key=True),  # HMAC of a synthetic text under the workspace key
    Index("ix_seen_output", "digest"),
)

mechanism_outputs = Table(
    "mechanism_outputs",
    metadata,
    Column("run_id", String, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String, primary_key=True),
    Column("seq", Integer, nullable=False),  # within the run, from 1
    Column("request", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("shape", JSON, nullable=False),
    Column("values", LargeBinary, nullable=False),  # float64, little endian
    Column("at", String, nullable=False),
)

fitted_weights = Table(  # no foreign key: a copy of the weights may outlive run and corpus
    "fitted_weights",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("mark", JSON, nullable=False),
    Column("at", String, nullable=False),
    Index("ix_fitted_run", "run_id"),
)
