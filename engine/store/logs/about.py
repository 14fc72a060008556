"""Whether the lines of the audit log about one subject can be relied on, without going through the whole log.

Each of them has its own hash behind the line before it, and no line of the log is missing by its number. Who takes out
lines and numbers all others anew is found by `audit --verify`.

Privacy posture: line numbers and hashes.
"""

from __future__ import annotations

import hmac

from sqlalchemy import Connection, func, select

from engine.store.audit import CHAIN
from engine.store.chain import GENESIS


def sound(connection: Connection, key: bytes, subject: str) -> bool:
    """Say whether the lines about a subject are as they were written, and none of the log is missing."""
    table = CHAIN.table.c
    count, last = connection.execute(select(func.count(), func.max(table.seq)).select_from(CHAIN.table)).one()
    head = connection.execute(select(CHAIN.head)).first()
    if int(count) != int(last or 0) or (0 if head is None else head.seq) != int(count):
        return False
    if head is not None and not CHAIN.holds(connection, key, int(head.seq), str(head.seal)):
        return False
    before = {
        int(seq) + 1: str(digest)
        for seq, digest in connection.execute(
            select(table.seq, table.hash).where(table.seq.in_(select(table.seq - 1).where(table.subject == subject)))
        )
    }
    for row in connection.execute(select(CHAIN.table).where(table.subject == subject)):
        line = {name: getattr(row, name) for name in CHAIN.columns[:-1]}
        if not hmac.compare_digest(CHAIN.digest(key, before.get(int(row.seq), GENESIS), line), str(row.hash)):
            return False
    return True
