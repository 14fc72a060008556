"""Who holds which role in a workspace: an append-only table, in which a person's latest line counts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from engine.errors import NotAllowedError, NotFoundError, UserError
from engine.store.audit import now
from engine.store.database.schema import members
from engine.store.logs import rows
from engine.store.people.names import check_person, check_readable, outlines
from engine.store.people.roles import Person, Role
from engine.store.session import Session

LONGEST = 120


@dataclass(frozen=True)
class Member:
    """A person with roles, since when and through whom.

    account: issuer and subject of whoever signed in first as this person through a provider; empty before that.
    """

    person: Person
    since: str
    added_by: str
    account: str = ""


def folded(identity: str) -> str:
    """Return an identity as it is compared: without blanks around it, in one spelling of case and accents."""
    return unicodedata.normalize("NFKC", identity).strip().casefold()


class Members:
    """The people of a workspace.

    Args:
        session: of the open workspace.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def all(self) -> list[Member]:
        """Return everybody who holds a role, by name."""
        with self.session.db.read() as connection:
            return _in_force(connection)

    def person(self, identity: str) -> Person | None:
        """Return the person whom a sign-in vouched for, or None where they hold no role here."""
        wanted = folded(identity)
        return next((member.person for member in self.all() if folded(member.person.identity) == wanted), None)

    def known(self, identity: str, account: str = "") -> Person | None:
        """Return the person whom a sign-in vouched for, None where they hold no role or it is another's account.

        Args:
            identity: as for `person`. account: as for `recognise`; empty where the sign-in tells none.
        """
        wanted = folded(identity)
        found = next((member for member in self.all() if folded(member.person.identity) == wanted), None)
        return None if found is None or (account and found.account != account) else found.person

    def recognise(self, identity: str, account: str) -> Person | None:
        """Return the person whom a provider vouched for, or None where they hold no role here.

        The account that first signs in as a person stays theirs: an address that is given to somebody else later, or
        that two accounts carry, lets nobody in. Taking all roles and giving them again frees it.

        Args:
            identity: as for `person`. account: issuer and subject, which no provider gives twice.

        Raises:
            NotAllowedError: another account signed in as this person before, or this account as another person.
        """
        found = self._bound(self.all(), identity, account)
        if found is None or found.account == account:
            return None if found is None else found.person
        with self.session.db.write() as connection:
            known = self._bound(_in_force(connection), identity, account)
            if known is not None and not known.account:
                person = known.person
                values = {"at": now(), "actor": person.name, "identity": person.identity, "name": person.name,
                          "roles": [*person.roles], "account": account}  # fmt: skip
                self.session.write_audit(
                    connection, "account of a person", "", person=person.name, identity=person.identity,
                    account=account, **rows.put(connection, self.session.key, rows.MEMBERS, values),
                )  # fmt: skip
        return None if known is None else known.person

    @staticmethod
    def _bound(known: list[Member], identity: str, account: str) -> Member | None:
        found = next((one for one in known if folded(one.person.identity) == folded(identity)), None)
        if found is not None and found.account not in ("", account):
            raise NotAllowedError(
                "Another account of your provider signed in as this person before. Ask a custodian: where the account "
                "is a new one of the same person, they take all roles from the person and give them again"
            )
        if any(one.account == account for one in known if one is not found):
            raise NotAllowedError("Your account signed in here as another person before. Ask a custodian")
        return found

    def note_stranger(self, identity: str) -> None:
        """Write into the audit log that somebody signed in who holds no role here."""
        shown = "".join(c for c in identity if c.isprintable())[:LONGEST]
        with self.session.db.write() as connection:
            self.session.write_audit(connection, "sign-in without a role", "", identity=shown)

    def set(self, identity: str, name: str, roles: Sequence[str]) -> Person:
        """Give a person these roles, in place of any earlier ones; return the person.

        Args:
            identity: what the sign-in calls them (an account or an address). name: stands in the audit log beside what
                they do; another person's name, and one that looks
                like it, is refused. roles: at least one of `Role`.

        Raises:
            UserError: an argument is empty or unknown, a name is taken, nobody would be left as custodian, or a person
                who signed in changes what they may do themselves.
        """
        cleaned, called = " ".join(identity.split()), " ".join(name.split())
        for value, what in ((cleaned, "identity"), (called, "name")):
            if not value or len(value) > LONGEST or not value.isprintable():
                raise UserError(f"{what}: must be 1 to {LONGEST} printable characters")
        try:
            held = tuple(sorted({Role(role) for role in roles}))
        except ValueError:
            known = ", ".join(Role)
            raise UserError(f"role: must be one of {known}") from None
        if not held:
            raise UserError("role: give at least one, or remove the person")
        with self.session.db.write() as connection:
            known_people = _in_force(connection)
            others = [member for member in known_people if folded(member.person.identity) != folded(cleaned)]
            _check_name(connection, cleaned, called)
            self._write(connection, cleaned, called, held, others, first=not known_people)
        return Person(cleaned, called, held)

    def remove(self, identity: str) -> None:
        """Take all roles from a person; what they did stays in the audit log.

        Raises:
            NotFoundError: they hold none. UserError: nobody would be left as custodian.
        """
        with self.session.db.write() as connection:
            known = _in_force(connection)
            found = next((one.person for one in known if folded(one.person.identity) == folded(identity)), None)
            if found is None:
                raise NotFoundError("person: nobody with this identity holds a role here")
            others = [member for member in known if member.person != found]
            self._write(connection, found.identity, found.name, (), others)

    def _write(
        self, connection: Connection, identity: str, name: str, roles: tuple[Role, ...], others: list[Member],
        first: bool = False,
    ) -> None:  # fmt: skip
        actor = self.session.person
        if actor is not None and folded(actor.identity) == folded(identity):
            raise UserError("roles: nobody changes their own; ask another custodian")
        left = [*(member.person.roles for member in others), roles]
        if not any(Role.CUSTODIAN in held for held in left):
            word = "the first person of a workspace" if first else "one person"
            raise UserError(f"role: {word} must be a custodian, or nobody could give roles")
        account = next(
            (one.account for one in _in_force(connection) if roles and folded(one.person.identity) == folded(identity)),
            "",
        )
        values = {"at": now(), "actor": self.session.actor, "identity": identity, "name": name, "roles": [*roles],
                  "account": account or None}  # fmt: skip
        self.session.write_audit(
            connection, "roles given" if roles else "roles taken", "", person=name, identity=identity, roles=[*roles],
            **rows.put(connection, self.session.key, rows.MEMBERS, values),
        )  # fmt: skip


def _check_name(connection: Connection, identity: str, name: str) -> None:
    """Refuse a name that is or was another person's, or looks like it, and another name for a person.

    What people decided, read and signed stands under their names: who could take another would be two people.
    """
    kept = False
    for row in connection.execute(select(members.c.identity, members.c.name).distinct()):
        same_person, same_name = folded(row.identity) == folded(identity), folded(row.name) == folded(name)
        if not same_person and same_name:
            raise UserError("name: another person is or was called so; add what tells them apart")
        if not same_person and outlines(row.name) & outlines(name):
            raise UserError("name: it looks like that of another person; add what tells them apart")
        if same_person and not same_name:
            raise UserError("name: what this person did stands under another name, which they keep")
        kept = kept or same_person
    if not kept:
        check_readable(name)
        check_person(name)


def _in_force(connection: Connection) -> list[Member]:
    latest: dict[str, Member] = {}
    for row in connection.execute(select(members).order_by(members.c.seq)):
        roles = tuple(Role(role) for role in row.roles)
        person, before = Person(row.identity, row.name, roles), latest.get(folded(row.identity))
        if before is not None and row.account and before.account != row.account and before.person == person:
            latest[folded(row.identity)] = replace(before, account=row.account)  # a sign-in; nobody gave anything
            continue
        latest[folded(row.identity)] = Member(person, row.at, row.actor, row.account or "")
    return sorted((one for one in latest.values() if one.person.roles), key=lambda one: one.person.name.casefold())
