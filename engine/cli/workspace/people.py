"""The verb about who may do what where several people sign in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from engine.cli.arguments import Argument
from engine.cli.terminal import opened
from engine.errors import UserError
from engine.store.people.roles import MEANING, Role

ARGUMENTS: list[Argument] = [
    (("--add",), {"metavar": "IDENTITY", "help": "give this person the roles, in place of earlier ones"}),
    (("--name",), {"help": "what they are called; stands in the audit log"}),
    (("--role",), {"action": "append", "default": [], "choices": [*Role], "help": "a role; may be repeated"}),
    (("--remove",), {"metavar": "IDENTITY", "help": "take all roles from this person"}),
]


def people(options: Namespace) -> Mapping[str, object]:
    """Print who holds which role, after a change where one is asked for."""
    workspace = opened(options)
    if options.add is not None and options.remove is not None:
        raise UserError("people: give --add or --remove, not both")
    if options.add is None and (options.name or options.role):
        raise UserError("people: --name and --role go with --add IDENTITY")
    if options.add is not None:
        workspace.people.set(options.add, options.name or options.add, options.role)
    if options.remove is not None:
        workspace.people.remove(options.remove)
    listed = [
        {"identity": one.person.identity, "name": one.person.name, "roles": [*one.person.roles], "since": one.since,
         "given_by": one.added_by, "account": one.account}
        for one in workspace.people.all()
    ]  # fmt: skip
    return {"people": listed, "roles": {role: MEANING[role] for role in Role}}
