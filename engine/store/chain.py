"""Append-only tables whose lines are chained by keyed hashes.

Each line's hash is HMAC-SHA256 under the workspace key over the previous hash and the line's canonical
JSON. A sealed head (number and hash of the last line) shows that lines were cut off the end.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypedDict

from sqlalchemy import Connection, Table, select

from engine.store.database.database import GROWN

GENESIS = "0" * 64


def now() -> str:
    """Return the time as ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def canonical(value: object) -> str:
    """Return JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


_encoded = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


def keyed(key: bytes, kind: str, values: object) -> str:
    """Return the keyed digest of what a row of some kind says, as a line of a log holds it; of any value whatever."""
    return hmac.digest(key, f"{kind}\0{_encoded(values)}".encode(), "sha256").hex()


class Verified(TypedDict):
    """Whether a chain holds, how many lines do, and the first one that does not, None where all do."""

    ok: bool
    lines: int
    first_bad: int | None


@dataclass(frozen=True)
class Chain:
    """A table with `seq` first and `hash` last, and the table of its sealed head; `name` separates the keys."""

    name: str
    table: Table
    head: Table

    @property
    def columns(self) -> list[str]:
        """Return the names of the table's columns in order."""
        return [column.name for column in self.table.columns]

    def append(self, connection: Connection, key: bytes, values: Mapping[str, object]) -> tuple[int, str]:
        """Add a line inside the caller's write transaction and return its number and hash."""
        seq_column, hash_column = self.table.c.seq, self.table.c.hash
        last = connection.execute(select(seq_column, hash_column).order_by(seq_column.desc()).limit(1)).first()
        seq, previous = (last.seq + 1, last.hash) if last else (1, GENESIS)
        line = {"seq": seq, "at": now(), **values}
        digest = self.digest(key, previous, line)
        connection.execute(self.table.insert().values(**line, hash=digest))
        connection.execute(self.head.delete())
        connection.execute(self.head.insert().values(id=1, seq=seq, seal=self.seal(key, seq, digest)))
        connection.info[GROWN] = True
        return seq, digest

    def holds(self, connection: Connection, key: bytes, seq: int, seal: str) -> bool:
        """Say whether the line of this number is there and has the seal that a head once had."""
        digest = connection.execute(select(self.table.c.hash).where(self.table.c.seq == seq)).scalar()
        return digest is not None and hmac.compare_digest(self.seal(key, seq, str(digest)), seal)

    def verify(self, connection: Connection, key: bytes) -> Verified:
        """Return `ok`, the number of `lines`, and `first_bad`: the first line that does not hold, or None."""
        previous, expected = GENESIS, 1
        for row in connection.execute(select(self.table).order_by(self.table.c.seq)):
            line = {name: getattr(row, name) for name in self.columns[:-1]}
            fits = hmac.compare_digest(self.digest(key, previous, line).encode(), str(row.hash).encode())
            if row.seq != expected or not fits:
                return {"ok": False, "lines": expected - 1, "first_bad": expected}
            previous, expected = row.hash, expected + 1
        head = connection.execute(select(self.head)).first()
        lines = expected - 1
        sealed = head is None if lines == 0 else head is not None and head.seal == self.seal(key, lines, previous)
        return {"ok": sealed, "lines": lines, "first_bad": None if sealed else expected}

    def digest(self, key: bytes, previous: str, line: Mapping[str, object]) -> str:
        """Return the hash of a line, given that of the line before."""
        body = f"{self.name}\0{previous}{canonical(dict(line))}"
        return hmac.new(key, body.encode(), "sha256").hexdigest()

    def seal(self, key: bytes, seq: int, digest: str) -> str:
        """Return the seal of a head: of the number and the hash of a last line."""
        return hmac.new(key, f"{self.name}-head\0{seq}\0{digest}".encode(), "sha256").hexdigest()
