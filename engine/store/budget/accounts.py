"""Answers of accounting and of voting signals, kept by the digest of their public request.

Privacy posture: requests hold public parameters only, so neither they nor their digests say anything
about a record.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.store.chain import canonical, now
from engine.store.database.dialect import insert
from engine.store.database.schema import accounts
from engine.store.rows import AnyRow

RETRY_SECONDS = 60.0  # after an error that was not the request's fault


def digest(kind: str, request: JSONObject) -> str:
    """Return the key of a request."""
    return hashlib.sha256(canonical({"kind": kind, "request": dict(request)}).encode()).hexdigest()


def lookup(connection: Connection, kind: str, request: JSONObject) -> dict[str, JSON] | None:
    """Return the answer to a request, or None where there is none yet.

    Raises:
        UserError: the request cannot be answered; the sentence says why.
    """
    row = connection.execute(select(accounts).where(accounts.c.digest == digest(kind, request))).first()
    if row is None:
        return None
    if row.error is not None and not _worth_another_try(row):
        raise UserError(row.error)
    return None if row.answer is None else dict(row.answer)


def is_pending(connection: Connection, kind: str, request: JSONObject) -> bool:
    """Say whether a request was noted and has neither answer nor error."""
    row = connection.execute(select(accounts).where(accounts.c.digest == digest(kind, request))).first()
    return row is not None and row.answer is None and row.error is None


def ask(connection: Connection, kind: str, request: JSONObject) -> str:
    """Note a request as pending and return its digest."""
    key = digest(kind, request)
    _put(connection, key, kind, request)
    return key


def answer(
    connection: Connection,
    kind: str,
    request: JSONObject,
    found: JSONObject | None,
    error: str | None = None,
    *,
    final: bool = True,
) -> None:
    """Keep an answer, or why there is none; `final` errors are not tried again."""
    _put(connection, digest(kind, request), kind, request, found, error, final)


def request_of(connection: Connection, key: str) -> dict[str, JSON] | None:
    """Return the request with this digest that has no answer yet."""
    row = connection.execute(select(accounts).where(accounts.c.digest == key)).first()
    return dict(row.request) if row is not None and row.answer is None else None


def _put(
    connection: Connection,
    key: str,
    kind: str,
    request: JSONObject,
    found: JSONObject | None = None,
    error: str | None = None,
    final: bool = True,
) -> None:
    values = {
        "kind": kind,
        "request": dict(request),
        "answer": None if found is None else dict(found),
        "error": error,
        "final": final,
        "at": now(),
    }
    statement = insert(connection, accounts).values(digest=key, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["digest"], set_=values))


def _worth_another_try(row: AnyRow) -> bool:
    age = (datetime.now(UTC) - datetime.fromisoformat(row.at)).total_seconds()
    return not row.final and age > RETRY_SECONDS
