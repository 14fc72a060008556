"""The tables of a workspace's database.

Privacy posture: private text is held in `synthetic.text`, `synthetic.lineage`, `runs.state_json`,
`jobs.sample`, `notes.text`, `intruder_events.words` and `corpora.detector` only; `declarations.value` holds labels
that were declared public; spans hold positions and keyed digests; `mechanism_outputs.values`
holds noisy statistics, and exact ones that were declared public. All of it goes when its corpus is deleted.
`audit`, `ledger`, `populations`, `unit_hashes`, `people_marks`, `short_marks` and `equal_marks` stay and hold no text.
`pools`, `pool_texts` and `packs` are public: text that was made elsewhere, and what left as prompts. `pool_checks`
holds counts taken from private text, and goes with its corpus.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from engine.store.dialect import WHOLE as Integer
from engine.store.dialect import order_text_alike

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

settings = Table(
    "settings",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", JSON, nullable=False),
)

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
    Index("ix_decision_batch", "corpus_id", "batch"),
    Index("ix_decision_place", "corpus_id", "position", "start", "end"),
    sqlite_autoincrement=True,
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
    Column("refused", String),  # why: a code of engine.store.review.refusals
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
    Column("again", Boolean, nullable=False),  # drawn from records that had been read before
    Column("after", Integer, nullable=False),  # number of the last decision before it
    Column("marks", JSON, nullable=False),  # what detection the records stood under
    UniqueConstraint("corpus_id", "look"),
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

seen_outputs = Table(  # no foreign key: what was examined outlives its run
    "seen_outputs",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("digest", String(32), primary_key=True),  # HMAC of a synthetic text under the workspace key
    Index("ix_seen_output", "digest"),
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

fitted_weights = Table(  # no foreign key: a copy of the weights may outlive run and corpus
    "fitted_weights",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("mark", JSON, nullable=False),
    Column("at", String, nullable=False),
    Index("ix_fitted_run", "run_id"),
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

members = Table(  # append-only: who holds which role; a person's latest line counts
    "members",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("identity", String, nullable=False),  # what the sign-in vouches for
    Column("name", String, nullable=False),
    Column("roles", JSON, nullable=False),  # empty for somebody who holds none any more
)

signatures = Table(  # append-only: second persons who signed in; no foreign key, a signature outlives its run
    "signatures",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("identity", String, nullable=False),
    Column("name", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("policy_id", String, nullable=False),
    Column("state", String(64), nullable=False),  # keyed digest of what was signed
)

intruder_trials = Table(  # random samples of approved texts, for a person to say whom they are of
    "intruder_trials",
    metadata,
    Column("id", String, primary_key=True),
    Column("run_id", String, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("look", Integer, nullable=False),  # 1 for the first of the run
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
    Column("words", Text),  # whom a text is said to be of
    Index("ix_intruder_event", "trial_id", "seq"),
    sqlite_autoincrement=True,
)

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

order_text_alike(metadata)
