"""The worker: one process a workspace that takes jobs from the queue and does them (`python -m engine.cli.worker`).

One worker a workspace. The main thread works the heavy lane, a second thread the light lane, a third
beats once a second. It leaves after ten idle minutes.

Privacy posture: its log holds times, job ids, exception classes and code positions; no message of a
library, no text.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import logging
import os
import secrets
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, func, select

from engine.at_rest import files, keys
from engine.errors import StorageError, UnderstudyError
from engine.jobs.models.cache import ModelCache
from engine.jobs.worker import cards, slots
from engine.jobs.worker.launch import KEY_FROM_STDIN, OFFLINE, PATIENT
from engine.jobs.worker.lock import ProcessLock
from engine.jobs.worker.sharing import Crew, Helper, Kind
from engine.jobs.worker.slots import Slots
from engine.jobs.worker.task import Stopped, Task, frames, have_here
from engine.store import queue
from engine.store.audit import now
from engine.store.database.database import BusyError, ConflictError
from engine.store.database.schema import jobs
from engine.store.disk.folder import TEMPORARY, Folder, remove_tree
from engine.store.disk.place import working_place
from engine.store.rows import JobRow
from engine.store.runs import chained
from engine.store.store import Store

IDLE_SECONDS = 600.0
POLL_SECONDS = 0.25
BEAT_SECONDS = 1.0
RENEW_SECONDS = queue.LEASE_SECONDS / 6
LOCK_TRIES = 20  # another process may hold the lock for an instant while it looks

EXECUTOR, SLOTS, RAY = "UNDERSTUDY_EXECUTOR", "slots", "ray"

Handler = Callable[[Task], None]


def handlers() -> dict[str, Handler]:
    """Return the function of each kind of job, for the kinds that this package knows."""
    from engine.jobs.tasks import (
        account,
        detect,
        examine,
        fetch,
        first_texts,
        pool_check,
        profile,
        selftest,
        synthesize,
    )

    return {
        "profile": profile.run,
        "detect": detect.run,
        "synthesize": synthesize.run,
        "examine": examine.run,
        "selftest": selftest.run,
        "fetch": fetch.run,
        "first texts": first_texts.run,
        "account": account.run,
        "signal": account.run,
        "pool check": pool_check.run,
    }


def shared() -> dict[str, Kind]:
    """Return the kinds of jobs that several workers share, and what each does with a shard."""
    from engine.jobs.tasks import detect, examining, writing

    return {"detect": detect.shared, "synthesize": writing.Writing, "examine": examining.Examining}


def executor() -> str:
    """Return what computes for a worker: its own slots, or Ray; slots where it is not said."""
    said = os.environ.get(EXECUTOR, "").strip().lower()
    if said not in ("", SLOTS, RAY):
        log(f"{EXECUTOR} is neither {SLOTS} nor {RAY}: {SLOTS} are used")
    return RAY if said == RAY else SLOTS


def log(line: str) -> None:
    """Write one line to the worker's log."""
    print(f"{now()} {os.getpid()} {line}", file=sys.stderr, flush=True)  # noqa: T201


def sentence(error: BaseException) -> str:
    """Return what the custodian reads about a failure; library messages may hold text and are left out."""
    if isinstance(error, UnderstudyError):
        return str(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "The machine ran out of memory. Close other programs or ask for fewer records, then resume."
    if isinstance(error, ModuleNotFoundError):
        return f"The Python package {error.name!r} is missing. Install the application again, then resume."
    if isinstance(error, FileNotFoundError):
        return "A file that the program needs is missing. Install the application again, then resume."
    return (
        f"An unexpected error ({type(error).__name__}) stopped this job; nothing that was made before is lost. "
        "Resume it; if it fails again, send the support file from the settings page."
    )


class Worker:
    """The one worker of a workspace on its machine."""

    def __init__(
        self,
        store: Store,
        handlers_of: Callable[[], Mapping[str, Handler]],
        idle_seconds: float = IDLE_SECONDS,
        *,
        workers: int = 1,
        lock: ProcessLock | None = None,
    ) -> None:
        """Begin nothing yet.

        Args:
            store: the workspace. handlers_of: returns the function of each kind of job.
            idle_seconds: without work after which it leaves. workers: on this machine, this one included.
            lock: that says that it is at work here; None where it holds none, and so has no slots.
        """
        self.store, self.idle_seconds = store, idle_seconds
        self.leaving = threading.Event()
        self._models = ModelCache()
        self._busy = {"heavy": False, "light": False}
        self._handlers_of = handlers_of
        self._last_busy = time.monotonic()
        self._unwritten: list[tuple[str, str, str | None]] = []
        self._writing = threading.Lock()  # of these: put back twice, a job is taken from whoever has it by then
        self.name = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._place = working_place(store.folder, store.session.key)
        self._slots = self._crew(workers, lock)
        self._helper = Helper(store, self.name, shared, self.leaving.is_set, self._slots.processes)

    def _crew(self, workers: int, lock: ProcessLock | None) -> Crew:
        if lock is not None and executor() == RAY:
            from engine.jobs.cluster.crew import RayCrew

            return RayCrew(self.store, workers, self._left, log)
        folder = self.store.folder
        return Slots(folder, workers if lock else 1, lock or ProcessLock(folder.worker_lock), self._left)

    def work(self) -> None:
        """Work both lanes until idle for long enough or asked to leave."""
        with self.store.session.db.write() as connection:
            recovered = queue.recover(connection, self._place)
            queue.beat(connection, self.name, self._place)
            self.store.ledger.settle(connection)
        if recovered:
            log(f"recovered {len(recovered)} job(s): {', '.join(recovered)}")
        others = [
            threading.Thread(target=self._beat, name="beat", daemon=True),
            threading.Thread(target=self._lane, args=("light",), name="light", daemon=True),
        ]
        for thread in others:
            thread.start()
        self._lane("heavy")
        self.leaving.set()
        self._helper.close()
        self._slots.close()
        for thread in others:
            thread.join(timeout=5.0)
        with suppress(StorageError), self.store.session.db.brief() as connection:
            queue.leave(connection, self.name)

    def _beat(self) -> None:
        beat, said = self.store.folder.worker_beat, time.monotonic()
        while not self.leaving.wait(BEAT_SECONDS):
            try:
                show_beat(beat)
            except OSError:
                if not self.store.folder.has_database:
                    self.leaving.set()  # the workspace folder was removed
            if time.monotonic() - said >= RENEW_SECONDS and self._renewed():
                said = time.monotonic()

    def _renewed(self) -> bool:
        """Say in the database that this worker lives, and put back what dead ones had taken; False where it failed."""
        try:
            with self.store.session.db.brief() as connection:
                queue.beat(connection, self.name, self._place)
                recovered = queue.recover(connection)
        except Exception as error:  # noqa: BLE001  the next beat tries again, long before the lease is over
            log(f"lease: {frames(error)}")
            return False
        if recovered:
            log(f"recovered {len(recovered)} job(s): {', '.join(recovered)}")
        return True

    def _lane(self, lane: str) -> None:
        while not self.leaving.is_set():
            try:
                worked = self._step(lane) or (lane == "heavy" and self._helped())
            except Exception as error:  # noqa: BLE001  the worker outlives a locked database or a full disk
                log(f"{lane} lane: {frames(error)}")
                if not self.store.folder.has_database:
                    self.leaving.set()
                self.leaving.wait(2.0)
                continue
            if not worked:
                if lane == "heavy" and self._idle():
                    return
                self.leaving.wait(POLL_SECONDS)

    def _step(self, lane: str) -> bool:
        with self._writing:
            for pending in list(self._unwritten):
                with self.store.session.db.write() as connection:
                    self._end(connection, *pending)
                self._unwritten.remove(pending)
        with self.store.session.db.read() as connection:
            waiting = connection.execute(
                select(func.count()).select_from(jobs).where(jobs.c.state == "queued", jobs.c.lane == lane)
            ).scalar_one()
        if not waiting:
            return False
        with self.store.session.db.brief() as connection:
            row = queue.claim(connection, lane, self.name)
        if row is None:
            with self.store.session.db.write() as connection:
                self.store.ledger.settle(connection)  # a job that was given up
            return False
        self._busy[lane] = True
        try:
            self._run(row)
        finally:
            self._busy[lane], self._last_busy = False, time.monotonic()
        return True

    def _helped(self) -> bool:
        """Do a shard of a job that a worker on another machine has; on SQLite there is none."""
        if self.store.session.db.is_file:
            return False
        said = self._helper.step()
        if said is None:
            return False
        self._last_busy = time.monotonic()
        if said:
            log(f"helping: {said}")
        return True

    def _left(self, slot: str) -> None:
        with suppress(StorageError), self.store.session.db.brief() as connection:
            queue.leave(connection, slot)

    def _run(self, row: JobRow) -> None:
        log(f"{row.kind} {row.id} begins, attempt {row.attempts}")
        task = Task(self.store, row, self._models, self.leaving.is_set, self._slots)
        try:
            have_here(self.store.folder, row)
            self._handlers_of()[row.kind](task)
        except Stopped:
            self._stopped(row.id)
        except (BusyError, ConflictError) as error:
            log(f"{row.kind} {row.id} found the database held: {frames(error)}")
            again = row.attempts < queue.MAX_ATTEMPTS
            self._finish(row.id, "queued" if again else "failed", None if again else sentence(error))
        except Exception as error:  # noqa: BLE001  any failure becomes the job's state and a sentence
            log(f"{row.kind} {row.id} failed: {frames(error)}")
            self._finish(row.id, "failed", sentence(error))
        else:
            self._finish(row.id, "done", None)

    def _stopped(self, job_id: str) -> None:
        with self.store.session.db.write() as connection:
            row = connection.execute(select(jobs.c.cancel, jobs.c.worker).where(jobs.c.id == job_id)).first()
            if row is None:
                log(f"{job_id} was deleted")
            elif row.worker != self.name:
                log(f"{job_id} was taken over")
            elif row.cancel:
                queue.finish(connection, job_id, "cancelled", worker=self.name)
                self.store.ledger.settle(connection)
                log(f"{job_id} cancelled")
            else:  # the worker is leaving; the next one goes on
                queue.put_back(connection, job_id, self.name)
                log(f"{job_id} put back into the queue")

    def _finish(self, job_id: str, state: str, error: str | None) -> None:
        try:
            with self.store.session.db.write() as connection:
                self._end(connection, job_id, state, error)
        except StorageError as problem:
            log(f"{job_id} could not be marked {state}: {frames(problem)}")
            self._unwritten.append((job_id, state, error))
            return
        log(f"{job_id} {state}")

    def _end(self, connection: Connection, job_id: str, state: str, error: str | None) -> None:
        """End a job, say in the audit log what a run is that it finished, and give back what was not spent.

        One whose state is "queued" goes on later, as after a kill, but where a person cancelled it meanwhile.
        """
        if state == "queued":
            if not connection.execute(select(jobs.c.cancel).where(jobs.c.id == job_id)).scalar():
                queue.put_back(connection, job_id, self.name)
                return
            state = "cancelled"
        if queue.finish(connection, job_id, state, error, worker=self.name) and state == "done":
            made = select(jobs.c.run_id).where(jobs.c.id == job_id, jobs.c.kind == "synthesize")
            for run_id in connection.execute(made).scalars():
                chained.end(self.store.session, connection, run_id)
        self.store.ledger.settle(connection)

    def _idle(self) -> bool:
        if self._busy["light"] or self._unwritten:
            return False
        return time.monotonic() - self._last_busy >= self.idle_seconds


def waiting(store: Store) -> bool:
    """Say whether any job is queued."""
    with store.session.db.read() as connection:
        return bool(connection.execute(select(jobs.c.id).where(jobs.c.state == "queued").limit(1)).first())


def main(arguments: Sequence[str] | None, handlers_of: Callable[[], Mapping[str, Handler]]) -> int:
    """Run the worker of a workspace; end at once where one is at work already.

    Args:
        arguments: of the command line; None means those of the process.
        handlers_of: returns the function of each kind of job; asked when the first job comes, since it loads them.
    """
    parser = argparse.ArgumentParser(prog="python -m engine.cli.worker")
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--idle-seconds", type=float, default=IDLE_SECONDS)
    parser.add_argument(KEY_FROM_STDIN, action="store_true")
    parser.add_argument(slots.WORKERS, type=int, default=slots.wanted())
    parser.add_argument(slots.SLOT, help=argparse.SUPPRESS)
    parser.add_argument(slots.OF, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.slot:
        slots.end_with(options.of)
    _prepare_process(nice=not options.slot)
    if not options.slot:  # a slot's environment has its own already
        os.environ.update(cards.dealt(0, options.workers))
    if options.key_from_stdin:
        keys.hold(options.workspace, keys.received(sys.stdin.buffer))
    try:
        store = Store(options.workspace, actor="worker")
    except StorageError as error:
        log(str(error))
        return 1
    if options.slot:
        return _serve(store, options)
    lock = ProcessLock(store.folder.worker_lock)
    while _acquire(lock):
        try:
            lock.name_owner()
            show_beat(store.folder.worker_beat)  # that of the worker before would say that this one does not answer
            _keep_temporary_files_inside(store.folder)
            worker = Worker(store, handlers_of, options.idle_seconds, workers=options.workers, lock=lock)
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: worker.leaving.set())  # noqa: B023
            log("worker begins")
            worker.work()
            asked = worker.leaving.is_set() and not worker._idle()
        finally:
            lock.release()
        # A job that came while this worker was leaving found the lock held and started no other.
        if asked or not store.folder.has_database or not waiting(store):
            break
    log("worker ends")
    gc.freeze()  # the process ends: what a net's modules leave is the system's to free, not the collector's
    return 0


def _serve(store: Store, options: argparse.Namespace) -> int:
    leaving = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: leaving.set())
    _keep_temporary_files_inside(store.folder, first=False)
    log("slot begins")
    slots.serve(store, options.slot, options.workers, shared, leaving, log)
    return 0


def _acquire(lock: ProcessLock) -> bool:
    for _ in range(LOCK_TRIES):
        if lock.acquire():
            return True
        time.sleep(0.05)
    return False


def _keep_temporary_files_inside(folder: Folder, *, first: bool = True) -> None:
    """Have what a job writes to a temporary folder lie in its workspace where that is encrypted.

    first: whether no other process is at work there, so that what lies there is left over.
    """
    inside = folder.path / TEMPORARY
    if first:
        remove_tree(inside)
    if files.encrypted(inside):
        inside.mkdir(mode=0o700, exist_ok=True)
        tempfile.tempdir = str(inside)


def show_beat(beat: Path) -> None:
    """Show by a file's time that the worker of its folder lives."""
    os.close(os.open(beat, os.O_CREAT | os.O_WRONLY, 0o600))
    os.utime(beat)


def _prepare_process(*, nice: bool) -> None:
    os.environ.update({**PATIENT, **os.environ, **OFFLINE})  # before torch is loaded
    os.umask(0o077)
    if nice and hasattr(os, "nice"):
        os.nice(10)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.excepthook = lambda _kind, error, _trace: log(f"worker failed: {frames(error)}")
    threading.excepthook = lambda args: log(
        f"thread failed: {frames(args.exc_value) if args.exc_value else args.exc_type.__name__}"
    )
