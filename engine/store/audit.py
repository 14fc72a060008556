"""The audit log: who did what, append-only, chained by keyed hashes (see `engine.store.chain`).

Privacy posture: details are counts, ids and settings; they hold no text and no file name.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from sqlalchemy import ColumnElement, Connection, false, func, or_, select

from engine.store.chain import Chain, Verified, canonical, now
from engine.store.database.schema import audit, audit_head, corpora, jobs, runs

__all__ = ["COLUMNS", "append", "canonical", "count", "now", "read", "verify"]

CHAIN = Chain("audit", audit, audit_head)
COLUMNS = ["seq", "at", "actor", "action", "subject", "detail", "hash"]


def append(
    connection: Connection, key: bytes, actor: str, action: str, subject: str, detail: Mapping[str, object]
) -> str:
    """Add a line inside the caller's write transaction and return its hash."""
    values = {"actor": actor, "action": action, "subject": subject, "detail": canonical(dict(detail))}
    return CHAIN.append(connection, key, values)[1]


def read(connection: Connection, limit: int, offset: int, corpus_id: str | None = None) -> pd.DataFrame:
    """Return lines, of one corpus or all, latest first, with the columns of `COLUMNS`."""
    query = (
        select(audit)
        .where(*_about(corpus_id))
        .order_by(audit.c.seq.desc())
        .limit(limit if limit >= 0 else None)
        .offset(offset)
    )
    return pd.DataFrame([tuple(r) for r in connection.execute(query)], columns=COLUMNS)


def count(connection: Connection, corpus_id: str | None = None) -> int:
    """Return how many lines there are, of one corpus or of all."""
    return int(connection.execute(select(func.count()).select_from(audit).where(*_about(corpus_id))).scalar_one())


def _about(corpus_id: str | None) -> list[ColumnElement[bool]]:
    """Return the conditions of lines about a corpus: it, its runs, jobs and people, and whatever a line says is of it.

    A line names its corpus in its detail where its subject alone does not, so that lines of what was deleted are found.
    """
    if corpus_id is None:
        return []
    if not corpus_id.replace("-", "").isalnum():  # no id, and so no line is of it
        return [false()]
    said = audit.c.detail.contains(f'"corpus":"{corpus_id}"', autoescape=True)
    subjects = (
        select(runs.c.id).where(runs.c.corpus_id == corpus_id),
        select(jobs.c.id).where(jobs.c.corpus_id == corpus_id),
        select(corpora.c.population).where(corpora.c.id == corpus_id),
        select(audit.c.subject).where(said, audit.c.subject != ""),
    )
    return [or_(audit.c.subject == corpus_id, said, *(audit.c.subject.in_(found) for found in subjects))]


def verify(connection: Connection, key: bytes) -> Verified:
    """Return `ok`, the number of `lines`, and `first_bad`: the first line that does not hold, or None."""
    return CHAIN.verify(connection, key)
