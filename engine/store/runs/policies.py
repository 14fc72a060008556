"""A workspace's own policies: added, changed and removed by a person, every version kept.

Privacy posture: a policy is public: it goes into every bundle that it lets pass, and into the audit log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from engine.errors import NotFoundError, UserError
from engine.store.audit import now
from engine.store.database.schema import own_policies
from engine.store.logs import rows
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.release import Policy


def current(connection: Connection) -> dict[str, str]:
    """Return the text of each own policy in force by its id, in the order in which they were added or changed."""
    latest = select(func.max(own_policies.c.seq)).group_by(own_policies.c.id)
    query = select(own_policies).where(own_policies.c.seq.in_(latest), own_policies.c.text.is_not(None))
    return {row.id: row.text for row in connection.execute(query.order_by(own_policies.c.seq))}


def in_force(connection: Connection) -> tuple[Policy, ...]:
    """Return the own policies in force; one that this program does not accept lets nothing pass and is left out."""
    from engine.release.policy.policy_file import read_own

    found = []
    for text in current(connection).values():
        try:
            found.append(read_own(text))
        except UserError:
            continue
    return tuple(found)


def get(connection: Connection, policy_id: str) -> Policy:
    """Return a preset or an own policy in force, or raise `NotFoundError`."""
    from engine.release import get_policy

    known = {policy.id: policy for policy in in_force(connection)}
    return known[policy_id] if policy_id in known else get_policy(policy_id)


def add(session: Session, text: str, name: str) -> Policy:
    """Put an own policy in force, in place of an earlier one with its id; return it.

    Raises:
        UserError: it is not a policy, or another own one has its title.
    """
    from engine.release.policy.policy_file import read_own

    policy = read_own(text, name)
    with session.db.write() as connection:
        others = [one for one in in_force(connection) if one.id != policy.id]
        if any(one.title.casefold() == policy.title.casefold() for one in others):
            raise UserError(f"{name}: title: another own policy is called so")
        changed = policy.id in current(connection)
        values = {"id": policy.id, "at": now(), "actor": session.actor, "digest": policy.digest, "text": text}
        session.write_audit(
            connection, f"own policy {'changed' if changed else 'added'}", policy.id, digest=policy.digest,
            definition=policy.model_dump(mode="json"), **rows.put(connection, session.key, rows.POLICIES, values),
        )  # fmt: skip
    return policy


def remove(session: Session, policy_id: str) -> None:
    """Take an own policy out of force; its versions are kept.

    Raises:
        NotFoundError: there is no own policy with this id.
    """
    with session.db.write() as connection:
        if policy_id not in current(connection):
            raise NotFoundError(f"policy: there is no own policy {policy_id!r}; presets cannot be removed")
        values = {"id": policy_id, "at": now(), "actor": session.actor, "digest": "", "text": None}
        told = rows.put(connection, session.key, rows.POLICIES, values)
        session.write_audit(connection, "own policy removed", policy_id, **told)
