"""Spends that a ledger has lost: after a restore, a rollback that was accepted, or in a copy of the folder.

Every population then gets a line that what was spent since is unknown. Until a person enters the amount, its total
holds as "at least" and no run that claims budget is admitted: the limit could not be kept. The amount entered is a
claim (ε, δ) of unknown mechanisms, kept as one event that is ε-bounded but for a chance δ.

Privacy posture: times, numbers that a person entered, sentences of ours.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from sqlalchemy import Connection, select

from engine.dp.events import Event
from engine.dp.ledger import share_used
from engine.dp.upward import upward
from engine.errors import UserError
from engine.store import audit
from engine.store.budget import lines as ledger_lines
from engine.store.budget.lines import LineBody, declared_runs
from engine.store.database.database import Database
from engine.store.database.schema import ledger, populations
from engine.store.disk import heads, place
from engine.store.disk.address import default_path
from engine.store.disk.folder import Folder
from engine.store.disk.lock import locked
from engine.store.disk.opening import open_database
from engine.store.runs.seen import LOST

RESTORED, ROLLED_BACK, COPIED = LOST
LARGEST_EPSILON = 1000.0


def mark_all(connection: Connection, key: bytes, actor: str, action: str, since: str, sentence: str) -> int:
    """Write into every population's ledger, and the audit log, that spends since a time are unknown.

    Args:
        connection: inside a write transaction. action: `RESTORED`, `ROLLED_BACK` or `COPIED`. since: the time from
            which nothing is known, ISO 8601. sentence: what happened, for the lines.

    Returns:
        How many populations that were.
    """
    found = list(connection.execute(select(populations.c.id).order_by(populations.c.id)).scalars())
    for population in found:
        _unknown(connection, key, actor, population, action, since, sentence)
    audit.append(connection, key, actor, action, "", {"since": since, "populations": len(found)})
    return len(found)


class Accepted(TypedDict):
    """What was accepted: how many ledgers say so, lines that are missing, by chain, and the time of the last line."""

    populations: int
    lines_missing: dict[str, int]
    since: str


def accept_rollback(path: Path | None = None, actor: str = "custodian") -> Accepted:
    """Go on with a database that is older than its kept heads, after writing that what was spent since is unknown.

    Returns:
        `populations`, `lines_missing` (by chain) and `since`: the time of the database's last line.

    Raises:
        UserError: the database is the latest; there is nothing to accept.
        StorageError: the key or the database is missing or damaged.
    """
    folder = Folder((Path(path) if path is not None else default_path()).absolute())
    key, database = open_database(folder, check_heads=False)
    try:
        try:
            heads.check(folder, database, key)
        except heads.RolledBackError:
            pass
        else:
            raise UserError("This workspace's database is its latest; there is no rollback to accept.")
        missing = heads.lines_missing(folder, database)
        with database.write() as connection:
            since = _last_time(connection)
            number = mark_all(
                connection, key, actor, ROLLED_BACK, since,
                f"An older database was put back, whose last line is of {since}; what was spent since is unknown.",
            )  # fmt: skip
        heads.keep(folder, database, key, anew=True)
    finally:
        database.close()
    return {"populations": number, "lines_missing": dict(missing), "since": since}


def restored(database: Database, key: bytes, actor: str, created: str) -> int:
    """Write into a freshly restored workspace that what was spent after its backup is unknown."""
    with database.write() as connection:
        return mark_all(
            connection, key, actor, RESTORED, created,
            f"Restored from a backup of {created}; what was spent since is unknown.",
        )  # fmt: skip


def notice_copy(folder: Folder, database: Database, key: bytes, actor: str) -> bool:
    """Write into a workspace that was copied that what the other one spends is unknown; return whether it was.

    A workspace that was moved, or has not kept its place yet, keeps it from now on.
    """
    now, kept = place.here(folder, key), heads.kept_place(folder)
    if kept == now:
        return False
    if kept is None or not place.is_copy(kept, now):
        heads.keep(folder, database, key, place=now)
        return False
    with locked(folder.path / "opening.lock"):
        kept = heads.kept_place(folder)  # another process may have been first while this one waited
        if kept is None or not place.is_copy(kept, now):
            return False
        with database.write() as connection:
            since = _last_time(connection)
            mark_all(
                connection, key, actor, COPIED, since,
                f"This workspace is a copy of another folder, made after {since}; what was spent since is unknown, "
                "there and on other copies. If the folder was only moved to another disk, nothing was.",
            )  # fmt: skip
        heads.keep(folder, database, key, place=now)
    return True


def declare(
    connection: Connection, key: bytes, actor: str, population: str, unit: str, epsilon: float, delta: float
) -> None:
    """Write what a person says was spent in the unknown time: (ε, δ) in all, or 0, 0 for nothing.

    It counts for the unit of the ledger's runs, or for `unit` where it has none.

    Raises:
        UserError: nothing is unknown, or a number is out of range.
    """
    book = ledger_lines.read(connection, population)
    if not book.unknown:
        raise UserError("Nothing about this ledger is unknown, so there is no amount to enter.")
    if not 0.0 <= epsilon <= LARGEST_EPSILON or math.isnan(epsilon):
        raise UserError(f"epsilon spent since: must be from 0 to {LARGEST_EPSILON:g}, is {epsilon:g}")
    if not 0.0 <= delta < 1.0 or (delta and not epsilon):
        raise UserError(f"delta spent since: must be from 0 to below 1, and 0 where epsilon is 0, is {delta:g}")
    units = sorted({event.unit for run in book.state.runs for event in run.events})
    unit = units[0] if units else unit
    event = Event("pure", "declared spend", epsilon=epsilon, delta=delta, unit=unit) if epsilon else None
    nothing = "Nothing was spent in the unknown time"
    amount = f"ε = {upward(epsilon, 6)} at δ = {upward(delta)} was spent in the unknown time"
    body: LineBody = {
        "epsilon": epsilon,
        "delta": delta,
        "answers": [line.seq for line in book.unknown],
        "event": event.as_dict() if event else None,
        "what": "spent since",
        "sentence": f"{amount if epsilon else nothing}, by the word of the person named in this line.",
    }
    spent = replace(book.state, unknown=False, runs=(*book.state.runs, *declared_runs(0, body)))
    after = body["share_after"] = share_used(spent)
    ledger_lines.write(connection, key, actor, population, "declared", **body)
    audit.append(
        connection, key, actor, "spend since entered", population,
        {"epsilon": epsilon, "delta": delta, "share_after": round(after, 6)},
    )  # fmt: skip


def ever(connection: Connection) -> str | None:
    """Return the time since which spends of this workspace were lost, None where none ever were."""
    query = select(ledger.c.body).where(ledger.c.kind == "unknown").order_by(ledger.c.seq).limit(1)
    found = connection.execute(query).scalar()
    if found is None:
        query = select(audit.CHAIN.table.c.detail).where(
            audit.CHAIN.table.c.action.in_((RESTORED, ROLLED_BACK, COPIED))
        )
        found = connection.execute(query.limit(1)).scalar()
    return None if found is None else str(_body(found)["since"])


def _unknown(
    connection: Connection, key: bytes, actor: str, population: str, action: str, since: str, sentence: str
) -> None:
    book = ledger_lines.read(connection, population)
    ledger_lines.write(
        connection, key, actor, population, "unknown",
        what=action, since=since, sentence=sentence, share_after=share_used(book.state),
    )  # fmt: skip


def _last_time(connection: Connection) -> str:
    times = [
        connection.execute(select(chain.table.c.at).order_by(chain.table.c.seq.desc()).limit(1)).scalar()
        for chain in heads.CHAINS
    ]
    return max((str(at) for at in times if at), default="an unknown time")


def _body(text: str) -> LineBody:
    body: LineBody = json.loads(text)
    return body
