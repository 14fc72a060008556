"""The review: spans, decisions, notes, and random samples that people read to the end."""

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

spans = Table(
    "spans",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("label", String, nullable=False),
    Column("first_label", String, nullable=False),  # as detected, before any relabelling
    Column("score", Float, nullable=False),
    Column("recogniser", String, nullable=False),
    Column("identifier_type", String, nullable=False),
    Column("origin", String, nullable=False),  # 'gold', 'detected' or 'custodian'
    Column("active", Boolean, nullable=False),
    Column("state", String, nullable=False),  # 'accepted' or 'rejected'
    Column("decided", Boolean, nullable=False, default=False),
    Column("hazard", Float, nullable=False, default=0.0),
    Column("value_key", String(32), nullable=False),
    Column("entity_key", String(32)),  # of gold spans: keyed digest of the entity that the file says they mention
    Index("ix_span_record", "corpus_id", "active", "position"),
    Index("ix_span_value", "corpus_id", "active", "value_key", "label", "state", "decided", "position"),
    Index("ix_span_state", "corpus_id", "active", "label", "state", "decided"),
    sqlite_autoincrement=True,
)

decisions = Table(
    "decisions",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), nullable=False),
    Column("batch", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),  # accept, reject, relabel, add, review, undo
    Column("span_id", Integer),
    Column("position", Integer),
    Column("start", Integer),
    Column("end", Integer),
    Column("first_label", String),
    Column("label", String),
    Column("prior", JSON),  # state, decided, label before this event
    Column("undoes", Integer),  # batch taken back by this event
    Column("number", Integer),  # within its corpus; empty only in a workspace of an earlier edition
    Column("digest", String(64)),  # keyed, over this event and the digest of the one before in its corpus
    Index("ix_decision_batch", "corpus_id", "batch"),
    Index("ix_decision_place", "corpus_id", "position", "start", "end"),
    Index("ix_decision_number", "corpus_id", "number", unique=True),
    sqlite_autoincrement=True,
)

readers = Table(  # whom a text lies ready for, where several people sign in; passing, so not append-only
    "readers",
    metadata,
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("identity", String, nullable=False),  # what a sign-in vouches for
    Column("name", String, nullable=False),
    Column("until", Float, nullable=False),  # seconds since 1970 by the database's clock
    Index("ix_reader", "corpus_id", "identity"),
)

review_acts = Table(  # what a browser sent, each once: an act that comes again is known by its sender and number
    "review_acts",
    metadata,
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), primary_key=True),
    Column("client", String, primary_key=True),  # random, a page load each
    Column("seq", Integer, primary_key=True),  # of the act in its page load
    Column("at", String, nullable=False),
    Column("batch", Integer),  # of its decisions; None where it was refused
    Column("span_id", Integer),  # of the span that it added
    Column("refused", String),  # why: a code of engine.store.review.desk.refusals
    sqlite_with_rowid=False,
)

notes = Table(  # what a person wrote about a record
    "notes",
    metadata,
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
)

spot_checks = Table(  # random samples of records to read to the end, for how much detection missed
    "spot_checks",
    metadata,
    Column("id", String, primary_key=True),
    Column("corpus_id", String, ForeignKey("corpora.id", ondelete="CASCADE"), nullable=False),
    Column("look", Integer, nullable=False),  # 1 for the first of the corpus
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("records", Integer, nullable=False),  # of the corpus
    Column("parts", JSON, nullable=False),  # sizes of the parts that were drawn from
    Column("again", Boolean, nullable=False),  # records had been read before, which are drawn from as well
    Column("after", Integer, nullable=False),  # number of the last decision before it
    Column("marks", JSON, nullable=False),  # what detection the records stood under
    Column("read_before", Integer),  # records in the last parts, read before; empty in one of an earlier edition
    UniqueConstraint("corpus_id", "look"),
)

spot_looks = Table(  # append-only: which records were drawn from; no foreign key, a look outlives its corpus
    "spot_looks",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("check_id", String, nullable=False, unique=True),
    Column("corpus_id", String, nullable=False),
    Column("look", Integer, nullable=False),
    Column("marks", LargeBinary, nullable=False),  # eight bytes of a keyed digest for each text of the corpus
)

spot_records = Table(
    "spot_records",
    metadata,
    Column("check_id", String, ForeignKey("spot_checks.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("place", Integer, nullable=False),  # in the order of reading, random
    Column("part", Integer, nullable=False),
    Column("twice", Boolean, nullable=False),  # a second person reads it too
    Column("before", JSON, nullable=False),  # places that would have been replaced when it was drawn
    sqlite_with_rowid=False,
)

spot_events = Table(  # what a second reader and whoever settles differences did
    "spot_events",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("check_id", String, ForeignKey("spot_checks.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),  # mark, unmark, finish, reopen, missed, none
    Column("start", Integer),
    Column("end", Integer),
    Column("label", String),
    Index("ix_spot_event", "check_id", "position"),
    sqlite_autoincrement=True,
)
