"""The audit log: append-only, chained by keyed hashes.

Each line's hash is HMAC-SHA256 under the workspace key over the previous hash and the line's
canonical JSON. A sealed head (number and hash of the last line) shows that lines were cut off the end.

Privacy posture: details are counts, ids and settings; they hold no text and no file name.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from engine.store.schema import audit, audit_head

GENESIS = "0" * 64
COLUMNS = ["seq", "at", "actor", "action", "subject", "detail", "hash"]


def now() -> str:
    """Return the time as ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def canonical(value: Any) -> str:
    """Return JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def append(connection: Connection, key: bytes, actor: str, action: str, subject: str, detail: Mapping[str, Any]) -> str:
    """Add a line inside the caller's write transaction and return its hash."""
    last = connection.execute(select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1)).first()
    seq, previous = (last.seq + 1, last.hash) if last else (1, GENESIS)
    line = {
        "seq": seq,
        "at": now(),
        "actor": actor,
        "action": action,
        "subject": subject,
        "detail": canonical(dict(detail)),
    }
    digest = _chain(key, previous, line)
    connection.execute(audit.insert().values(**line, hash=digest))
    connection.execute(audit_head.delete())
    connection.execute(audit_head.insert().values(id=1, seq=seq, seal=_seal(key, seq, digest)))
    return digest


def read(connection: Connection, limit: int, offset: int) -> pd.DataFrame:
    """Return lines, latest first, with the columns of `COLUMNS`."""
    rows = connection.execute(select(audit).order_by(audit.c.seq.desc()).limit(limit).offset(offset)).all()
    return pd.DataFrame([tuple(r) for r in rows], columns=COLUMNS)


def verify(connection: Connection, key: bytes) -> dict[str, Any]:
    """Return `ok`, the number of `lines`, and `first_bad`: the first line that does not hold, or None."""
    previous, expected = GENESIS, 1
    for row in connection.execute(select(audit).order_by(audit.c.seq)):
        line = {name: getattr(row, name) for name in COLUMNS[:-1]}
        if row.seq != expected or not hmac.compare_digest(_chain(key, previous, line), str(row.hash)):
            return {"ok": False, "lines": expected - 1, "first_bad": expected}
        previous, expected = row.hash, expected + 1
    head = connection.execute(select(audit_head)).first()
    lines = expected - 1
    sealed = head is None if lines == 0 else head is not None and head.seal == _seal(key, lines, previous)
    return {"ok": sealed, "lines": lines, "first_bad": None if sealed else expected}


def _chain(key: bytes, previous: str, line: Mapping[str, Any]) -> str:
    return hmac.new(key, b"audit\0" + (previous + canonical(dict(line))).encode(), "sha256").hexdigest()


def _seal(key: bytes, seq: int, digest: str) -> str:
    return hmac.new(key, f"audit-head\0{seq}\0{digest}".encode(), "sha256").hexdigest()
