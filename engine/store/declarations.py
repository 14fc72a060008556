"""What a person declared public of a corpus, by whom and when; the audit log says so without the content."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from engine.corpus.label_rules import unusual
from engine.errors import UserError
from engine.store.audit import now
from engine.store.schema import declarations

LABELS = "labels"


def declared(connection: Connection, corpus_id: str, what: str) -> Any | None:
    """Return the row (value, actor, at) of a declaration, or None."""
    return connection.execute(
        select(declarations).where(declarations.c.corpus_id == corpus_id, declarations.c.what == what)
    ).first()


def declare(connection: Connection, corpus_id: str, what: str, value: Any, actor: str) -> None:
    """Keep a declaration; an earlier one of the same thing is replaced."""
    values = {"value": value, "actor": actor, "at": now()}
    statement = insert(declarations).values(corpus_id=corpus_id, what=what, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["corpus_id", "what"], set_=values))


def withdraw(connection: Connection, corpus_id: str, what: str) -> bool:
    """Forget a declaration; return whether there was one."""
    query = declarations.delete().where(declarations.c.corpus_id == corpus_id, declarations.c.what == what)
    return bool(connection.execute(query).rowcount)


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
