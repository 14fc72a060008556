"""The marks of a corpus as one number that each act brings up to date: which spans stand, and what counts of them.

The sum modulo 2^256 of a keyed digest of each span's row, and of each record that was read to the end, changes with
every row that comes, goes or is other than it was, and an act has to look at the rows it touches alone. The audit line
of each act holds the sum behind a pad of its own, since whoever saw many sums could find rows whose changes cancel.
So what nobody decided is held too: a span that was put in, taken out or given another label outside of the program.

Source: Clarke, Devadas, van Dijk, Gassend, Suh 2003, "Incremental multiset hash functions and their application to
memory integrity checking" (MSet-Add-Hash).

Privacy posture: digests under the workspace key; positions and labels go into them and do not come out.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import ColumnElement, Connection, Integer, or_, select, type_coerce

from engine.errors import StorageError
from engine.pii.decide.rules import Standing
from engine.store.database.database import UNTOLD
from engine.store.database.dialect import one_of, strangers
from engine.store.database.schema import record_index, spans
from engine.store.rows import SpanRow

PENDING = "pending"
"""Origin of spans that a detection at work has found so far; they count from the moment they are put in force."""
MODULUS = 1 << 256
NONCE = 16  # bytes
_encoded = json.JSONEncoder(separators=(",", ":"), default=repr).encode
_COLUMNS = (
    spans.c.id, spans.c.position, spans.c.start, spans.c.end, spans.c.label, spans.c.first_label, spans.c.score,
    spans.c.recogniser, spans.c.identifier_type, spans.c.origin, type_coerce(spans.c.active, Integer), spans.c.state,
    type_coerce(spans.c.decided, Integer), spans.c.value_key, spans.c.entity_key,
)  # fmt: skip
COUNT = or_(spans.c.origin.is_distinct_from(PENDING), spans.c.active.is_not(False))
"""Condition of spans that count: all but those that a detection at work has found; one that says so and is in force
was brought in."""


def total(connection: Connection, key: bytes, corpus_id: str, positions: Collection[int] | None = None) -> int:
    """Return the sum over all of a corpus, or over the records at some positions, as the rows are now."""
    mine: list[ColumnElement[bool]] = [spans.c.corpus_id == corpus_id, COUNT]
    read: list[ColumnElement[bool]] = [record_index.c.corpus_id == corpus_id, record_index.c.reviewed.is_not(False)]
    if positions is not None:  # `active IN` lets SQLite use the index on (corpus_id, active, position)
        mine += [spans.c.active.in_((False, True)), one_of(spans.c.position, positions)]
        read.append(one_of(record_index.c.position, positions))
    found = sum(
        _digest(key, [corpus_id, *row[:10], _flag(row[10]), row[11], _flag(row[12]), *row[13:]])
        for row in connection.execute(select(*_COLUMNS).where(*mine))
    )
    query = select(record_index.c.position, type_coerce(record_index.c.reviewed, Integer)).where(*read)
    found += sum(_digest(key, [corpus_id, at, _flag(said)]) for at, said in connection.execute(query))
    return found % MODULUS


def decided(connection: Connection, key: bytes, rows: Sequence[SpanRow], now_count: Sequence[Standing]) -> None:
    """Take into the sum that these spans are decided now, and what counts of each."""
    if not rows:
        return
    changed = sum(
        _span(key, row, True, now) - _span(key, row, row.decided, Standing(row.state, row.label, row.identifier_type))
        for row, now in zip(rows, now_count, strict=True)
    )
    add(connection, rows[0].corpus_id, changed)


Head = tuple[int, str]
"""Number and digest of a corpus' last decision."""


def add(connection: Connection, corpus_id: str, changed: int = 0, head: Head | None = None) -> None:
    """Note inside the caller's write transaction that something was done, and by how much the sum changed.

    The transaction ends well only where `chained.told` took this into a line of the audit log.

    Args:
        head: of the decisions since, where some were appended.
    """
    untold: dict[str, tuple[int, Head | None]] = connection.info.setdefault(UNTOLD, {})
    before, known = untold.get(corpus_id, (0, None))
    untold[corpus_id] = (before + changed, head or known)


@contextmanager
def watched(
    connection: Connection, key: bytes, corpus_id: str, positions: Collection[int] | None = None
) -> Iterator[None]:
    """Take into the sum what is done inside to the marks of a corpus, or of the records at some positions.

    Raises:
        StorageError: the database would do more than it is told.
    """
    added = strangers(connection)
    if added:
        raise StorageError(f"The database was given {', '.join(added)} outside of the program, so no mark is changed.")
    before = total(connection, key, corpus_id, positions)
    yield
    add(connection, corpus_id, total(connection, key, corpus_id, positions) - before)


@contextmanager
def step(connection: Connection) -> Iterator[None]:
    """Be a part of the caller's transaction that is taken back alone where it fails, with what it noted."""
    before = dict(connection.info.get(UNTOLD, {}))
    try:
        with connection.begin_nested():
            yield
    except BaseException:
        connection.info[UNTOLD] = before
        raise


def noted(connection: Connection, corpus_id: str) -> tuple[int, Head | None]:
    """Return what `take` does, and leave it noted."""
    untold: dict[str, tuple[int, Head | None]] = connection.info.get(UNTOLD, {})
    return untold.get(corpus_id, (0, None))


def take(connection: Connection, corpus_id: str) -> tuple[int, Head | None]:
    """Return by how much the sum of a corpus changed since the last line about it, and the head if decisions were made.

    It is told now, and noted no longer.
    """
    untold: dict[str, tuple[int, Head | None]] = connection.info.get(UNTOLD, {})
    return untold.pop(corpus_id, (0, None))


def sealed(key: bytes, corpus_id: str, value: int) -> str:
    """Return a sum as a line of the audit log holds it: a random number and the sum behind the pad of that number."""
    nonce = secrets.token_bytes(NONCE)
    return nonce.hex() + f"{(value + _pad(key, corpus_id, nonce)) % MODULUS:064x}"


def opened(key: bytes, corpus_id: str, said: str) -> int | None:
    """Return the sum that a line holds, None where it holds none."""
    try:
        nonce, value = bytes.fromhex(said[: 2 * NONCE]), int(said[2 * NONCE :], 16)
    except ValueError:
        return None
    return (value - _pad(key, corpus_id, nonce)) % MODULUS


def _span(key: bytes, row: SpanRow, is_decided: bool, now: Standing) -> int:
    return _digest(
        key,
        [
            row.corpus_id, row.id, row.position, row.start, row.end, now.label, row.first_label, row.score,
            row.recogniser, now.identifier_type, row.origin, int(row.active), now.state, int(is_decided),
            row.value_key, row.entity_key,
        ],
    )  # fmt: skip


def _flag(said: object) -> object:
    """Return yes or no as 1 or 0; SQLite keeps numbers in between and words too, which are neither."""
    return int(said) if isinstance(said, int) else repr(said)


def _digest(key: bytes, values: list[object]) -> int:
    return int.from_bytes(hmac.digest(key, b"mark\0" + _encoded(values).encode(), "sha256"), "big")


def _pad(key: bytes, corpus_id: str, nonce: bytes) -> int:
    return int.from_bytes(hmac.digest(key, b"marks pad\0" + nonce + corpus_id.encode(), "sha256"), "big")
