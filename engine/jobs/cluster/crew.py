"""Ray, started on this machine or joined where RAY_ADDRESS says, and helpers of this worker that compute there.

A Ray that is started here listens on the loopback address alone, asks for a token of its own, has no dashboard, tells
nobody of its use and spills nothing to a disk. One that is joined is looked after by whoever runs it.

Privacy posture: an encrypted workspace refuses it, since texts lie in Ray's memory in plain.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from engine.at_rest import keys
from engine.errors import StorageError, UserError
from engine.jobs.cluster.bulk import Answer, Bulk
from engine.jobs.worker.sharing import Helper, Stop, cores
from engine.jobs.worker.slots import helping
from engine.models.cancel import Cancelled
from engine.store.disk.place import working_place

if TYPE_CHECKING:
    from types import ModuleType

    from engine.store.store import Store

ADDRESS = "RAY_ADDRESS"
WAIT_SECONDS = 0.25
JOIN_SECONDS = 5.0
MEMORY, LEAST_MEMORY = 256 << 20, 80 << 20  # of shared memory that texts on their way take
SHARED_MEMORY = Path("/dev/shm")
PREFIX = "understudy-ray-"
LOCAL = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # which has it listen on the loopback address on any system
    "RAY_AUTH_MODE": "token",
    "RAY_enable_metrics_collection": "0",
}


class ClusterError(StorageError):
    """A process of Ray failed; the message holds class and code positions."""


class RayCrew:
    """Helpers that compute in processes of Ray; started when there is something to share.

    count: of workers in all, this one included. processes: that each may use. sees_workspace: whether they read it.
    """

    processes = 1
    sees_workspace = False

    def __init__(self, store: Store, workers: int, left: Callable[[str], None], log: Callable[[str], None]) -> None:
        """Start nothing yet.

        Args:
            store: the workspace. workers: in all; 1 means as many as there are processors. left: told the name of a
            helper that ended. log: writes a line.
        """
        self._store, self._left, self._log = store, left, log
        self.count = workers if workers > 1 else max(2, cores())
        self._asked = workers > 1
        self._leaving = threading.Event()
        self._threads: list[tuple[str, threading.Thread]] = []
        self._ray: ModuleType | None = None
        self._folder: Path | None = None

    def tend(self) -> None:
        """Start what is missing; called from the main thread.

        Raises:
            UserError: Ray is not installed or cannot be used here.
        """
        if self._ray is not None:
            return
        if find_spec("ray") is None:
            raise UserError(
                'UNDERSTUDY_EXECUTOR=ray needs the package ray: pip install -e ".[cluster]", or unset it to share work '
                "among workers of this program"
            )
        if keys.of(self._store.folder.path) is not None:
            raise UserError(
                "An encrypted workspace is not computed by Ray, whose memory holds texts in plain; unset "
                "UNDERSTUDY_EXECUTOR to share work among workers of this program."
            )
        self._ray = self._begun()
        if not self._asked and os.environ.get(ADDRESS):
            self.count = 1 + max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        for _ in range(self.count - 1):
            self._start(self._ray)

    def close(self) -> None:
        """End the helpers, and the Ray that was started here."""
        self._leaving.set()
        for name, thread in self._threads:
            thread.join(timeout=JOIN_SECONDS)
            self._left(name)
        self._threads.clear()
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _begun(self) -> ModuleType:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        local = not os.environ.get(ADDRESS)
        if local:
            self._prepare()
        import ray

        quiet = {"log_to_driver": False, "configure_logging": False}
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            if local:
                ray.init(
                    num_cpus=self.count - 1, include_dashboard=False, object_store_memory=_memory(),
                    _temp_dir=str(self._folder), _system_config={"automatic_object_spilling_enabled": False}, **quiet,
                )  # fmt: skip
            else:
                ray.init(**quiet)
        except Exception as error:  # noqa: BLE001  whatever Ray meets, its messages are not ours to show
            self._log(f"ray: {type(error).__name__}")
            raise UserError(
                "Ray could not be started or joined; see RAY_ADDRESS, or unset UNDERSTUDY_EXECUTOR to share work among "
                "workers of this program."
            ) from None
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        found: ModuleType = ray
        return found

    def _prepare(self) -> None:
        _remove_left(Path(tempfile.gettempdir()))
        self._folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))  # short: sockets lie in it
        token = self._folder / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        os.environ.update({**LOCAL, "RAY_AUTH_TOKEN_PATH": str(token)})

    def _start(self, ray: ModuleType) -> None:
        from engine.jobs.cluster.remote import kinds

        name = f"{os.getpid()}-{secrets.token_hex(8)}"
        process = ray.remote(Bulk).options(num_cpus=1, max_restarts=-1, max_task_retries=-1, name=f"understudy {name}")
        handle = process.remote()

        def ask(stop: Stop, name: str, *arguments: object) -> object:
            reference = getattr(handle, name).remote(*arguments)
            while not ray.wait([reference], timeout=WAIT_SECONDS)[0]:
                if stop():
                    raise Cancelled("cancelled while Ray computed")
            answer: Answer = ray.get(reference)
            if "failed" in answer:
                raise ClusterError(answer["failed"])
            return answer["found"]

        helper = Helper(self._store, name, lambda: kinds(ask), self._leaving.is_set, 1)
        place = working_place(self._store.folder, self._store.session.key)
        arguments = (helper, place, self._leaving, self._log)
        thread = threading.Thread(target=helping, args=arguments, name="ray helper", daemon=True)
        thread.start()
        self._threads.append((name, thread))


def _remove_left(place: Path) -> None:
    """Remove the folders of Rays whose worker was killed: logs and a token that nobody asks for any more."""
    for folder in place.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _memory() -> int:
    """Return how much shared memory Ray takes for texts on their way.

    Raises:
        UserError: there is too little, and Ray would take a file on a disk in its place.
    """
    if not SHARED_MEMORY.is_dir():
        return MEMORY
    wanted = min(MEMORY, shutil.disk_usage(SHARED_MEMORY).free // 2)
    if wanted < LEAST_MEMORY:
        raise UserError(
            f"Ray needs {2 * LEAST_MEMORY >> 20} MB of shared memory (/dev/shm), else it would keep texts in a file"
        )
    return wanted
