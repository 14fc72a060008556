"""What a person declared public of a corpus, by whom and when; the audit log says so without the content."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection

from sqlalchemy import Connection, select

from engine.corpus.label_rules import FEWEST_HOLDERS, unusual
from engine.errors import UserError
from engine.json_types import JSON
from engine.store.audit import now
from engine.store.database.schema import declarations
from engine.store.logs import rows
from engine.store.rows import AnyRow
from engine.store.session import Session

LABELS = "labels"
CAP = "cap"


def declared(connection: Connection, corpus_id: str, what: str) -> AnyRow | None:
    """Return the row (value, actor, at) of a declaration, or None."""
    return connection.execute(
        select(declarations).where(declarations.c.corpus_id == corpus_id, declarations.c.what == what)
    ).first()


def declare(session: Session, connection: Connection, corpus_id: str, what: str, value: JSON) -> dict[str, str]:
    """Keep a declaration in place of an earlier one of the same thing; return what the line about it holds."""
    kind = next(one for one in rows.KINDS if one.where == what)
    values = {"corpus_id": corpus_id, "what": what, "value": value, "actor": session.actor, "at": now()}
    return rows.put(connection, session.key, kind, values)


def withdraw(connection: Connection, corpus_id: str, what: str) -> bool:
    """Forget a declaration; return whether there was one."""
    query = declarations.delete().where(declarations.c.corpus_id == corpus_id, declarations.c.what == what)
    return bool(connection.execute(query).rowcount)


def digest(key: bytes, labels: Collection[str]) -> str:
    """Return a keyed digest of a list, whatever its order: 32 hexadecimal digits."""
    return hmac.new(key, json.dumps(sorted(labels)).encode(), "sha256").hexdigest()[:32]


def check_usual(labels: Collection[str], unusual_too: bool = False) -> None:
    """Check that a list looks like names of classes, unless a person said that it need not.

    Raises:
        UserError: it does not.
    """
    why = unusual(labels)
    if why and not unusual_too:
        raise UserError(
            f"labels: {why} A public list goes into prompts and stands beside outputs, so it should hold names of "
            "classes and nothing about a person. Read it, then declare it all the same, or name the labels yourself."
        )


def check_held(few: int) -> None:
    """Check that no label of a list taken from the file is held by one or two people alone.

    Raises:
        UserError: `few` labels are; their number is said, never which.
    """
    if few:
        which = "one label is" if few == 1 else f"{few:,} labels are"
        raise UserError(
            f"labels: {which} held by fewer than {FEWEST_HOLDERS} people of the training part, so a public list would "
            "tell of these people that they are in the file. Import without --labels-public and look at the list "
            "(`labels CORPUS`, or the Plan page). Then declare it without such labels (`labels CORPUS --declare --rare "
            "leave-out`), with them (`--rare include`), or name the list yourself (`--labels A,B,C`)."
        )
