"""Releases and withdrawals, own policies, waivers, and trials of an intruder."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, LargeBinary, String, Table, Text, UniqueConstraint

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

releases = Table(
    "releases",
    metadata,
    Column("id", String, primary_key=True),
    Column("run_id", String, nullable=False),
    Column("corpus_id", String, nullable=False),
    Column("created", String, nullable=False),
    Column("records", Integer, nullable=False),
    Column("policy", String, nullable=False),
    Column("path", String, nullable=False),
    Column("files", JSON, nullable=False),
    Column("detail", JSON, nullable=False),
)

revocations = Table(  # no foreign key: a withdrawal outlives its release
    "revocations",
    metadata,
    Column("release_id", String, primary_key=True),
    Column("manifest_sha256", String(64), nullable=False),
    Column("revoked", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("reason", Text, nullable=False),  # typed for everybody to read
)

own_policies = Table(  # append-only: every version; the latest of an id is in force, one without text is a removal
    "own_policies",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", String, nullable=False),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("text", Text),
    sqlite_autoincrement=True,
)

waivers = Table(  # append-only: every waiver of a rule, and every withdrawal of one
    "waivers",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("policy", String, nullable=False),
    Column("rule", String, nullable=False),
    Column("basis", String(64), nullable=False),  # digest of the policy and of what the rule found
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("reason", Text, nullable=False),  # typed for recipients to read
    Column("expires", String, nullable=False),  # last day on which it holds
    Column("withdrawn", Boolean, nullable=False),
    Index("ix_waiver", "run_id", "policy"),
    sqlite_autoincrement=True,
)

intruder_trials = Table(  # random samples of approved texts, for a person to say whom they are of
    "intruder_trials",
    metadata,
    Column("id", String, primary_key=True),
    Column("run_id", String, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("look", Integer, nullable=False),  # 1 for the first of these texts, in whatever run
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("minutes", Integer, nullable=False),  # the time box
    Column("means", Text, nullable=False),  # what the intruder may use, as it was typed
    Column("drawn_from", JSON, nullable=False),  # positions of the approved records, as [first, last] of each stretch
    UniqueConstraint("run_id", "look"),
)

intruder_texts = Table(
    "intruder_texts",
    metadata,
    Column("trial_id", String, ForeignKey("intruder_trials.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),  # in the sample, random, from 1
    Column("position", Integer, nullable=False),  # of the run's record
    sqlite_with_rowid=False,
)

intruder_events = Table(  # what an intruder and whoever checks the claims did
    "intruder_events",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("trial_id", String, ForeignKey("intruder_trials.id", ondelete="CASCADE"), nullable=False),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),  # begin, claim, withdraw, end, right, wrong, unclear
    Column("place", Integer),
    Column("words", Text),  # whom a text is said to be of; why a verdict was changed after its bound was seen
    Index("ix_intruder_event", "trial_id", "seq"),
    sqlite_autoincrement=True,
)

intruder_looks = Table(  # append-only: which texts were tried; no foreign key, a look outlives its run
    "intruder_looks",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("trial_id", String, nullable=False, unique=True),
    Column("run_id", String, nullable=False),
    Column("look", Integer, nullable=False),
    Column("marks", LargeBinary, nullable=False),  # eight bytes of a keyed digest for each text it was drawn from
)
