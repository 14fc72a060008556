"""Kills that hit: wait for progress, kill at a random batch, see that the job was cut off, go on.

Everything here looks at the database directly, because asking a workspace for a job starts a worker.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 300.0
WRITING = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "shutil.copytree", "shutil.rmtree"}


@dataclass(frozen=True)
class Job:
    """A run in the making: its ids, and how many records it is to hold."""

    workspace: Any
    run_id: str
    job_id: str
    count: int

    def look(self) -> tuple[int, str]:
        """Return how many records are committed and the job's state, without waking a worker."""
        with self.workspace.session.db.read() as connection:
            row = connection.exec_driver_sql(
                f"SELECT runs.kept, jobs.state FROM runs, jobs WHERE runs.id = '{self.run_id}'"
                f" AND jobs.id = '{self.job_id}'"
            ).one()
        return row.kept, row.state

    def table(self) -> tuple[list[tuple[Any, ...]], dict[str, int], int]:
        """Return the run's records (position, id, text, label, lineage), its funnel and its count."""
        with self.workspace.session.db.read() as connection:
            rows = connection.exec_driver_sql(
                "SELECT position, record_id, text, label, lineage FROM synthetic"
                f" WHERE run_id = '{self.run_id}' ORDER BY position"
            ).all()
        run = self.workspace.runs.get(self.run_id)
        return [tuple(row) for row in rows], run.funnel, run.kept


def enqueue(workspace: Any, corpus_id: str, method: str, **settings: Any) -> Job:
    """Start a run."""
    run = workspace.runs.get(workspace.jobs.synthesize(corpus_id, method, **settings))
    return Job(workspace, run.id, run.job_id, run.count)


def until(condition: Callable[[], bool], workspace: Any, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for a condition; shows the worker's log where it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, workspace.folder.worker_log.read_text()[-3000:]
        time.sleep(0.01)


def completed(job: Job, nudge: Callable[[], object] = lambda: None) -> tuple[Any, ...]:
    """Wait until a run is done and return its table."""

    def ended() -> bool:
        nudge()
        return job.look()[1] in ("done", "failed", "cancelled")

    until(ended, job.workspace)
    assert job.look()[1] == "done"
    return job.table()


def kill_worker(job: Job) -> bool:
    """Kill the worker that holds the lock; return whether that cut the job off."""
    pid = job.workspace.jobs.worker_status()["pid"]
    if pid is None:
        return False
    os.kill(pid, signal.SIGKILL)
    until(lambda: job.workspace.jobs.worker_status()["pid"] != pid, job.workspace)
    committed, state = job.look()
    return state == "running" and committed < job.count


def strike_at_random(
    begin: Callable[[], Job],
    strike: Callable[[Job], bool],
    kills: int,
    *,
    nudge: Callable[[], object] = lambda: None,
    seed: int = 11,
    pause_seconds: float = 0.1,
) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Make runs, struck at random batches, until `kills` strikes have hit.

    Args:
        begin: starts a run; called again where a run ends before enough strikes have hit.
        strike: kills what is to be killed, brings back what others restart, and returns whether it hit.
        kills: how many strikes must hit, at least 1.
        nudge: called while waiting; keeps a worker at work where nothing else does.
        pause_seconds: a strike comes at a random moment this long after its batch.

    Returns:
        The tables of the finished runs, and how many records were committed at each hit.
    """
    rng = random.Random(seed)
    tables, hits = [], []
    while len(hits) < kills:
        job = begin()
        while len(hits) < kills:
            committed, _ = job.look()
            stride = 2 * (job.count - committed) // (kills - len(hits) + 1)
            if not _reached(job, committed + rng.randint(1, max(1, stride)), nudge):
                break
            time.sleep(rng.random() * pause_seconds)
            if strike(job):
                hits.append(job.look()[0])
        tables.append(completed(job, nudge))
    return tables, hits


def _reached(job: Job, amount: int, nudge: Callable[[], object]) -> bool:
    """Wait until so much is committed; return whether the job is still running then."""

    def there() -> bool:
        nudge()
        committed, state = job.look()
        return committed >= amount or state not in ("queued", "running")

    until(there, job.workspace)
    return job.look()[1] == "running"


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; return the signal that ended it, 0 for none."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def hooked(places: tuple[Path, ...], seen: Callable[[], None]) -> None:
    """Call `seen` before each change of the file system below `places`."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and (not isinstance(arguments[2], int) or arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if (writes or event in WRITING) and any(str(arguments[0]).startswith(str(place)) for place in places):
            seen()

    sys.addaudithook(hook)
