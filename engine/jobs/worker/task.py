"""What a running job may do: report, ask whether to stop, commit a batch.

Privacy posture: only synthetic outputs are handed to `sample`; errors are reduced to our sentences.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from engine.at_rest import files
from engine.errors import InternalError
from engine.examine.expected import Expected
from engine.jobs.course import Course
from engine.jobs.models.cache import ModelCache
from engine.jobs.progress import Parts, Rate
from engine.json_types import as_object
from engine.store import queue
from engine.store.database.schema import jobs
from engine.store.disk.folder import Folder
from engine.store.rows import JobRow
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.jobs.worker.sharing import Crew

ASK_SECONDS = 0.25
REPORT_SECONDS = 0.5
SAMPLES = 5


class Stopped(Exception):
    """The job was cancelled, or deleted, or the worker is leaving; nothing is to be committed any more."""


def have_here(folder: Folder, row: JobRow) -> None:
    """Have on this machine what a job's corpus and run have made so far, where their files lie elsewhere.

    Raises:
        StorageError: it cannot be reached.
    """
    if row.corpus_id is not None:
        files.fetch(folder.corpus(row.corpus_id))
    if row.run_id is not None:
        files.fetch(folder.run(row.run_id))


def frames(error: BaseException) -> str:
    """Return an exception's class and code positions, without its message."""
    trace = traceback.extract_tb(error.__traceback__)
    places = ", ".join(f"{Path(f.filename).name}:{f.lineno}" for f in trace)
    return f"{type(error).__name__} at {places or 'unknown place'}"


class Task:
    """One running job."""

    def __init__(
        self,
        store: Store,
        row: JobRow,
        models: ModelCache,
        leaving: Callable[[], bool],
        crew: Crew | None = None,
    ) -> None:
        """Begin a job.

        Args:
            store: the workspace. row: the job. models: of the worker. leaving: says whether the worker is to end.
            crew: those beside it on this machine who may share the job; None where nobody may.
        """
        self.store, self.models, self.crew = store, models, crew
        self.id, self.kind, self.worker = row.id, row.kind, row.worker
        self._corpus_id, self._run_id = row.corpus_id, row.run_id
        self.arguments: dict[str, Any] = dict(row.arguments)  # each task knows its own
        self.cursor: dict[str, Any] | None = dict(as_object(row.cursor)) if row.cursor is not None else None
        self._leaving = leaving
        self._rate = Rate()
        self._parts: Parts | None = None
        self._course: Course | None = None
        self._asked, self._stop, self._reported = 0.0, False, 0.0

    @property
    def corpus_id(self) -> str:
        """The corpus that the job is about."""
        if self._corpus_id is None:
            raise InternalError(f"a job of kind {self.kind!r} names no corpus")
        return self._corpus_id

    @property
    def run_id(self) -> str:
        """The run that the job makes or examines."""
        if self._run_id is None:
            raise InternalError(f"a job of kind {self.kind!r} names no run")
        return self._run_id

    def cancelled(self) -> bool:
        """Say whether the job should stop; asks the database at most four times a second."""
        if self._stop or self._leaving():
            return True
        if time.monotonic() - self._asked >= ASK_SECONDS:
            self._asked = time.monotonic()
            with self.store.session.db.read() as connection:
                self._stop = queue.cancelled(connection, self.id, self.worker)
        return self._stop

    def check(self) -> None:
        """Raise `Stopped` where the job should stop."""
        if self.cancelled():
            raise Stopped

    def expect(self, parts: Sequence[Expected], kept: float = 0.0) -> None:
        """Say which parts the job has and what each is expected to take, so that progress is of the whole job.

        kept: seconds of those that are kept from before, which take none.
        """
        self._parts = Parts(parts, kept=kept)

    def begin(self, key: str) -> None:
        """Say that a part begins."""
        if self._parts is not None:
            self._parts.begin(key)
            self._reported = 0.0

    def follow(self, course: Course) -> None:
        """Show progress of the whole job though its steps are not known beforehand."""
        self._course = course

    def _whole(self, stage: str, done: int, total: int, left: float | None) -> dict[str, object]:
        if self._course is not None:
            return {"whole": self._course.whole(stage, done, total, left)}
        return {} if self._parts is None else {"whole": self._parts.whole()}

    def report(self, stage: str, done: int, total: int) -> None:
        """Show progress, twice a second at most."""
        left = self._rate.seconds_left(stage, done, total)
        if time.monotonic() - self._reported < REPORT_SECONDS and (done < total or self._parts is not None):
            return
        self._reported = time.monotonic()
        with self.store.session.db.brief() as connection:
            queue.progress(
                connection, self.id, worker=self.worker,
                stage=stage, done=done, total=total, seconds_left=left, **self._whole(stage, done, total, left),
            )  # fmt: skip

    @contextmanager
    def batch(
        self,
        stage: str,
        done: int,
        total: int,
        *,
        cursor: Mapping[str, object] | None = None,
        sample: Sequence[str] = (),
    ) -> Iterator[Connection]:
        """Yield a write transaction that also holds the job's cursor and progress.

        Raises:
            Stopped: the job or its corpus is gone, or it was cancelled; nothing of this batch is kept.
        """
        left = self._rate.seconds_left(stage, done, total)
        with self.store.session.db.write() as connection:
            row = connection.execute(
                select(jobs.c.state, jobs.c.cancel, jobs.c.sample, jobs.c.worker).where(jobs.c.id == self.id)
            ).first()
            if row is None or row.state != "running" or row.cancel or row.worker != self.worker:
                self._stop = True
                raise Stopped
            values: dict[str, object] = {
                "stage": stage,
                "done": done,
                "total": total,
                "seconds_left": left,
                "attempts": 0,
                **(self._whole(stage, done, total, left) if self._course is not None else {}),
            }
            if cursor is not None:
                values["cursor"] = cursor
            if sample:
                values["sample"] = [*row.sample, *sample][-SAMPLES:]
            yield connection
            queue.progress(connection, self.id, worker=self.worker, **values)
