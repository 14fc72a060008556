"""The custodian's written consent to send a corpus to another machine, or to fetch a model from one.

A consent is kept as a line of the audit log and nowhere else, so there is none without its line.
Privacy posture: a consent holds who, when, which host and the custodian's own sentence; no record text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import UserError

if TYPE_CHECKING:
    from engine.models.remote.endpoint_settings import EndpointSettings

GIVEN, WITHDRAWN = "consent to an endpoint given", "consent to an endpoint withdrawn"
DOWNLOAD = "consent to a download given"
FEWEST_CHARACTERS, MOST_CHARACTERS = 20, 1000


@dataclass(frozen=True)
class Consent:
    """A consent in force. `host` is host:port of the endpoint, `line` the number of its line in the audit log."""

    corpus_id: str
    endpoint: str
    host: str
    who: str
    at: str
    text: str
    line: int


@dataclass(frozen=True)
class Download:
    """A consent to fetch one model once. `host` is host:port of the hub, `line` its line in the audit log."""

    model: str
    revision: str
    host: str
    who: str
    at: str
    text: str
    line: int


def download_statement(model: str, host: str) -> str:
    """Return what the custodian consents to when a model is fetched."""
    return (
        f"This machine will connect to {host}, and to the file servers it names, to fetch the model “{model}”. What "
        "leaves is the model's name and this machine's address; no record, no prompt and no key. Afterwards the model "
        "runs here and nothing is connected."
    )


def require_download(model: str, revision: str, host: str, consent: Download | None) -> None:
    """Refuse to fetch a model without a consent that names it, its revision and the hub's host.

    Raises:
        UserError: there is no such consent.
    """
    if consent is None or (consent.model, consent.revision, consent.host) != (model, revision, host):
        raise UserError(
            f"model {model!r} is not on this machine and no written consent covers fetching it from {host}: give one "
            "on the Models page, or import its folder"
        )


def statement(corpus_name: str, host: str, model: str) -> str:
    """Return what the custodian consents to, as shown before the consent is asked for."""
    return (
        f"Prompts made from the corpus “{corpus_name}” will be sent over the network to {host}, where the model "
        f"“{model}” answers them. Depending on the method they hold whole private records, parts of them, or words "
        "taken from them. Who runs that machine can read and keep them; nothing on this machine can undo that. "
        "A formal guarantee on the outputs does not cover what that machine sees."
    )


def checked_text(text: str) -> str:
    """Return the custodian's sentence without surplus space.

    Raises:
        UserError: it is too short to say why, or too long.
    """
    cleaned = " ".join(text.split())
    if not FEWEST_CHARACTERS <= len(cleaned) <= MOST_CHARACTERS:
        raise UserError(
            f"text: the consent must say in {FEWEST_CHARACTERS} to {MOST_CHARACTERS} characters why this is allowed, "
            f"has {len(cleaned)}; name the agreement or the person who decided"
        )
    return cleaned


def holds(endpoint: EndpointSettings, consent: Consent | None) -> bool:
    """Say whether an endpoint may be spoken to: it is on this machine, or the consent names it and its host."""
    if endpoint.local:
        return True
    return consent is not None and (consent.endpoint, consent.host) == (endpoint.name, endpoint.host)


def require(endpoint: EndpointSettings, consent: Consent | None) -> None:
    """Refuse an endpoint on another machine without a consent that names its host.

    Raises:
        UserError: there is no such consent.
    """
    if not holds(endpoint, consent):
        raise UserError(
            f"endpoint {endpoint.name!r} is on another machine ({endpoint.host}) and no written consent covers it "
            "for this corpus: give one on the Models page, or choose a model on this machine"
        )
