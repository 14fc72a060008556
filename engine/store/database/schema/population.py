"""The people behind corpora: whole texts, marks and questions by which they are known again."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, String, Table, UniqueConstraint

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

populations = Table(
    "populations",
    metadata,
    Column("id", String, primary_key=True),
    Column("created", String, nullable=False),
    Column("units", Integer),  # in the training part of its largest corpus; public, the default limit's N
)

unit_hashes = Table(
    "unit_hashes",
    metadata,
    Column("hash", String, primary_key=True),
    Column("population", String, ForeignKey("populations.id"), primary_key=True),
    sqlite_with_rowid=False,
)

people_marks = Table(  # of populations; they stay when a corpus is deleted
    "people_marks",
    metadata,
    Column("hash", Integer, primary_key=True),  # 64 keyed bits
    Column("population", String, primary_key=True),
    Column("record", Integer, primary_key=True),  # which earlier record, by a random number; 0 for a source id
    Index("ix_people_marks", "population", "record"),
    sqlite_with_rowid=False,
)

short_marks = Table(  # of populations, of short records; they stay when a corpus is deleted
    "short_marks",
    metadata,
    Column("hash", Integer, primary_key=True),  # 64 keyed bits
    Column("population", String, primary_key=True),
    Column("record", Integer, primary_key=True),  # which earlier record, by a random number
    Column("whole", Boolean, nullable=False),  # of its whole text
    Index("ix_short_marks", "population", "hash"),
    sqlite_with_rowid=False,
)

equal_marks = Table(  # of populations, of lines and of rests; they stay when a corpus is deleted
    "equal_marks",
    metadata,
    Column("hash", Integer, primary_key=True),  # 64 keyed bits
    Column("population", String, primary_key=True),
    Column("kind", String, primary_key=True),  # 'lines' or 'rests'
    Column("item", Integer, primary_key=True),  # which line or rest of which earlier record, by a random number
    Index("ix_equal_marks", "population", "kind", "hash"),
    sqlite_with_rowid=False,
)

people_questions = Table(  # whether two populations are the same people
    "people_questions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("first", String, nullable=False),
    Column("second", String, nullable=False),
    Column("state", String, nullable=False),  # 'open', 'same' or 'other'
    Column("detail", JSON, nullable=False),  # counts and a sentence
    Column("at", String, nullable=False),
    UniqueConstraint("first", "second"),
)
