"""Slots: further workers on the worker's machine, processes of its own that help with the jobs it shares.

A slot ends with its worker, however that ends: on Linux the system kills it, hung or not; besides it ends when the pipe
that it inherits closes. There it inherits the worker's lock too, so that a free lock says that nobody is at work any
more; elsewhere, where a hung slot could keep it, it does not.

Privacy posture: an encrypted workspace's key goes through the inherited pipe; the log is the worker's.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from engine.at_rest import keys
from engine.errors import StorageError
from engine.jobs.worker import cards
from engine.jobs.worker.launch import KEY_FROM_STDIN, worker_command, worker_environment
from engine.jobs.worker.lock import ProcessLock
from engine.jobs.worker.sharing import Helper, Kinds, cores
from engine.jobs.worker.task import frames
from engine.store import queue
from engine.store.disk.folder import Folder
from engine.store.disk.place import working_place
from engine.store.store import Store

SLOT, OF, WORKERS = "--slot", "--of", "--workers"
ENVIRONMENT = "UNDERSTUDY_WORKERS"
MOST = 64
MOST_ENDED = 8  # slots that ended by themselves, after which a worker starts no more
END_SECONDS = 5.0
POLL_SECONDS = 0.25
RENEW_SECONDS = queue.LEASE_SECONDS / 6
STUCK_SECONDS = 600.0  # without a sign of its work after which a slot no longer holds its shard
LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1  # prctl(2)


def wanted() -> int:
    """Return how many workers this machine is to have for one workspace, the first included; 1 unless it is said."""
    text = os.environ.get(ENVIRONMENT, "").strip()
    return min(MOST, max(1, int(text))) if text.isdecimal() else 1


@dataclass
class Slots:
    """The slots of a worker, started when there is something to share.

    folder: the workspace's. count: workers in all, the one that starts them included. lock: that it holds.
    left: told the name of one that ended. sees_workspace: whether they read it, which they do.
    """

    folder: Folder
    count: int
    lock: ProcessLock
    left: Callable[[str], None]
    sees_workspace: bool = True
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _ended: int = 0

    @property
    def processes(self) -> int:
        """How many processes each worker may use on this machine."""
        return max(1, cores() // self.count)

    def tend(self) -> None:
        """Start what is missing; called from the main thread, with which the system ends them."""
        for name, process in list(self._running.items()):
            if process.poll() is not None:
                del self._running[name], self._numbers[name]
                self._ended += 1
                self.left(name)
        while len(self._running) < self.count - 1 and self._ended < MOST_ENDED:
            name = f"{os.getpid()}-{secrets.token_hex(8)}"
            self._numbers[name] = min(set(range(1, self.count)) - set(self._numbers.values()))
            self._running[name] = self._start(name)

    def close(self) -> None:
        """End them all."""
        for process in self._running.values():
            if process.stdin is not None:
                process.stdin.close()
        deadline = time.monotonic() + END_SECONDS
        for name, process in self._running.items():
            try:
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self.left(name)
        self._running.clear()
        self._numbers.clear()

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        key = keys.of(self.folder.path)
        command = [*worker_command(self.folder), SLOT, name, OF, str(os.getpid()), WORKERS, str(self.count)]
        lock = self.lock.descriptor if LINUX else None
        started = subprocess.Popen(
            [*command, *([] if key is None else [KEY_FROM_STDIN])],
            stdin=subprocess.PIPE,
            env={
                **worker_environment(),
                **cards.dealt(self._numbers[name], self.count),
                "OMP_NUM_THREADS": str(self.processes),
            },
            close_fds=True,
            pass_fds=() if lock is None else (lock,),
        )
        if key is not None and started.stdin is not None:
            with suppress(BrokenPipeError):  # one that ended says in the log why
                key.send(started.stdin)
        return started


def end_with(worker: int) -> None:
    """Have this process end with the worker that started it.

    Args:
        worker: its process id.
    """
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != worker:  # it died before that was said
        os._exit(1)


def _until_closed() -> None:
    with suppress(OSError):
        while os.read(0, 1):
            pass
    os._exit(0)


def serve(
    store: Store, name: str, count: int, kinds: Kinds, leaving: threading.Event, log: Callable[[str], None]
) -> None:
    """Help until the worker ends or `leaving` is set; what the pipe held for this process is read before.

    Args:
        store: the workspace. name: of this slot. count: of the machine's workers. kinds: of jobs that are shared.
        log: writes a line.
    """
    threading.Thread(target=_until_closed, name="end", daemon=True).start()
    helper = Helper(store, name, kinds, leaving.is_set, cores() // count)
    place = working_place(store.folder, store.session.key)
    helping(helper, place, leaving, log)


def helping(helper: Helper, place: str, leaving: threading.Event, log: Callable[[str], None]) -> None:
    """Help until `leaving` is set, under a lease of the helper's own.

    Args:
        helper: it is closed at the end. place: where it works. log: writes a line.
    """
    with helper.store.session.db.brief() as connection:
        queue.beat(connection, helper.name, place)
    threading.Thread(target=_beat, args=(helper, place, leaving, log), name="beat", daemon=True).start()
    while not leaving.is_set():
        try:
            said = helper.step()
        except StorageError as error:
            said = None
            log(f"slot: {frames(error)}")
            leaving.wait(2.0)
        if said:
            log(f"slot: {said}")
        elif said is None:
            leaving.wait(POLL_SECONDS)
    helper.close()


def _beat(helper: Helper, place: str, leaving: threading.Event, log: Callable[[str], None]) -> None:
    """Renew a slot's lease for as long as it gets on."""
    while not leaving.wait(RENEW_SECONDS):
        if time.monotonic() - helper.alive > STUCK_SECONDS:
            continue
        try:
            with helper.store.session.db.brief() as connection:
                queue.beat(connection, helper.name, place)
        except StorageError as error:  # the next beat tries again, long before the lease is over
            log(f"lease: {frames(error)}")
