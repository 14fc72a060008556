"""Audit, settings and backup of a workspace."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

import pandas as pd
from sqlalchemy import select

from engine.at_rest import keys
from engine.errors import StorageError, UserError
from engine.json_types import JSON
from engine.store import audit
from engine.store.budget import fitted, held_people
from engine.store.chain import Verified
from engine.store.database.dialect import insert
from engine.store.database.schema import settings
from engine.store.disk import heads
from engine.store.disk.backup import restore as restore_backup
from engine.store.disk.backup import write_backup
from engine.store.disk.encryption import cipher
from engine.store.disk.folder import file_errors
from engine.store.logs import file as audit_file
from engine.store.logs import rows
from engine.store.logs.breaks import Break, breaks
from engine.store.people.members import folded
from engine.store.people.names import check_person
from engine.store.review import held
from engine.store.runs import held as runs_held
from engine.store.session import Session

DEFAULT_ACTOR = "custodian"
LANGUAGE = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?")  # of the interface, such as de or pt_BR


class Settings:
    """The settings of a workspace."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def named(self) -> bool:
        """Whether somebody gave the name of the person acting, so that it is not the default."""
        return self.session.actor != DEFAULT_ACTOR or self.get("actor") is not None

    def set_actor(self, name: str) -> str:
        """Keep the name of the person acting; it stands in each audit line from now on."""
        if self.session.person is not None:
            raise UserError("actor: whoever signed in acts under their own name")
        cleaned = " ".join(name.split())[:80]
        if not cleaned:
            raise UserError("actor: must not be empty; give the name of the person at work")
        check_person(cleaned)
        if cleaned != self.session.actor or self.get("actor") != cleaned:
            self.change("actor", cleaned, "name of the person acting set", "", name=cleaned)
        self.session.actor = cleaned
        return cleaned

    def get(self, key: str, default: JSON = None) -> JSON:
        """Return a stored setting, or the default."""
        with self.session.db.read() as connection:
            row = connection.execute(select(settings.c.value).where(settings.c.key == key)).first()
        stored: JSON = default if row is None else row.value
        return stored

    def set(self, key: str, value: JSON, *, corpus_id: str = "", changed: str = "") -> None:
        """Store a JSON value under a key; that it changed stands in the audit log, what it is only as `changed` says.

        Args:
            key: of the setting. value: in place of an earlier one. corpus_id: of the corpus that it is about, if any.
            changed: from what to what, for a value that holds nothing a person typed.
        """
        try:
            audit.canonical(value)
        except (TypeError, ValueError):
            raise UserError(f"setting {key!r}: must be a JSON value, is {type(value).__name__}") from None
        detail = {"changed": changed} if changed else {}
        self.change(key, value, "setting changed", corpus_id, setting=key, **detail)

    def language(self) -> str:
        """Return the language of the interface that this person, or this workspace, keeps; empty where none is kept."""
        return str(self.get(self._language_key()) or "")

    def set_language(self, code: str) -> str:
        """Keep the language of the interface: with the person who signed in, else with the workspace.

        Raises:
            UserError: it is no code of a language, such as `en` or `de`.
        """
        if not LANGUAGE.fullmatch(code):
            raise UserError(f"language: must be a code such as en or de, is {code[:20]!r}")
        self.change(self._language_key(), code, "language of the interface chosen", "", language=code)
        return code

    def _language_key(self) -> str:
        person = self.session.person
        return "interface.language" + ("" if person is None else f".{folded(person.identity)}")

    def change(self, key: str, value: JSON, action: str, subject: str, **detail: str) -> None:
        """Store a value with the audit line of the act it belongs to, in one transaction; nothing where it stands.

        Args:
            key: of the setting. value: in place of an earlier one. action: what the line says was done.
            subject: what it was done to, by name or id. detail: what else the line says; never a private text.
        """
        with self.session.db.write() as connection:
            statement = insert(connection, settings).values(key=key, value=value)
            row = connection.execute(select(settings.c.value).where(settings.c.key == key)).first()
            if row is not None and row.value == value:
                return
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))
            self.session.write_audit(connection, action, subject, **detail)


class AuditLog:
    """The audit log of a workspace."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def note(self, action: str, subject: str = "", **detail: str | int | float | bool | None) -> str:
        """Add a line to the audit log and return its hash; for what a person looked at or decided outside the store."""
        if not action.strip():
            raise UserError("action: must not be empty; say what was done")
        with self.session.db.write() as connection:
            return audit.append(connection, self.session.key, self.session.actor, action.strip(), subject, detail)

    def lines(self, limit: int = 200, offset: int = 0, corpus_id: str | None = None) -> pd.DataFrame:
        """Return audit lines, of one corpus or all, latest first: seq, at, actor, action, subject, detail, hash."""
        with self.session.db.read() as connection:
            return audit.read(connection, limit, offset, corpus_id)

    def count(self, corpus_id: str | None = None) -> int:
        """Return how many audit lines there are, of one corpus or of all."""
        with self.session.db.read() as connection:
            return audit.count(connection, corpus_id)

    def verify(self) -> Verified:
        """Check the audit chain: `ok`, `lines`, `first_bad` (number of the first line that does not hold)."""
        with self.session.db.read() as connection:
            return audit.verify(connection, self.session.key)

    def breaks(self) -> tuple[Break, ...]:
        """Return every way in which the log's chain does not hold, also against the head beside the key."""
        kept = heads.kept(self.session.folder, audit.CHAIN.name)
        with self.session.db.read() as connection:
            return breaks(connection, audit.CHAIN, self.session.key, kept)

    def untrue(self) -> tuple[str, ...]:
        """Return, in sentences, what is not as the log tells: decisions, marks, records, runs and what they rest on.

        Texts of runs, and marks by which people are known again, are not gone through, as that takes seconds: `audit
        --verify` and a release do.
        """
        key, folder = self.session.key, self.session.folder
        with self.session.db.read() as connection:
            found = (*held.breaks(connection, key), *held.tables(connection, folder, key))
            return (*found, *runs_held.breaks(connection, key, folder, texts=False), *rows.breaks(connection, key))

    def outside(self) -> tuple[str, ...]:
        """Return, in sentences, what earlier editions left of which the log tells nothing."""
        with self.session.db.read() as connection:
            found = (*runs_held.outside(connection, self.session.key), *rows.outside(connection, self.session.key))
            return (*found, *held_people.outside(connection), *fitted.outside(connection))

    def export(self, kind: str, corpus_id: str | None = None) -> bytes:
        """Return the log, of one corpus or of all, as a file that its holder can check; that it left stands in the log.

        Raises:
            UserError: it is no kind of file that the log is written to.
        """
        if kind not in audit_file.FORMATS:
            raise UserError(f"format: must be one of {', '.join(audit_file.FORMATS)}")
        with self.session.db.write() as connection:
            found = audit.read(connection, -1, 0, corpus_id).sort_values("seq")
            lines = audit_file.chained([{str(name): row[name] for name in row} for row in found.to_dict("records")])
            self.session.write_audit(
                connection, audit_file.EXPORTED, corpus_id or "", format=kind, lines=len(lines),
                last=lines[-1].seq if lines else 0, sha256=audit_file.head(lines),
            )  # fmt: skip
        return audit_file.written(lines, kind, audit.now(), corpus_id)


class Disk:
    """What a workspace takes up on disk, and its backup."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def used(self) -> dict[str, int]:
        """Return the bytes that the parts of the workspace folder take up, and their `total`."""
        used = dict.fromkeys(("database", "corpora", "runs", "releases", "other"), 0)
        with file_errors():
            for path in self.session.folder.path.rglob("*"):
                with suppress(FileNotFoundError):  # the worker moves files into place meanwhile
                    status = path.lstat()
                    if not S_ISREG(status.st_mode):
                        continue
                    top = path.relative_to(self.session.folder.path).parts[0]
                    part = (
                        top
                        if top in used
                        else "database"
                        if top.startswith(self.session.folder.database.name)
                        else "other"
                    )
                    used[part] += status.st_size
        return {**used, "total": sum(used.values())}

    def cannot_encrypt(self) -> str:
        """Return why `encrypt` would refuse this workspace at this moment, empty where it would not."""
        if not self.session.db.is_file:
            return "Its rows lie in PostgreSQL: they are encrypted by that server's disk, and not by this program."
        try:
            cipher.library()
        except StorageError as error:
            return str(error).removesuffix(" Nothing was changed.")
        return ""

    def restore(self, path: Path, folder: Path) -> Path:
        """Unpack a backup into a new or empty folder, another workspace than this one, and return that folder.

        Raises:
            UserError: the file is no backup or damaged, or the folder is not empty or lies in this workspace.
            LockedError: it is a backup of another encrypted workspace.
            StorageError: the backup comes from a newer program.
        """
        here, target = self.session.folder.path.resolve(), Path(folder).resolve()
        if target == here or here in target.parents:
            raise UserError("folder: it lies in the workspace that is open; name a new folder beside it")
        return restore_backup(Path(path), target, self.session.actor, key=keys.of(self.session.folder.path))

    def backup(self, path: Path) -> Path:
        """Write the whole workspace, with its key, to one file and return its path."""
        unfinished: list[str] = []

        def begin(part: str) -> None:
            unfinished.append(part)
            self.session.begin_writing(part)

        try:
            target = write_backup(self.session.db, Path(path), begin, self.session.blobs)
        finally:
            for part in unfinished:
                self.session.discard(part)
        with self.session.db.write() as connection:
            self.session.write_audit(connection, "workspace backed up")
        return target
