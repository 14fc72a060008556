"""Have the worker answer requests of accounting and of voting signals."""

from __future__ import annotations

from sqlalchemy import select

from engine.json_types import JSONObject
from engine.store import queue
from engine.store.budget import accounts
from engine.store.database.schema import jobs
from engine.store.session import Session


def ask(session: Session, kind: str, request: JSONObject) -> None:
    """Have the worker answer a request, unless it is at it already.

    Args:
        session: the open workspace. kind: `account` or `signal`. request: public quantities alone.
    """
    with session.db.read() as connection:
        lost = connection.execute(
            select(jobs.c.id).where(jobs.c.kind == kind, jobs.c.state.in_(queue.ACTIVE)).limit(1)
        ).first()
        known = accounts.is_pending(connection, kind, request)
    if not known or lost is None:
        with session.db.write() as connection:
            digest = accounts.ask(connection, kind, request)
            queue.enqueue(connection, kind, arguments={"digest": digest})
    session.wake()
