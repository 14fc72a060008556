"""Whether the lines of the audit log about one subject can be relied on, before anything is judged by them.

`sound` looks at these lines alone: each has its own hash behind the line before it, and no line of the log is missing
by its number. A line that was given another subject is no longer among them, and its own hash is the only trace, so
`whole` holds every line of the log. A process that has held them once goes on from the line it reached; what was done
to an earlier line of another subject since is found when they are held anew, as they are before anything leaves.

Privacy posture: line numbers and hashes.
"""

from __future__ import annotations

import hmac
import json
from collections import OrderedDict
from collections.abc import Collection, Iterator
from threading import Lock

from sqlalchemy import Connection, func, select

from engine.json_types import JSONObject, as_object
from engine.store.audit import CHAIN
from engine.store.chain import GENESIS

ENTRIES = 8
_reached: OrderedDict[str, tuple[int, str]] = OrderedDict()  # database -> number and hash of the last line that held
_lock = Lock()


def whole(connection: Connection, key: bytes, subject: str, *, anew: bool = False) -> bool:
    """Say whether the lines about a subject are as they were written and are all that were written about it.

    Args:
        anew: hold lines of other subjects too that this process has held before.
    """
    if not sound(connection, key, subject):
        return False
    name = connection.engine.url.render_as_string()
    with _lock:
        number, previous = (0, GENESIS) if anew else _reached.get(name, (0, GENESIS))
    table = CHAIN.table.c
    if number and connection.execute(select(table.hash).where(table.seq == number)).scalar() != previous:
        number, previous = 0, GENESIS  # another history
    for row in connection.execute(select(CHAIN.table).where(table.seq > number).order_by(table.seq)):
        line = {column: getattr(row, column) for column in CHAIN.columns[:-1]}
        if not hmac.compare_digest(CHAIN.digest(key, previous, line).encode(), str(row.hash).encode()):
            return False
        number, previous = int(row.seq), str(row.hash)
    with _lock:
        _reached[name] = (number, previous)
        _reached.move_to_end(name)
        while len(_reached) > ENTRIES:
            _reached.popitem(last=False)
    return True


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
        digest = CHAIN.digest(key, before.get(int(row.seq), GENESIS), line)
        if not hmac.compare_digest(digest.encode(), str(row.hash).encode()):
            return False
    return True


def told(
    connection: Connection, actions: Collection[str], subject: str | None = None
) -> Iterator[tuple[str, str, JSONObject]]:
    """Yield action, subject and what else is said of each line with one of these actions, the first one first.

    A line that was made unreadable says nothing here; that it was changed is for the log's own check.

    Args:
        subject: only lines about it.
    """
    table = CHAIN.table.c
    query = select(table.action, table.subject, table.detail).where(table.action.in_(list(actions)))
    if subject is not None:
        query = query.where(table.subject == subject)
    for action, about, detail in connection.execute(query.order_by(table.seq)):
        yield str(action), str(about), said_in(detail)


def said_in(detail: object) -> JSONObject:
    """Return what is said in a line beside action and subject, nothing where it is no object of JSON any more."""
    try:
        return as_object(json.loads(detail)) if isinstance(detail, str) else {}
    except ValueError:
        return {}
