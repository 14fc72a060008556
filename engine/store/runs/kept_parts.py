"""Parts of an examination that was not finished: files in the run's scratch folder, and who may be told of them.

A file a part, under the part's own key (a word of this program's), keyed digest first: it covers the stamp of what the
part hangs on (`engine.examine.keeping.stamp`), the key and the content, so that a part of other records, of another
workspace or a damaged one is as good as none. They go with the run and the corpus, stay out of backups, and are
removed when the examination is finished.

A run of which a part was kept was looked at: it counts as examined wherever a release must not depend on findings.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, func, select

from engine.at_rest import files
from engine.at_rest.sealed import UnsealError
from engine.json_types import JSON, as_number, as_object
from engine.store.database.schema import corpora, jobs, synthetic
from engine.store.disk.folder import remove_tree, write_atomic
from engine.store.runs import seen
from engine.store.runs.runs import run_row
from engine.store.session import Session

PLACE, SUFFIX = "examination", ".kept"
MAC_BYTES = 32
SETTINGS = ("privacy", "utility", "model_attacks", "tuned_classifier")
EMBEDDER = ("embedder", "embedder_since")


@dataclass(frozen=True)
class KeptParts:
    """An examination that was stopped: how many of its parts are kept, and its settings, to go on with.

    embedder: by what meaning was measured, as the job's arguments hold it.
    """

    kept: int
    parts: int
    settings: dict[str, bool]
    embedder: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class InPart:
    """An examination that never came to its end: how many of its parts were kept, of how many; 0 where unknown."""

    kept: int = 0
    parts: int = 0


class PartFiles:
    """The files of one run's kept parts, under one stamp."""

    def __init__(self, folder: Path, key: bytes, stamp: bytes) -> None:
        self._folder, self._key, self._stamp = folder, key, stamp

    def keys(self) -> list[str]:
        """Return the keys of the parts that are there and describe what the stamp is of; others are removed."""
        found = []
        files.fetch(self._folder)
        for path in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            if path.suffix == SUFFIX and self.read(path.stem) is not None:
                found.append(path.stem)
            else:
                remove_tree(path)
        return found

    def read(self, key: str) -> bytes | None:
        """Return a part's content, None where it is not there, damaged, or of something else."""
        try:
            content = files.read_bytes(self._folder / f"{key}{SUFFIX}")
        except (OSError, UnsealError):
            return None
        mac, content = content[:MAC_BYTES], content[MAC_BYTES:]
        return content if hmac.compare_digest(mac, self._mac(key, content)) else None

    def write(self, key: str, content: bytes) -> None:
        """Keep a part's content, in one step."""
        write_atomic(self._folder / f"{key}{SUFFIX}", self._mac(key, content) + content)

    def forget(self, key: str) -> None:
        """Remove a part."""
        remove_tree(self._folder / f"{key}{SUFFIX}")

    def remove(self) -> None:
        """Remove all parts."""
        remove_tree(self._folder)

    def _mac(self, key: str, content: bytes) -> bytes:
        made = hmac.new(self._key, self._stamp + key.encode() + b"\0", hashlib.sha256)
        made.update(content)
        return made.digest()


def folder(session: Session, run_id: str) -> Path:
    """Return where a run's kept parts lie."""
    return session.folder.scratch(run_id) / PLACE


def state(connection: Connection, run_id: str) -> str:
    """Return a digest of the run's and its corpus' state, cheap enough for a page: it changes with each decision.

    Revision of the review, number of outputs, when the run ended, approvals, settings of the detector.
    """
    row = run_row(connection, run_id)
    counts = select(synthetic.c.approval, func.count()).where(synthetic.c.run_id == run_id)
    approvals = sorted(tuple(found) for found in connection.execute(counts.group_by(synthetic.c.approval)))
    detector = connection.execute(select(corpora.c.detector).where(corpora.c.id == row.corpus_id)).scalar_one()
    known = [row.corpus_revision, row.kept, row.finished, approvals, detector]
    return hashlib.sha256(json.dumps(known, default=str).encode()).hexdigest()[:16]


def note(kept: Sequence[str], parts: int, state: str) -> dict[str, JSON]:
    """Return what a job notes of its kept parts."""
    return {"kept": len(kept), "parts": parts, "state": state}


def in_part(connection: Connection, run_id: str) -> InPart | None:
    """Return how far a run was examined whose examination never ended; None where one did, or nobody looked.

    What was kept counts, also where it is gone by now: the look at private records stays.
    """
    if run_row(connection, run_id).examined_at is not None or not seen.looked_at(connection, run_id):
        return None
    noted = select(jobs.c.cursor).where(jobs.c.run_id == run_id, jobs.c.kind == "examine")
    told = [as_object(one) for one in connection.execute(noted).scalars()]
    found = [InPart(*(int(as_number(one.get(name)) or 0) for name in ("kept", "parts"))) for one in told]
    return max(found, key=lambda one: one.kept, default=InPart())


def stopped(session: Session, run_id: str) -> KeptParts | None:
    """Return what is kept of a run's newest examination where that was stopped and nothing has changed since."""
    newest = (
        select(jobs.c.state, jobs.c.cursor, jobs.c.arguments)
        .where(jobs.c.run_id == run_id, jobs.c.kind == "examine")
        .order_by(jobs.c.seq.desc())
        .limit(1)
    )
    with session.db.read() as connection:
        row = connection.execute(newest).first()
        if row is None or row.state not in ("cancelled", "failed") or not row.cursor:
            return None
        told = as_object(row.cursor)
        if told.get("state") != state(connection, run_id):
            return None
    files.fetch(folder(session, run_id))
    there = sum(path.suffix == SUFFIX for path in folder(session, run_id).glob("*"))
    kept = min(int(str(told.get("kept", 0))), there)
    if not kept:
        return None
    settings = {name: bool(row.arguments[name]) for name in SETTINGS if name in row.arguments}
    embedder = {name: str(row.arguments[name]) for name in EMBEDDER if row.arguments.get(name)}
    return KeptParts(kept, int(str(told["parts"])), settings, embedder)
