"""Checks of the installation and the workspace, and a support file without any record text."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from sqlalchemy import func, select

from engine.assets import ROOT
from engine.at_rest import keys
from engine.errors import StorageError, UserError
from engine.jobs.running import Jobs, versions
from engine.jobs.worker import launch
from engine.store.budget.ledger import Ledger
from engine.store.database import schema
from engine.store.database.dialect import sound
from engine.store.database.migrations import VERSION, current_version
from engine.store.disk import parts
from engine.store.disk.encryption import versions as file_versions
from engine.store.disk.folder import describe_os_error, file_errors, part_beside, write_private
from engine.store.session import Session
from engine.store.upkeep import AuditLog
from engine.store.views import Check

LOW_DISK_BYTES = 2 * 1024**3
BUILTIN_MODELS = ("builtin", "builtin-tagger")
LOG_LINES = 500
SHOWN = 5  # folders named in one check
LOOSE = "no: {loose} file(s) or folder(s) are open to others; run chmod -R go= on the workspace folder"
# What a line of our own log may look like; anything else is left out of the support file.
LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00 \d+ [\w ,.:()\-]*")


class Health(TypedDict):
    """Whether every check is well, and the checks."""

    ok: bool
    checks: list[Check]


class Doctor:
    """Checks of the installation and the workspace, and a support file without any record text."""

    def __init__(self, session: Session, ledger: Ledger, audit: AuditLog, jobs: Jobs) -> None:
        self.session = session
        self.ledger = ledger
        self.audit = audit
        self.jobs = jobs

    def check(self) -> Health:
        """Return `ok` and `checks`: rows of name, ok and detail."""
        checks: list[Check] = [
            _python(),
            *(_package(name) for name in ("torch", "streamlit", "transformers", "spacy", "presidio-analyzer")),
            _models(),
            self._writable(),
            self._modes(),
            self._disk(),
            self._schema(),
            self._integrity(),
            self._audit_chain(),
            self._ledger_chain(),
            self._files(),
            self._unknown_folders(),
            self._left_overs(),
            *self._blobs(),
            self._worker(),
            _streamlit("browser", "gatherUsageStats", False, "telemetry"),
            _streamlit("server", "address", "127.0.0.1", "listens on this machine only", also=("localhost",)),
        ]
        return {"ok": all(check["ok"] for check in checks), "checks": checks}

    def support_file(self, path: Path) -> Path:
        """Write a support file: checks, versions, job states, row counts and our own log lines; no text."""
        target = Path(path).absolute()
        if target.exists():
            raise UserError("path: a file with this name exists already; choose another name for the support file")
        parts = {
            "checks.json": self.check(),
            "versions.json": {**versions(), "platform": platform.platform(), "cpus": os.cpu_count()},
            "jobs.json": self._job_states(),
            "counts.json": self._counts(),
        }
        with file_errors():
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = part_beside(target)
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
                    for name, body in parts.items():
                        archive.writestr(name, json.dumps(body, indent=1))
                    archive.writestr("worker.log", "\n".join(self._log_lines()) + "\n")
                os.replace(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)
        return target

    def _job_states(self) -> list[dict[str, object]]:
        names = "id kind lane state stage done total created started finished attempts".split()
        return [{name: getattr(job, name) for name in names} for job in self.jobs.all(active_only=False)]

    def _counts(self) -> dict[str, int]:
        with self.session.db.read() as connection:
            return {
                table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
                for table in schema.metadata.sorted_tables
            }

    def _log_lines(self) -> list[str]:
        try:
            lines = self.session.folder.worker_log.read_text("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return []
        return [line for line in lines[-LOG_LINES:] if LOG_LINE.fullmatch(line)]

    def _writable(self) -> Check:
        try:
            write_private(self.session.folder.path / "probe", b"x").unlink()
        except OSError as error:
            why = describe_os_error(error) or f"{type(error).__name__}; choose another folder"
            return _check("workspace can be written", False, f"no: {why}")
        return _check("workspace can be written", True, "yes")

    def _modes(self) -> Check:
        if os.name != "posix":
            return _check("private to its owner", True, "not checked on this system")
        loose = sum(
            bool(p.stat().st_mode & 0o077)
            for p in (self.session.folder.path, *self.session.folder.path.rglob("*"))
            if not p.is_symlink()
        )
        detail = LOOSE.format(loose=loose) if loose else "yes"
        return _check("private to its owner", not loose, detail)

    def _disk(self) -> Check:
        free = shutil.disk_usage(self.session.folder.path).free
        low = free < LOW_DISK_BYTES
        return _check("disk space", not low, f"{free / 1024**3:.1f} GiB free" + ("; free some" if low else ""))

    def _schema(self) -> Check:
        with self.session.db.read() as connection:
            version = current_version(connection)
        return _check("schema version", version == VERSION, f"{version} of {VERSION}")

    def _integrity(self) -> Check:
        with self.session.db.read() as connection:
            ok = sound(connection)
        return _check("database", ok, "sound" if ok else "damaged; restore a backup")

    def _audit_chain(self) -> Check:
        result = self.audit.verify()
        detail = f"{result['lines']} lines, chain holds" if result["ok"] else f"broken at line {result['first_bad']}"
        return _check("audit log", result["ok"], detail)

    def _ledger_chain(self) -> Check:
        result = self.ledger.verify()
        detail = f"{result['lines']} lines, chain holds" if result["ok"] else f"broken at line {result['first_bad']}"
        return _check("ledger", result["ok"], detail)

    def _files(self) -> Check:
        """Look for files of an encrypted workspace that were put back, swapped, cut or removed."""
        name = "encrypted files"
        if keys.of(self.session.folder.path) is None:
            return _check(name, True, "the workspace is not encrypted")
        found = file_versions.breaks(self.session.folder, self.session.db)
        if not found:
            return _check(name, True, "each is the one that was written last")
        more = f" And {len(found) - SHOWN} more." if len(found) > SHOWN else ""
        return _check(name, False, f"{' '.join(found[:SHOWN])}{more} Restore the workspace from a backup")

    def _unknown_folders(self) -> Check:
        """List folders that the database does not know: they may hold private text, and nothing removes them."""
        found = self.session.strangers()
        if not found:
            return _check("folders without an owner", True, "none")
        named = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
        return _check(
            "folders without an owner",
            False,
            f"{named}; the database does not know them. If no backup is to be restored for them, delete them by hand",
        )

    def _left_overs(self) -> Check:
        found = parts.left_overs(self.session.folder.path)
        detail = f"{len(found)} file(s) or folder(s); they go when the workspace is opened next" if found else "none"
        return _check("left by killed writers", not found, detail)

    def _blobs(self) -> list[Check]:
        """Look whether each file that lies elsewhere is there whole; none for a workspace in its folder alone."""
        name, blobs = "tables elsewhere", self.session.blobs
        if blobs is None:
            return []
        try:
            found = blobs.state()
        except StorageError as error:
            return [_check(name, False, f"no: {error}")]
        wrong = [
            f"{len(found.bad)} missing or cut short: {', '.join(sorted(set(found.bad))).lower()}; restore a backup"
            if found.bad
            else "",
            f"{found.strays} there of which the database does not know; delete them by hand" if found.strays else "",
            f"{found.leaving} still to be removed there; they go when the workspace is opened next"
            if found.leaving
            else "",
        ]  # fmt: skip
        wrong = [one for one in wrong if one]
        detail = f"{found.count} file(s), {found.size / 1024**2:.1f} MiB, sealed, at a place of kind {found.scheme}"
        return [_check(name, not wrong, "; ".join([*wrong, detail] if wrong else [detail, "each is there"]))]

    def _worker(self) -> Check:
        status = launch.worker_status(self.session.folder)
        if not status["alive"]:
            return _check("worker", True, "not running; starts when there is work")
        age = status["heartbeat_age_seconds"]
        detail = (
            "running" if status["answering"] else f"not answering for {age or 0:.0f} s; stop it on the settings page"
        )
        return _check("worker", status["answering"], detail)


def _check(name: str, ok: bool, detail: str) -> Check:
    return {"name": name, "ok": bool(ok), "detail": detail}


def _python() -> Check:
    return _check("Python 3.11 or newer", sys.version_info >= (3, 11), platform.python_version())


def _package(name: str) -> Check:
    try:
        return _check(f"package {name}", True, metadata.version(name))
    except metadata.PackageNotFoundError:
        return _check(f"package {name}", False, "missing; install the application again")


def _models() -> Check:
    from engine.models.builtin.shipped import builtin_models

    missing = sorted(set(BUILTIN_MODELS) - {str(model["id"]) for model in builtin_models()})
    detail = "present" if not missing else f"missing: {', '.join(missing)}; install the application again"
    return _check("built-in models", not missing, detail)


def _streamlit(section: str, key: str, wanted: object, name: str, also: tuple[object, ...] = ()) -> Check:
    import tomllib

    path = ROOT / ".streamlit" / "config.toml"
    try:
        found = tomllib.loads(path.read_text("utf-8")).get(section, {}).get(key)
    except (FileNotFoundError, tomllib.TOMLDecodeError):
        return _check(f"page settings: {name}", False, ".streamlit/config.toml is missing or damaged")
    ok = found == wanted or found in also
    return _check(f"page settings: {name}", ok, f"{section}.{key} = {found!r}" + ("" if ok else f", not {wanted!r}"))
