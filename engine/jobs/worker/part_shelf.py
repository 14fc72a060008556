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
from engine.jobs.worker.kept_embeddings import KeptEmbeddings
from engine.store import queue
from engine.store.database.schema import runs
from engine.store.runs import kept_parts

if TYPE_CHECKING:
    from engine.jobs.worker.task import Task

TOUCHED = (
    "Parts of an examination measured the run's records against private ones; what they found is internal and must "
    "not leave."
)


class PartShelf:
    """Keeps the parts of one examination; implements `engine.examine.prepare.Shelf`.

    Attributes:
        keys: of the parts that are kept and still describe what is examined.
    """

    def __init__(self, task: Task, given: ExamineInput, more: Sequence[str], parts: int) -> None:
        """Open a run's shelf, and remove what describes something else.

        Args:
            task: the job. given: what is examined; the kept parts hang on it, on `more` (settings of the detector,
            approvals of the records, in their order) and on the state of review and run. parts: how many there will be.
        """
        self._task, self._parts, self._embedder = task, parts, given.embedder
        key = task.store.corpora.subkey("parts of examinations")
        with task.store.session.db.read() as connection:
            self._state = kept_parts.state(connection, task.run_id)
        mark = stamp(given, self._state, *more)
        self._files = kept_parts.PartFiles(kept_parts.folder(task.store.session, task.run_id), key, mark)
        self.keys = self._files.keys()

    def take(self, key: str) -> bytes | None:
        """Return a kept part's content, None where it is not there."""
        return self._files.read(key) if key in self.keys else None

    def put(self, key: str, content: bytes) -> None:
        """Keep a part that has ended, also where the job was cancelled meanwhile; nothing where the run is gone."""
        store = self._task.store
        with store.session.db.write() as connection:
            if connection.execute(select(runs.c.id).where(runs.c.id == self._task.run_id)).first() is None:
                return
            store.examinations.look(connection, self._task.run_id)
            store.ledger.touch(connection, self._task.run_id, "examination in part", TOUCHED, once=True)
        if isinstance(self._embedder, KeptEmbeddings):
            self._embedder.keep()  # else later parts of one that goes on would embed texts in other company
        self._files.write(key, content)
        self.keys.append(key)
        with store.session.db.write() as connection:
            told = kept_parts.note(self.keys, self._parts, self._state)
            queue.progress(connection, self._task.id, cursor=told, attempts=0)

    def remove(self) -> None:
        """Remove all parts: the examination is finished."""
        self._files.remove()
