"""Signatures of a second person under a run's approved records: who signed what, and whether it still is that.

A signature is under a run as it stands: its examination, a policy (its version), waivers, the corpus' spot check, and
the records as they were approved. Whoever changes one of them has to ask for another.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, func, select

from engine.errors import NotAllowedError, RefusedError
from engine.store.audit import now
from engine.store.database.schema import (
    decisions,
    intruder_events,
    runs,
    signatures,
    spot_checks,
    spot_events,
    synthetic,
)
from engine.store.logs import rows
from engine.store.people.members import Members, folded
from engine.store.people.roles import Right
from engine.store.review import held
from engine.store.runs import held as runs_held
from engine.store.runs import policies
from engine.store.runs import waivers as waived
from engine.store.runs.intruder import reading
from engine.store.session import Session


@dataclass(frozen=True)
class Signature:
    """Who signed, and when."""

    name: str
    identity: str
    at: str


class Signatures:
    """What second persons signed; only people who signed in themselves can.

    Args:
        session: of the open workspace.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def of(self, run_id: str, policy_id: str, besides: str = "") -> Signature | None:
        """Return the latest signature under a run as it is now, of somebody who may still sign, or None.

        Args:
            besides: identity of a person whose own signature does not count.
        """
        may = {folded(one.person.identity) for one in Members(self.session).all() if Right.APPROVE in one.person.rights}
        may.discard(folded(besides))
        with self.session.db.read() as connection:
            state = self._state(connection, run_id, policy_id)
            query = select(signatures).where(signatures.c.run_id == run_id)
            signed = connection.execute(query.order_by(signatures.c.seq.desc())).all()
        for row in signed:
            made = Signature(row.name, row.identity, row.at)
            own = self._by(made, state).encode()
            if folded(row.identity) in may and hmac.compare_digest(own, str(row.state).encode()):
                return made
        return None

    def stands(self, run_id: str, policy_id: str) -> str:
        """Return a keyed digest of what a second person would sign now; another one where any of it changed."""
        with self.session.db.read() as connection:
            return self._state(connection, run_id, policy_id)

    def sign(self, run_id: str, policy_id: str) -> Signature:
        """Sign the approved records of a run under a policy, as the person who signed in.

        Raises:
            NotAllowedError: nobody signed in; a typed name is no signature. RefusedError: nothing is approved yet, or
                review or run were changed outside of the program.
        """
        person = self.session.person
        if person is None:
            raise NotAllowedError("a signature needs somebody who signed in; here a name is typed instead")
        with self.session.db.read() as connection:
            corpus_id = connection.execute(select(runs.c.corpus_id).where(runs.c.id == run_id)).scalar()
        if corpus_id is not None:
            held.demand(self.session, str(corpus_id))
            runs_held.demand(self.session, run_id)
        with self.session.db.write() as connection:
            query = select(synthetic.c.record_id).where(
                synthetic.c.run_id == run_id, synthetic.c.approval == "approved"
            )
            if connection.execute(query.limit(1)).first() is None:
                raise RefusedError("no record of this run is approved yet, so there is nothing to sign")
            state = self._state(connection, run_id, policy_id)
            made = Signature(person.name, person.identity, now())
            values = {"at": made.at, "name": made.name, "identity": made.identity, "run_id": run_id,
                      "policy_id": policy_id, "state": self._by(made, state)}  # fmt: skip
            told = rows.put(connection, self.session.key, rows.SIGNATURES, values)
            self.session.write_audit(connection, "signed as second person", run_id, policy=policy_id, **told)
        return made

    def _by(self, made: Signature, state: str) -> str:
        """Return a keyed digest of what was signed and of who signed it when."""
        words = "\x1f".join((state, made.identity, made.name, made.at))
        return hmac.digest(self.session.key, b"signed by\0" + words.encode(), "sha256").hex()

    def _state(self, connection: Connection, run_id: str, policy_id: str) -> str:
        """Return a keyed digest of what is signed: all that the check-list answers from, and each approved record."""
        digest = hmac.new(self.session.key, b"signature", sha256)
        policy = policies.get(connection, policy_id)
        examined = connection.execute(select(runs.c.examined_at).where(runs.c.id == run_id)).scalar_one_or_none()
        for word in (run_id, policy.id, policy.digest, str(examined)):
            digest.update(word.encode() + b"\x1f")
        for waiver in waived.given(connection, run_id, policy_id):
            digest.update(waiver.id.encode() + b"\x1f")
        digest.update(_spot_check(connection, run_id).encode() + b"\x1f")
        digest.update(_trial(connection, run_id).encode())
        approved = select(synthetic.c.record_id).where(synthetic.c.run_id == run_id, synthetic.c.approval == "approved")
        for record_id in connection.execute(approved.order_by(synthetic.c.record_id)).scalars():
            digest.update(str(record_id).encode() + b"\x1f")
        return digest.hexdigest()


def _trial(connection: Connection, run_id: str) -> str:
    """Return what the latest intruder trial of a run rests on: its id, the last event, and whether its time ran out.

    A time box runs out without an event, and what the trial says is another thing from then on. Empty without a trial.
    """
    trial = reading.latest(connection, run_id)
    if trial is None:
        return ""
    found = reading.events_of(connection, trial.id)
    over = "/over" if not found.said_done and reading.ended_at(found, trial.minutes) else ""
    events = select(func.max(intruder_events.c.seq)).where(intruder_events.c.trial_id == trial.id)
    return f"{trial.id}/{connection.execute(events).scalar()}{over}\x1f"


def _spot_check(connection: Connection, run_id: str) -> str:
    """Return what the latest spot check of a run's corpus rests on: its id, the last decision and event."""
    corpus = select(runs.c.corpus_id).where(runs.c.id == run_id).scalar_subquery()
    latest = select(spot_checks.c.id).where(spot_checks.c.corpus_id == corpus).order_by(spot_checks.c.look.desc())
    check_id = connection.execute(latest.limit(1)).scalar_one_or_none()
    if check_id is None:
        return ""
    decided = connection.execute(select(func.max(decisions.c.seq)).where(decisions.c.corpus_id == corpus)).scalar()
    events = connection.execute(select(func.max(spot_events.c.seq)).where(spot_events.c.check_id == check_id)).scalar()
    return f"{check_id}/{decided}/{events}"
