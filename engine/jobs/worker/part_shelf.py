"""Finished parts of the examination at work, kept in its run's folder; see `engine.store.runs.kept_parts`.

Before the first part is written, the workspace notes that the run was looked at: digests of its outputs, a line in the
ledger and one in the audit log, in one transaction. A kill in between leaves a note without a part, never a part
without a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import select

from engine.examine.keeping import stamp
from engine.examine.prepare import ExamineInput
from engine.jobs.worker.edition import edition
from engine.jobs.worker.kept_embeddings import KeptEmbeddings
from engine.store import queue, shards
from engine.store.database.schema import jobs, runs
from engine.store.runs import kept_parts
from engine.store.shards import Shard

if TYPE_CHECKING:
    from engine.jobs.worker.task import Task
    from engine.store.store import Store

TOUCHED = (
    "Parts of an examination measured the run's records against private ones; what they found is internal and must "
    "not leave."
)


class PartShelf:
    """Keeps the parts of one examination; implements `engine.examine.prepare.Shelf`.

    Attributes:
        keys: of the parts that are kept and still describe what is examined.
        stamp: digest of what they describe, by which a helper tells that it sees the same.
    """

    def __init__(self, task: Task, given: ExamineInput, more: Sequence[str], parts: int) -> None:
        """Open a run's shelf, and remove what describes something else.

        Args:
            task: the job. given: what is examined; the kept parts hang on it, on `more` (settings of the detector,
            approvals of the records, in their order) and on the state of review and run. parts: how many there will be.
        """
        self._task, self._parts, self._embedder = task, parts, given.embedder
        with task.store.session.db.read() as connection:
            self._state = kept_parts.state(connection, task.run_id)
        self._files, self.stamp = part_files(task.store, task.run_id, given, more)
        self.keys = self._files.keys()

    def take(self, key: str) -> bytes | None:
        """Return a kept part's content, None where it is not there."""
        return self._files.read(key) if key in self.keys else None

    def put(self, key: str, content: bytes) -> None:
        """Keep a part that has ended, also where the job was cancelled meanwhile; nothing where the run is gone."""
        if not self.look():
            return
        if isinstance(self._embedder, KeptEmbeddings):
            self._embedder.keep()
        self._files.write(key, content)
        self.found(key)

    def look(self) -> bool:
        """Note that the run was looked at, which stands before any part; False where the run is gone."""
        store = self._task.store
        with store.session.db.write() as connection:
            if connection.execute(select(runs.c.id).where(runs.c.id == self._task.run_id)).first() is None:
                return False
            store.examinations.look(connection, self._task.run_id)
            store.ledger.touch(connection, self._task.run_id, "examination in part", TOUCHED, once=True)
        return True

    def found(self, *keys: str) -> None:
        """Note that parts are there, whoever put them."""
        self.keys += [key for key in keys if key not in self.keys]
        told = kept_parts.note(self.keys, self._parts, self._state)
        self._task.cursor = {**(self._task.cursor or {}), **told}
        with self._task.store.session.db.write() as connection:
            queue.progress(connection, self._task.id, cursor=self._task.cursor, attempts=0)

    def remove(self) -> None:
        """Remove all parts: the examination is finished."""
        self._files.remove()


class HelperShelf:
    """Puts parts on the shelf of an examination that another worker has; implements `engine.examine.prepare.Shelf`.

    Attributes:
        shard: the claim for which parts are measured; what comes when the examination has ended does not stay.
    """

    shard: Shard | None = None

    def __init__(self, store: Store, run_id: str, given: ExamineInput, more: Sequence[str]) -> None:
        """Open the shelf that lies there; see `PartShelf`."""
        self._store, self._run_id = store, run_id
        self._files, self.stamp = part_files(store, run_id, given, more)

    def take(self, key: str) -> bytes | None:
        """Return a kept part's content, None where it is not there."""
        return self._files.read(key)

    def put(self, key: str, content: bytes) -> None:
        """Keep a part for the worker that has the examination; nothing stays where that has ended, or the run is gone.

        One that was cancelled, or failed, goes on with what is there.
        """
        if not self._there() or self._ended():
            return
        self._files.write(key, content)
        if not self._there():  # it was deleted meanwhile
            self._store.session.sweep()
        elif self._ended():
            self._files.forget(key)

    def _there(self) -> bool:
        with self._store.session.db.read() as connection:
            return connection.execute(select(runs.c.id).where(runs.c.id == self._run_id)).first() is not None

    def _ended(self) -> bool:
        """Say whether the examination needs this piece no more: it has it from another, or is finished."""
        if self.shard is None:
            return False
        with self._store.session.db.read() as connection:
            if shards.there(connection, self.shard):
                return False
            state = connection.execute(select(jobs.c.state).where(jobs.c.id == self.shard.job_id)).scalar()
        return state in ("running", "done")


def part_files(store: Store, run_id: str, given: ExamineInput, more: Sequence[str]) -> tuple[kept_parts.PartFiles, str]:
    """Return the files of a run's kept parts, and the digest of what they describe."""
    key = store.corpora.subkey("parts of examinations")
    with store.session.db.read() as connection:
        state = kept_parts.state(connection, run_id)
    mark = stamp(given, state, edition(), *more)
    return kept_parts.PartFiles(kept_parts.folder(store.session, run_id), key, mark), mark.hex()
