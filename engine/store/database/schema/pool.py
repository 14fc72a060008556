"""Public text: made elsewhere, and what left as prompts."""

from __future__ import annotations

from sqlalchemy import JSON, Column, ForeignKey, String, Table, Text

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

pools = Table(  # text made elsewhere, for dp-select to choose from; never a corpus
    "pools",
    metadata,
    Column("name", String, primary_key=True),
    Column("created", String, nullable=False),
    Column("actor", String, nullable=False),  # who declared that it was made without the private data
    Column("texts", Integer, nullable=False),
    Column("labels", JSON, nullable=False),  # label to number of texts
    Column("digest", String(32), nullable=False),  # of texts and labels in order
    Column("origin", String, nullable=False),
    Column("licence", String, nullable=False),
    Column("statement", Text, nullable=False),  # what was declared
    Column("pack_id", String, nullable=False),  # the prompt pack that it answers, empty for none
    Column("marks", JSON, nullable=False),  # runs whose protected output it was written from
    Column("found", JSON, nullable=False),  # counts of the import
)

pool_texts = Table(
    "pool_texts",
    metadata,
    Column("pool", String, ForeignKey("pools.name", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    Column("label", String),
)

pool_checks = Table(  # what a comparison of a pool with private records found: internal
    "pool_checks",
    metadata,
    Column("pool", String, ForeignKey("pools.name", ondelete="CASCADE"), primary_key=True),
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("body", JSON, nullable=False),  # counts, and positions in the pool
)

packs = Table(  # append-only: prompts that left, or were made to leave
    "packs",
    metadata,
    Column("id", String, primary_key=True),
    Column("created", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("run_id", String, nullable=False),  # whose winners stand in it, empty for none; the run may be gone
    Column("statement", Text, nullable=False),  # what was declared
    Column("listed", JSON, nullable=False),  # what is in it and why it may leave
    Column("marks", JSON, nullable=False),  # of the run
    Column("prompts", JSON, nullable=False),
    Column("digest", String(64), nullable=False),  # SHA-256 of the prompts
)
