"""Sharing one job among workers: one coordinates, the others help with its shards (`engine.store.shards`).

The worker that took a job as it takes any other is its coordinator. It cuts the records into shards, works on them like
everybody else, and it alone puts results where they belong, in the order of the records: what is kept, to the number of
a row, is the same however many share the work and whoever dies. It alone would draw noise, before any shard needs it.
A helper is a slot of the same worker (`engine.jobs.worker.slots`) or a worker on another machine that has nothing else
to do. What is said of a `Shard` once its worker's lease is over is not written.

Privacy posture: texts are read from the workspace by whoever works on them; what passes between workers are rows of the
database.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import Connection, select

from engine.errors import InternalError
from engine.examine.memory import give_back
from engine.jobs.worker.edition import EDITION, edition
from engine.jobs.worker.task import Stopped, frames, have_here
from engine.json_types import JSON, as_list, as_object
from engine.store import queue, shards
from engine.store.database.database import BusyError, ConflictError
from engine.store.database.schema import jobs
from engine.store.rows import JobRow, job_of
from engine.store.shards import Shard
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.jobs.worker.task import Task

POLL_SECONDS = 0.1
SAY_SECONDS = 2.0  # between two words on how far a shard is; with the second its worker learns that it lost it
KEPT_SECONDS = 60.0  # without a shard after which a helper looks whether the job it loaded has ended
KNOWN = "known"  # in a job's cursor: what `Work.settle` returned
Stop = Callable[[], bool]
Rows = Sequence[Mapping[str, object]]


class Work(Protocol):
    """What a kind of job does with ranges of its corpus' records, loaded once for many of them.

    surveys: whether it looks at all records first. processes: how many it uses; as many shards are taken at once.
    """

    surveys: bool
    processes: int

    def survey(self, start: int, end: int, stop: Stop) -> JSON | None:
        """Return what the first stage finds in records `start` to `end`; None where it was stopped."""
        ...

    def settle(self, found: Sequence[JSON]) -> JSON:
        """Return what the second stage has to know of what the first one found in all shards, in their order."""
        ...

    def batches(self, claimed: Sequence[Shard], known: JSON, stop: Stop) -> Iterator[tuple[int, Rows]]:
        """Yield results in the order of the records, with the position behind the last record that each is of.

        A result is of records of one shard, and does not depend on what came before that shard; none comes after
        `stop` said so.
        """
        ...

    def close(self) -> None:
        """Free what was loaded."""
        ...


class Crew(Protocol):
    """Helpers beside a worker.

    sees_workspace: whether they read the workspace themselves.
    """

    count: int
    sees_workspace: bool

    @property
    def processes(self) -> int:
        """How many processes each worker may use on this machine."""
        ...

    def tend(self) -> None:
        """Start what is missing; called from the main thread."""
        ...

    def close(self) -> None:
        """End them all."""
        ...


Kind = Callable[[Store, JobRow, int], Work]
"""Given the store, a job and a number of processes, returns its work."""
Kinds = Callable[[], Mapping[str, Kind]]
"""Returns the kinds of jobs that are shared; asked late, since it loads them."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def others(task: Task) -> bool:
    """Say whether there may be others: slots of this machine, or workers that know its database."""
    return task.crew is not None and (task.crew.count > 1 or not task.store.session.db.is_file)


def shares(task: Task, records: int) -> bool:
    """Say whether others may share a job of so many records: slots of this machine, or who knows its database."""
    return others(task) and len(shards.bounds(records)) > 1


class Coordinator:
    """Shares a job of the worker's own."""

    def __init__(self, task: Task, work: Work, records: int, put: Callable[[Connection, Rows], None]) -> None:
        """Begin, or go on.

        Args:
            task: the job. work: what is done. records: of the corpus. put: keeps rows, in the order of the records.
        """
        self.task, self.work, self.records, self._put = task, work, records, put
        self._db = task.store.session.db
        self._cursor: dict[str, JSON] = dict(task.cursor or {})
        self.done = int((task.cursor or {}).get("done", 0))
        self._ahead, self._said = 0, 0.0

    def run(self) -> None:
        """Return once all rows are kept.

        Raises:
            Stopped: the job was cancelled or taken over, or the worker leaves.
        """
        self._begin()
        while self.done < self.records:
            self.task.check()
            if self.task.crew is not None:
                self.task.crew.tend()
            took = self._settled and self._take()
            claimed = self._claim()
            if claimed and claimed[0].stage == "survey":
                self._survey(claimed)
            elif claimed:
                self._work(claimed)
            elif not took and not self._settle():
                self._say()
                time.sleep(POLL_SECONDS)

    @property
    def _settled(self) -> bool:
        return KNOWN in self._cursor

    def _begin(self) -> None:
        self._cursor[EDITION] = edition()
        if not self.work.surveys:
            self._cursor[KNOWN] = None
        elif self.done and not self._settled:  # begun by a worker that did not share it
            found = self.work.survey(0, self.records, self.task.cancelled)
            self.task.check()
            self._cursor[KNOWN] = self.work.settle([found])
        with self._keeping(self.done) as connection:
            stage: shards.Stage = "work" if self._settled else "survey"
            shards.cut(connection, self.task.id, self.records, self.done, stage)

    @contextmanager
    def _keeping(self, done: int) -> Iterator[Connection]:
        """Yield a transaction that keeps results up to a position, as a job's batch does."""
        shown = min(self.records, done + self._ahead)
        with self.task.batch(self.task.kind, shown, self.records, cursor={**self._cursor, "done": done}) as connection:
            yield connection
        self.done = done

    def _take(self) -> bool:
        """Keep the results that come next, made by whomever; False where there was none."""
        took = False
        while True:
            with self._db.read() as connection:
                result = shards.next_done(connection, self.task.id, self.done)
            if result is None:
                return took
            with self._keeping(result.end) as connection:
                self._put(connection, unpacked(result.found))
                shards.drop(connection, self.task.id, result.number)
            self._ahead = max(0, self._ahead - (result.end - result.start))
            took = True

    def _claim(self) -> list[Shard]:
        kinds = (self.task.kind,)
        with self._db.read() as connection:
            if not shards.offered(connection, kinds, self.task.id):
                return []
        most = self.work.processes if self._settled else 1
        with self._db.brief() as connection:
            return shards.claim(connection, str(self.task.worker), kinds, self.task.id, most=most)

    def _survey(self, claimed: Sequence[Shard]) -> None:
        for shard in claimed:
            found = self.work.survey(shard.start, shard.end, self.task.cancelled)
            self.task.check()
            with self._db.brief() as connection:
                shards.deliver(connection, shard, found)

    def _settle(self) -> bool:
        """Begin the second stage; False where it has begun, or the first one is not over."""
        if self._settled:
            return False
        with self._db.read() as connection:
            found = shards.surveys(connection, self.task.id)
        if found is None:
            return False
        self._cursor[KNOWN] = self.work.settle(found)
        with self._keeping(self.done) as connection:
            shards.begin_work(connection, self.task.id)
        return True

    def _work(self, claimed: Sequence[Shard]) -> None:
        """Do claimed shards: the one whose turn it is is kept batch by batch, others as a helper does them."""
        left = list(claimed)
        rows: list[Mapping[str, object]] = []
        begun, next_one = None, False
        for reached, more in self.work.batches(claimed, self._cursor[KNOWN], self.task.cancelled):
            shard = left[0]
            if begun is not shard:
                begun, rows = shard, []
                self._take()
                next_one = shard.start == self.done
            if next_one:
                with self._keeping(reached) as connection:
                    self._put(connection, more)
                    if not shards.advance(connection, shard, reached):
                        raise Stopped
            else:
                rows += more
                if reached == shard.end:
                    with self._db.brief() as connection:
                        shards.deliver(connection, shard, packed(rows))
            self._say(None if next_one else shard, reached)
            if reached == shard.end:
                left.pop(0)
        if left:
            raise Stopped

    def _say(self, shard: Shard | None = None, reached: int = 0) -> None:
        """Show how far all workers are, now and then."""
        if time.monotonic() - self._said < SAY_SECONDS:
            return
        self._said = time.monotonic()
        with self._db.brief() as connection:
            if shard is not None and reached < shard.end:
                shards.reach(connection, shard, reached - shard.start)
            self._ahead = shards.ahead(connection, self.task.id)
        self.task.report(self.task.kind, min(self.records, self.done + self._ahead), self.records)


class Helper:
    """Does shards of jobs that others coordinate, one claim after another.

    alive: when it last showed that it gets on, by the monotonic clock.
    """

    def __init__(self, store: Store, name: str, kinds: Kinds, leaving: Stop, most: int) -> None:
        """Open nothing yet.

        Args:
            store: the workspace. name: of the worker whose lease holds the shards. kinds: of jobs. leaving: says
            whether the worker is to end. most: processes that it may use.
        """
        self.store, self.name, self._kinds, self.leaving, self._most = store, name, kinds, leaving, max(1, most)
        self._db = store.session.db
        self._opened: tuple[str, Work] | None = None
        self.alive = self._used = time.monotonic()
        self._failed: set[str] = set()  # jobs that this one cannot help with: it sees no table of theirs, say
        self._claimed: list[Shard] = []  # what nobody else takes while this one lives

    def step(self) -> str | None:
        """Claim and do shards; return what failed in words for the log, empty where nothing did, None without any."""
        kinds = self._kinds().keys()
        self.alive = time.monotonic()
        self._release()
        with self._db.read() as connection:
            waiting = shards.offered(connection, kinds, without=self._failed)
        if not waiting:
            self._tend()
            return None
        with self._db.brief() as connection:
            claimed = shards.claim(connection, self.name, kinds, most=self._most, without=self._failed)
            if not claimed:
                return None
            row = job_of(connection.execute(select(jobs).where(jobs.c.id == claimed[0].job_id)).one())
        try:
            self._do(row, claimed)
        except (BusyError, ConflictError) as error:  # nothing of the job's: it helps again later
            return frames(error)
        except Exception as error:  # noqa: BLE001  the worker that has the job meets it too, and says what it is
            self._failed.add(row.id)
            return frames(error)
        finally:
            self._used, self._claimed = time.monotonic(), claimed
            self._release()
        return ""

    def _release(self) -> None:
        """Give back what was claimed and not delivered; where the database is held, the next step does."""
        if self._claimed:
            with self._db.brief() as connection:
                for shard in self._claimed:
                    shards.release(connection, shard)
            self._claimed = []

    def _tend(self) -> None:
        """Free what was loaded once its job has ended; until then there may be shards again, and it is long to load."""
        if self._opened is None or time.monotonic() - self._used <= KEPT_SECONDS:
            return
        with self._db.read() as connection:
            at_work = self._opened[0] in queue.active_jobs(connection)
        if at_work:
            self._used = time.monotonic()
        else:
            self.close()

    def close(self) -> None:
        """Free what was loaded for the last job, so that the next one does not stand beside it."""
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None
            gc.collect()  # what is prepared holds who stops it, and that holds what is prepared
            give_back()

    def _work_of(self, row: JobRow) -> Work:
        if self._opened is None or self._opened[0] != row.id:
            self.close()
            made = self._kinds()[row.kind](self.store, row, self._most)
            self._opened = row.id, made
        return self._opened[1]

    def _do(self, row: JobRow, claimed: Sequence[Shard]) -> None:
        if as_object(row.cursor).get(EDITION) != edition():
            raise InternalError("another edition of the program coordinates this job")
        have_here(self.store.folder, row)
        work, rows = self._work_of(row), list[Mapping[str, object]]()
        claimed, more_than_needed = claimed[: max(1, work.processes)], claimed[max(1, work.processes) :]
        if more_than_needed:  # it does one after the other: somebody else is sooner there
            with self._db.brief() as connection:
                for shard in more_than_needed:
                    shards.release(connection, shard)
        left = list(claimed)
        watch = _Watch(self, left)
        if claimed[0].stage == "survey":
            for shard in claimed:
                found = work.survey(shard.start, shard.end, watch.stop)
                if watch.stop():
                    return
                with self._db.brief() as connection:
                    shards.deliver(connection, shard, found)
                left.pop(0)
            return
        known = as_object(row.cursor).get(KNOWN)
        for reached, more in work.batches(claimed, known, watch.stop):
            rows += more
            watch.reached = reached
            if reached == left[0].end:
                with self._db.brief() as connection:
                    shards.deliver(connection, left.pop(0), packed(rows))
                rows = []


class _Watch:
    """Says now and then how far a helper's shard is, and learns whether it is still to be done."""

    def __init__(self, helper: Helper, left: Sequence[Shard]) -> None:
        self._helper, self._left = helper, left
        self.reached, self._said, self._lost = 0, time.monotonic(), False

    def stop(self) -> bool:
        """Say whether to leave the shard."""
        self._helper.alive = time.monotonic()
        if self._lost or self._helper.leaving():
            return True
        if self._left and time.monotonic() - self._said >= SAY_SECONDS:
            self._said, shard = time.monotonic(), self._left[0]
            with self._helper.store.session.db.brief() as connection:
                self._lost = not shards.reach(connection, shard, max(0, self.reached - shard.start))
        return self._lost


def packed(rows: Rows) -> JSON:
    """Return rows that have the same columns as JSON that names each column once."""
    names = list(rows[0]) if rows else []
    return {name: [row[name] for row in rows] for name in names}  # type: ignore[misc]


def unpacked(found: JSON) -> Rows:
    """Return the rows of `packed`."""
    columns = {name: as_list(values) for name, values in as_object(found).items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
