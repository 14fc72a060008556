"""Whether private records may have had a say in a run's pool: one was compared with them before the run was asked for.

A comparison shows which texts of a pool repeat private records. Whoever leaves these out and brings the rest in again
has cut the pool by private text, and no noise of a run covers that. So a run counts as one after a look, unless its
pool was in the workspace, text for text, before the first comparison with its people's records.

Limits: the lines of ledger and audit log tell of it, so what happened in another workspace is not known.
Privacy posture: reads lines of logs; no text.
"""

from __future__ import annotations

import json

from sqlalchemy import Connection, select

from engine.json_types import as_object
from engine.store.budget import lines as ledger_lines
from engine.store.budget import reservations
from engine.store.database.schema import audit
from engine.store.rows import RunRow

POOL_CHECK = "pool check"  # what the ledger calls a comparison
IMPORTED = "pool imported"  # action in the audit log


def pool_compared(connection: Connection, row: RunRow) -> bool:
    """Say whether a run's pool may have been cut by what a comparison with its people's records had shown."""
    digest = str(as_object(row.parameters.get("promise") or {}).get("digest") or "")
    if not row.parameters.get("pool") or not digest:
        return False
    population = reservations.population_of(connection, row.corpus_id)
    looks = [
        line.at
        for line in ledger_lines.read(connection, population).lines
        if line.kind == "touch" and line.body.get("what") == POOL_CHECK and line.at <= row.created
    ]
    return bool(looks) and not _imported_before(connection, digest, min(looks))


def _imported_before(connection: Connection, digest: str, at: str) -> bool:
    query = select(audit.c.detail).where(audit.c.action == IMPORTED, audit.c.at < at)
    return any(json.loads(detail).get("digest") == digest for detail in connection.execute(query).scalars())
