"""The audit log: who did what, append-only, chained by keyed hashes (see `engine.store.chain`).

Privacy posture: details are counts, ids and settings; they hold no text and no file name.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from sqlalchemy import Connection, select

from engine.store.chain import Chain, Verified, canonical, now
from engine.store.schema import audit, audit_head

__all__ = ["COLUMNS", "append", "canonical", "now", "read", "verify"]

CHAIN = Chain("audit", audit, audit_head)
COLUMNS = ["seq", "at", "actor", "action", "subject", "detail", "hash"]


def append(
    connection: Connection, key: bytes, actor: str, action: str, subject: str, detail: Mapping[str, object]
) -> str:
    """Add a line inside the caller's write transaction and return its hash."""
    values = {"actor": actor, "action": action, "subject": subject, "detail": canonical(dict(detail))}
    return CHAIN.append(connection, key, values)[1]


def read(connection: Connection, limit: int, offset: int) -> pd.DataFrame:
    """Return lines, latest first, with the columns of `COLUMNS`."""
    rows = connection.execute(select(audit).order_by(audit.c.seq.desc()).limit(limit).offset(offset)).all()
    return pd.DataFrame([tuple(r) for r in rows], columns=COLUMNS)


def verify(connection: Connection, key: bytes) -> Verified:
    """Return `ok`, the number of `lines`, and `first_bad`: the first line that does not hold, or None."""
    return CHAIN.verify(connection, key)
