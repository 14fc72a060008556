"""What tests of shared jobs have in common: a workspace, a job taken by this process, helpers beside it, and kills."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import psutil
from sqlalchemy import func, select, update

from engine.at_rest import header, keys
from engine.jobs.models.cache import ModelCache
from engine.jobs.worker import launch, slots
from engine.jobs.worker.lock import ProcessLock
from engine.jobs.worker.sharing import Helper
from engine.jobs.worker.task import Task
from engine.jobs.worker.worker import shared
from engine.store import queue
from engine.store.database.schema import jobs, leases, spans
from engine.store.database.schema import shards as table
from engine.store.disk.encryption import encryption
from engine.workspace import open_workspace
from tests import postgres
from tests.jobs.conftest import PATIENCE, wait

PASSPHRASE = "correct horse battery"
ENCRYPTED = "encrypted"


def command(folder):
    """Return the command of a worker whose shards are small."""
    return [sys.executable, "-m", "tests.jobs.sharing_worker", "--workspace", str(folder.path)]


@contextmanager
def kept_in(kind, path, monkeypatch, *, starts=False):
    """Yield an open workspace: `sqlite`, `postgresql` or `encrypted`; no worker of it starts by itself but where asked.

    Its worker's shards are as small as the environment says (`tests.jobs.sharing_worker`).
    """
    monkeypatch.setattr(launch, "worker_command", command)
    if kind == ENCRYPTED:
        encryption.encrypt(header.passphrase(PASSPHRASE, new=True), path, "tester")
    else:
        postgres.kept_in(kind, path)
    opened = open_workspace(path, "tester")
    if not starts:
        monkeypatch.setattr(opened.session, "_start_worker", None)
    try:
        yield opened
    finally:
        opened.jobs.stop_worker()
        opened.close()
        keys.drop(path)


def without_jobs(workspace):
    """Remove what an import has queued."""
    with workspace.session.db.write() as connection:
        connection.execute(jobs.delete())


def claimed(workspace, worker="w1"):
    """Have a worker of this process take the job that waits; return its row."""
    with workspace.session.db.write() as connection:
        queue.beat(connection, worker, "here")
        return queue.claim(connection, "heavy", worker)


def task_of(workspace, row, helped, leaving=lambda: False):
    """Return a job's task; others may help where `helped`."""
    crew = SimpleNamespace(count=3, processes=1, sees_workspace=True, tend=lambda: None)
    return Task(workspace, row, ModelCache(), leaving, crew if helped else None)


def taken(workspace, helped, leaving=lambda: False, worker="w1"):
    """Return the job that waits, as this process took it; others may help where `helped`."""
    return task_of(workspace, claimed(workspace, worker), helped, leaving)


def put_back(workspace, task):
    """Have a job wait again, as after a kill: its worker's lease is over."""
    with workspace.session.db.write() as connection:
        connection.execute(update(jobs).where(jobs.c.id == task.id).values(state="queued", worker=None))
        queue.leave(connection, task.worker)


@contextmanager
def helpers(workspace, names=("h0", "h1"), *, most=2, failing=False):
    """Have others help for as long as the block runs; yields the names of those that did something, and what failed.

    Nothing may fail but where it is said.
    """
    leaving, did, said = threading.Event(), set(), set()

    def help_out(name):
        with workspace.session.db.brief() as connection:
            queue.beat(connection, name, name)
        helper = Helper(workspace, name, shared, leaving.is_set, most)
        while not leaving.is_set():
            step = helper.step()
            if step is not None:
                did.add(name)
            if step:
                said.add(step)
            leaving.wait(0.0 if step == "" else 0.02)
        helper.close()

    threads = [threading.Thread(target=help_out, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    try:
        yield did, said
    finally:
        leaving.set()
        for thread in threads:
            thread.join()
    assert failing or not said, said


def left_over(workspace):
    """Return how many shards and pending spans there are."""
    with workspace.session.db.read() as connection:
        return [
            connection.execute(select(func.count()).select_from(table)).scalar_one(),
            connection.execute(select(func.count()).select_from(spans).where(spans.c.origin == "pending")).scalar_one(),
        ]


def children(pid):
    """Return the slots of a worker."""
    with suppress(psutil.NoSuchProcess):
        return [p for p in psutil.Process(pid).children() if slots.SLOT in _command(p)]
    return []


def _command(process):
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def slots_of(folder):
    """Return the living slots of a workspace, whoever their parent is."""
    return [
        p for p in psutil.process_iter() if slots.SLOT in (command := _command(p)) and str(folder.path) in command
    ]  # fmt: skip


def free(folder, seconds=15.0):
    """Say whether a workspace's lock is free, and no slot lives, within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not ProcessLock(folder.worker_lock).held() and not slots_of(folder):
            return True
        time.sleep(0.02)
    return False


def begun(workspace, count, job):
    """Wait until a worker has all its slots and they are at work; return its process id, None where it is over."""
    deadline = time.monotonic() + 120 * PATIENCE
    while time.monotonic() < deadline:
        pid = workspace.jobs.worker_status()["pid"]
        if pid and len(children(pid)) == count - 1:
            with workspace.session.db.read() as connection:
                if connection.execute(select(func.count()).select_from(leases)).scalar_one() >= count:
                    return pid
        if workspace.jobs.get(job).state == "done":
            return None
        time.sleep(0.02)
    raise AssertionError(workspace.folder.worker_log.read_text())


def kill(pid):
    """Kill a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def killed_and_done(workspace, job, monkeypatch, *, seed, rounds, within, seconds=600, after=lambda: None):
    """Have a worker and two slots do a job; kill a slot, then the worker, so many times, and wait until it is done.

    within: seconds after all have begun in which a kill comes. after: called after each kill of a worker, when none of
    its processes lives.
    """
    chance, kills = random.Random(seed), []
    monkeypatch.setenv(slots.ENVIRONMENT, "3")
    monkeypatch.setattr(launch, "PAUSE_SECONDS", 0.0)
    workspace.jobs.ensure_worker()
    for whom in ("slot", "coordinator") * rounds:
        pid = begun(workspace, 3, job)
        time.sleep(chance.uniform(0.0, within))
        victims = [p.pid for p in children(pid)] if pid and whom == "slot" else [pid]
        if pid is None or not victims or workspace.jobs.get(job).state == "done":
            break
        with suppress(ProcessLookupError):
            os.kill(chance.choice(victims), signal.SIGKILL)
            kills.append(whom)
        if whom == "coordinator":
            assert free(workspace.folder), "its slots ended with it"
            after()
            workspace.jobs.ensure_worker()
    assert {"slot", "coordinator"} <= set(kills), "it was over before"
    ended = wait(workspace, job, seconds=seconds)
    assert ended.state == "done", ended.error
