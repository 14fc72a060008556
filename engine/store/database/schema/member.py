"""Who may do what where several people sign in, and what second persons signed."""

from __future__ import annotations

from sqlalchemy import JSON, Column, String, Table

from engine.store.database.dialect import WHOLE as Integer
from engine.store.database.schema.base import metadata

members = Table(  # append-only: who holds which role; a person's latest line counts
    "members",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("identity", String, nullable=False),  # what the sign-in vouches for
    Column("name", String, nullable=False),
    Column("roles", JSON, nullable=False),  # empty for somebody who holds none any more
    Column("account", String),  # issuer and subject of who signed in first as this person, where a provider says
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
