"""The public description of a corpus that a person declared: kind of document, language, domain.

Privacy posture: nothing is read from records; the audit log holds the description, which is public by declaration.
"""

from __future__ import annotations

from dataclasses import asdict

from engine.corpus.description import Description
from engine.json_types import as_object
from engine.store.corpora import declarations
from engine.store.session import Session
from engine.store.summaries import corpus_row

DESCRIPTION = "description"


class Descriptions:
    """What corpora are, in words that a person declared public."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def get(self, corpus_id: str) -> Description | None:
        """Return the declared description of a corpus, or None."""
        with self.session.db.read() as connection:
            row = declarations.declared(connection, corpus_id, DESCRIPTION)
        return None if row is None else Description(**{k: str(v) for k, v in as_object(row.value).items()})

    def declare(self, corpus_id: str, kind: str, language: str = "en", domain: str = "generic") -> Description:
        """Keep a description as public and write it into the audit log; raises `UserError` where it cannot be one."""
        found = Description.checked(kind, language, domain)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            value = {"kind": found.kind, "language": found.language, "domain": found.domain}
            told = declarations.declare(self.session, connection, corpus_id, DESCRIPTION, value)
            self.session.write_audit(connection, "description declared public", corpus_id, **asdict(found), **told)
        return found
