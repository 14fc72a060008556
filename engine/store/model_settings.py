"""What the workspace keeps about language models: endpoints, their keys, consents, results of self-tests.

Endpoints and results lie in the settings table. A key lies in a file of its own, mode 600, outside the database
and outside backups. A consent is a line of the audit log and nothing else: the latest line about a corpus and an
endpoint decides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypedDict

from sqlalchemy import Connection, select

from engine.at_rest import files
from engine.errors import UserError
from engine.models.remote.consent import DOWNLOAD, GIVEN, WITHDRAWN, Consent, Download
from engine.models.remote.endpoint_settings import EndpointSettings
from engine.store.database.dialect import insert
from engine.store.database.schema import audit, settings
from engine.store.disk.folder import Folder, file_errors, remove_tree, write_atomic
from engine.store.views import Check

ENDPOINTS, TESTS, FIRST = "endpoints", "model tests", "first texts"


class SelfTest(TypedDict):
    """A model's self-test: whether all checks passed, when, each of them, and the line that the model wrote."""

    ok: bool
    at: str
    checks: list[Check]
    line: str


class FirstTexts(TypedDict):
    """Five texts for a public description: the mean cosine of texts and the kind's name, tokens and seconds."""

    description: dict[str, str]
    texts: list[str]
    cosine: float
    tokens: int
    seconds: float
    at: str


def endpoints(connection: Connection) -> dict[str, EndpointSettings]:
    """Return the endpoints by name, sorted."""
    stored = _value(connection, ENDPOINTS)
    return {name: EndpointSettings.from_dict(stored[name]) for name in sorted(stored)}


def save_endpoints(connection: Connection, values: Mapping[str, EndpointSettings]) -> None:
    """Replace the endpoints."""
    _save(connection, ENDPOINTS, {name: endpoint.as_dict() for name, endpoint in values.items()})


def tests(connection: Connection) -> dict[str, SelfTest]:
    """Return the latest self-test by model id."""
    found: dict[str, SelfTest] = _value(connection, TESTS)
    return found


def save_test(connection: Connection, model: str, result: SelfTest | None) -> None:
    """Keep a model's self-test; None forgets it."""
    known: dict[str, SelfTest] = tests(connection)
    if result is None:
        known.pop(model, None)
    else:
        known[model] = result
    _save(connection, TESTS, known)


def first_texts(connection: Connection) -> dict[str, FirstTexts]:
    """Return the latest texts for a public description by model id."""
    found: dict[str, FirstTexts] = _value(connection, FIRST)
    return found


def save_first_texts(connection: Connection, model: str, result: FirstTexts | None) -> None:
    """Keep a model's texts for a description; None forgets them."""
    known = first_texts(connection)
    known.pop(model, None)
    _save(connection, FIRST, known if result is None else {**known, model: result})


def consents(connection: Connection, corpus_id: str | None = None, endpoint: str | None = None) -> list[Consent]:
    """Return the consents in force, of one corpus and one endpoint where named, latest first."""
    query = select(audit).where(audit.c.action.in_((GIVEN, WITHDRAWN))).order_by(audit.c.seq.desc())
    if corpus_id is not None:
        query = query.where(audit.c.subject == corpus_id)
    found: dict[tuple[str, str], Consent | None] = {}
    for row in connection.execute(query):
        detail = json.loads(row.detail)
        place = (row.subject, str(detail["endpoint"]))
        if place in found or (endpoint is not None and place[1] != endpoint):
            continue
        given = row.action == GIVEN
        found[place] = (
            Consent(row.subject, place[1], str(detail["host"]), row.actor, row.at, str(detail["text"]), row.seq)
            if given
            else None
        )
    return [consent for consent in found.values() if consent is not None]


def consent_for(connection: Connection, corpus_id: str, endpoint: EndpointSettings) -> Consent | None:
    """Return the consent for a corpus and an endpoint; None where it names another host."""
    found = consents(connection, corpus_id, endpoint.name)
    return found[0] if found and found[0].host == endpoint.host else None


def downloads(connection: Connection, model: str | None = None) -> list[Download]:
    """Return the consents to fetch a model, of one model where named, latest first."""
    query = select(audit).where(audit.c.action == DOWNLOAD).order_by(audit.c.seq.desc())
    if model is not None:
        query = query.where(audit.c.subject == model)
    found = []
    for row in connection.execute(query):
        detail = json.loads(row.detail)
        where = str(detail["revision"]), str(detail["host"])
        found.append(Download(row.subject, where[0], where[1], row.actor, row.at, str(detail["text"]), row.seq))
    return found


def write_key(folder: Folder, name: str, key: str | None) -> None:
    """Keep an endpoint's key in a file that only its owner can read; None removes it.

    Raises:
        UserError: the key holds signs that no key has.
    """
    path = folder.path / "keys" / name
    if key is None:
        remove_tree(path)
        return
    cleaned = key.strip()
    if not cleaned or not cleaned.isascii() or not cleaned.isprintable() or " " in cleaned or len(cleaned) > 4096:
        raise UserError("key: must be 1 to 4,096 letters, digits and signs without spaces; copy it again")
    write_atomic(path, cleaned.encode())


def read_key(folder: Folder, endpoint: EndpointSettings) -> str | None:
    """Return an endpoint's key from where its settings say.

    Raises:
        UserError: it is not there.
    """
    if endpoint.key_source == "none":
        return None
    if endpoint.key_source == "environment":
        found = os.environ.get(endpoint.key_variable, "").strip()
        if not found:
            raise UserError(
                f"endpoint {endpoint.name!r}: the environment variable {endpoint.key_variable} is not set where the "
                "program was started; set it and start the program again"
            )
        return found
    try:
        with file_errors():
            return files.read_bytes(folder.path / "keys" / endpoint.name).decode("ascii")
    except FileNotFoundError:
        raise UserError(f"endpoint {endpoint.name!r}: its key is not here; give it on the Models page") from None


def _value(connection: Connection, key: str) -> dict[str, Any]:
    row = connection.execute(select(settings.c.value).where(settings.c.key == key)).first()
    return dict(row.value) if row is not None and isinstance(row.value, dict) else {}


def _save(connection: Connection, key: str, value: Mapping[str, object]) -> None:
    statement = insert(connection, settings).values(key=key, value=value)
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))
