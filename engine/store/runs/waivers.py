"""Waivers of a run's rules: given and withdrawn by a person, every one kept.

Privacy posture: a reason and a name are public words: they are held against private text and private numbers before
they are kept, and again before a bundle is written. What a rule found is kept as a digest alone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from engine.errors import NotFoundError, UserError
from engine.json_types import JSONObject
from engine.store.audit import now
from engine.store.database.schema import waivers
from engine.store.logs import about, rows
from engine.store.rows import AnyRow
from engine.store.session import Session, new_id
from engine.store.upkeep import DEFAULT_ACTOR

if TYPE_CHECKING:
    from engine.release import Waiver

WAIVED, WITHDRAWN = "rule waived", "waiver withdrawn"
UNNAMED = (DEFAULT_ACTOR, "command line")


def check_named(session: Session) -> None:
    """Raise `UserError` where nobody said who acts."""
    if " ".join(session.actor.split()).casefold() in UNNAMED:
        raise UserError("Say who you are first (--by on the command line): a waiver stands under a person's name")


def given(connection: Connection, run_id: str, policy_id: str) -> tuple[Waiver, ...]:
    """Return the waivers of a run under a policy that were not withdrawn, in the order in which they were given.

    One that is not as a line of the audit log tells, or that a line tells was withdrawn, is none.
    """
    from engine.release import Waiver

    query = select(waivers).where(waivers.c.run_id == run_id, waivers.c.policy == policy_id).order_by(waivers.c.seq)
    kept = connection.execute(query).all()
    told = _told(connection, run_id) if kept else {}
    found: dict[str, Waiver] = {}
    for row in kept:
        if row.withdrawn:
            found.pop(row.id, None)
        elif _is_told(row, told.get(row.id)):
            found[row.id] = Waiver(row.id, row.rule, row.actor, row.reason, row.at[:10], row.expires, row.basis)
    return tuple(found.values())


def _told(connection: Connection, run_id: str) -> dict[str, JSONObject]:
    """Return by id what the audit log tells of the waivers of a run that no line withdrew."""
    told: dict[str, JSONObject] = {}
    for action, _, said in about.told(connection, (WAIVED, WITHDRAWN), run_id):
        if action == WAIVED:
            told[str(said.get("waiver"))] = said
        else:
            told.pop(str(said.get("waiver")), None)
    return told


def _is_told(row: AnyRow, said: JSONObject | None) -> bool:
    """Say whether a waiver is as its line has it; one of an earlier edition tells not what it is for nor of whom."""
    if said is None:
        return False
    same = all(said.get(name) == getattr(row, name) for name in ("policy", "rule", "reason", "expires"))
    return same and said.get("basis", row.basis) == row.basis and said.get("by", row.actor) == row.actor


def give(
    session: Session, run_id: str, corpus_id: str, policy_id: str, rule: str, basis: str, reason: str, expires: str,
    *, sample: str = "",
) -> str:  # fmt: skip
    """Keep a waiver and return its id; its words were checked; `sample` is the spot check, or trial, it rests on."""
    waiver_id = new_id("w")
    values = {"id": waiver_id, "run_id": run_id, "policy": policy_id, "rule": rule, "basis": basis}
    with session.db.write() as connection:
        row = {**values, "at": now(), "actor": session.actor, "reason": reason, "expires": expires, "withdrawn": False}
        told = rows.put(connection, session.key, rows.WAIVERS, row)
        session.write_audit(
            connection, WAIVED, run_id, corpus=corpus_id, waiver=waiver_id, policy=policy_id, rule=rule,
            basis=basis, reason=reason, expires=expires, by=session.actor,
            **({"sample": sample} if sample else {}), **told,
        )  # fmt: skip
    return waiver_id


def withdraw(session: Session, run_id: str, corpus_id: str, policy_id: str, waiver_id: str) -> None:
    """Take a waiver back.

    Raises:
        NotFoundError: the run has no such waiver in force.
    """
    with session.db.write() as connection:
        found = next((one for one in given(connection, run_id, policy_id) if one.id == waiver_id), None)
        if found is None:
            raise NotFoundError("there is no such waiver; it may have been taken back before")
        values = {"id": waiver_id, "run_id": run_id, "policy": policy_id, "rule": found.rule, "basis": found.basis}
        row = {**values, "at": now(), "actor": session.actor, "reason": "", "expires": found.expires, "withdrawn": True}
        told = rows.put(connection, session.key, rows.WAIVERS, row)
        session.write_audit(
            connection, WITHDRAWN, run_id, corpus=corpus_id, waiver=waiver_id, policy=policy_id,
            rule=found.rule, **told,
        )  # fmt: skip


def today() -> str:
    """Return today's day in UTC, ISO 8601."""
    return datetime.now(UTC).date().isoformat()
