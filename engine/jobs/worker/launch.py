"""Starting the worker, looking after it, stopping it.

The worker is its own process in its own session, so it outlives the process that started it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Lock
from typing import TypedDict

from engine.assets import ROOT
from engine.at_rest import keys
from engine.jobs.worker.lock import ProcessLock
from engine.store.disk.folder import Folder, file_errors

PAUSE_SECONDS = 1.0  # between two workers that one process starts
START_SECONDS = 60.0  # a worker that was started may take this long to take its lock
STALE_SECONDS = 30.0  # heartbeat age from which a worker counts as not answering

KEY_FROM_STDIN = "--key-from-stdin"
"""Tells a worker that the key of its encrypted workspace comes through the pipe it inherits."""

_started: dict[str, tuple[float, subprocess.Popen[bytes]]] = {}
_guard = Lock()

PATIENT = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that wait give their core away: on a machine with other work, training is up to twenty times faster so."""
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def ensure_worker(folder: Folder) -> bool:
    """Start the workspace's worker unless one is at work; return whether one was started."""
    with _guard:
        known = _started.get(str(folder.path))
        ended = known is None or known[1].poll() is not None  # poll also collects it
        if ProcessLock(folder.worker_lock).held():
            return False
        if known is not None and time.monotonic() - known[0] < (PAUSE_SECONDS if ended else START_SECONDS):
            return False
        turn = ProcessLock(folder.worker_lock.with_suffix(".starting"))
        if not turn.acquire():  # another process is starting one at this moment
            return False
        try:
            if ProcessLock(folder.worker_lock).held() or _is_starting(folder, turn):
                return False
            started = _start(folder)
            turn.name_owner(started.pid)
        finally:
            turn.release()
        _started[str(folder.path)] = (time.monotonic(), started)
        return True


def _is_starting(folder: Folder, turn: ProcessLock) -> bool:
    """Return whether the worker that some process started last lives and has not taken its lock yet."""
    pid = turn.owner()
    if pid is None or pid == ProcessLock(folder.worker_lock).owner():
        return False
    recent = time.time() - turn.path.stat().st_mtime < START_SECONDS
    return recent and _is_worker(pid) and not _has_ended(pid)


def _has_ended(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return True


class Detached(TypedDict, total=False):
    """How a process is started so that it outlives this one; the first for POSIX, the second for Windows."""

    start_new_session: bool
    creationflags: int


class WorkerStatus(TypedDict):
    """Whether a worker lives, its process, the age of its heartbeat, None without one, and whether that is fresh."""

    alive: bool
    pid: int | None
    heartbeat_age_seconds: float | None
    answering: bool


def worker_status(folder: Folder) -> WorkerStatus:
    """Return `alive`, `pid`, `heartbeat_age_seconds` (None without one) and `answering`."""
    lock = ProcessLock(folder.worker_lock)
    alive = lock.held()
    try:
        age: float | None = max(0.0, time.time() - folder.worker_beat.stat().st_mtime)
    except FileNotFoundError:
        age = None
    return {
        "alive": alive,
        "pid": lock.owner() if alive else None,
        "heartbeat_age_seconds": age if alive else None,
        "answering": alive and age is not None and age < STALE_SECONDS,
    }


def stop_worker(folder: Folder, seconds: float = 10.0) -> bool:
    """Ask the worker to leave after its batch, end it if it does not; return whether one was stopped.

    Running jobs stay as they are and resume with the next worker.
    """
    lock = ProcessLock(folder.worker_lock)
    if not lock.held():
        return _stop_starting(folder, seconds)
    pid = lock.owner()
    if pid is None or not _is_worker(pid):
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while lock.held():
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
            deadline = float("inf")
        time.sleep(0.05)
    _stop_starting(folder, seconds)
    return True


def _stop_starting(folder: Folder, seconds: float) -> bool:
    """End the process this one started, if it has not ended: it may not hold the lock yet."""
    with _guard:
        known = _started.pop(str(folder.path), None)
    if known is None or known[1].poll() is not None:
        return False
    known[1].terminate()
    with suppress(subprocess.TimeoutExpired):
        known[1].wait(timeout=seconds)
    return True


def worker_command(folder: Folder) -> list[str]:
    """Return the command that starts the worker of a workspace."""
    return [sys.executable, "-m", "engine.cli.worker", "--workspace", str(folder.path)]


def worker_environment() -> dict[str, str]:
    """Return the environment a worker starts with: this process' own, patient and offline, with the program in it."""
    environment = {**PATIENT, **os.environ, **OFFLINE}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
    return environment


def _start(folder: Folder) -> subprocess.Popen[bytes]:
    detached: Detached = {"start_new_session": True}
    if os.name == "nt":
        detached = {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS, new group
    with file_errors():
        log = os.open(folder.worker_log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        key = keys.of(folder.path)
        try:
            started = subprocess.Popen(
                [*worker_command(folder), *([] if key is None else [KEY_FROM_STDIN])],
                stdin=subprocess.DEVNULL if key is None else subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=worker_environment(),
                cwd=folder.path,
                close_fds=True,
                **detached,
            )
        finally:
            os.close(log)
    if key is not None and started.stdin is not None:
        with suppress(BrokenPipeError), started.stdin as pipe:  # one that ended says in its log why
            key.send(pipe)
    return started


def _is_worker(pid: int) -> bool:
    import psutil

    try:
        return "python" in psutil.Process(pid).name().lower() or pid == os.getpid()
    except psutil.Error:
        return False
