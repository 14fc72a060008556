"""Rights, the roles that hold them, and a person who signed in.

Privacy posture: an identity is what a sign-in vouches for (an account or an address); it stands in the audit log and
leaves with no release.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Right(StrEnum):
    """What a call of the engine may need."""

    READ = "read"  # counts, settings, findings, ledger, audit log: no text of a record
    REVEAL = "reveal"  # shows text of records, private or not yet released
    REVIEW = "review"  # decides on findings
    MANAGE = "manage"  # imports, detects, plans, runs, examines, deletes, sets limits and models
    APPROVE = "approve"  # approves records and signs as the second person
    RELEASE = "release"  # builds and withdraws releases
    PEOPLE = "people"  # says who holds which role


class Role(StrEnum):
    """What a person is in a workspace."""

    CUSTODIAN = "custodian"
    REVIEWER = "reviewer"
    APPROVER = "approver"
    AUDITOR = "auditor"


RIGHTS: dict[Role, frozenset[Right]] = {
    Role.CUSTODIAN: frozenset(Right),
    Role.REVIEWER: frozenset({Right.READ, Right.REVEAL, Right.REVIEW}),
    Role.APPROVER: frozenset({Right.READ, Right.REVEAL, Right.APPROVE}),
    Role.AUDITOR: frozenset({Right.READ}),
}
MEANING: dict[Role, str] = {
    Role.CUSTODIAN: "does everything, and says who holds which role; cannot sign what they release themselves",
    Role.REVIEWER: "reads private text and decides on what was found in it",
    Role.APPROVER: "reads outputs beside private text, approves records, signs as the second person",
    Role.AUDITOR: "reads findings, ledger and audit log; sees no text of any record",
}


@dataclass(frozen=True)
class Person:
    """Somebody who signed in: the identity that the sign-in vouches for, a name, and roles."""

    identity: str
    name: str
    roles: tuple[Role, ...] = field(default=())

    @property
    def rights(self) -> frozenset[Right]:
        """Return what this person may do."""
        return frozenset().union(*(RIGHTS[role] for role in self.roles))
