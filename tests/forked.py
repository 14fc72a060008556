"""Workers of tests, forked from one process that has loaded what a worker loads.

A worker takes some seconds of processor to import torch, spaCy and the rest, and the tests start hundreds of them.
Here one process imports all that once (`main`), starts no thread and opens no file, and forks a child for each worker
that a test's own process starts. The child gets the command, environment, folder and log that `subprocess` would have
given it. Tests of how a worker is started (`REAL`), and every command line and web process, start real ones.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REAL = {"tests/crash", "tests/browser/test_first_release.py", "tests/browser/test_folder_path.py",
        "tests/browser/test_rounds_by_files.py", "tests/browser/test_whole_path.py", "tests/cli/test_command_line.py",
        "tests/cli/test_encryption.py", "tests/cli/test_working.py", "tests/jobs/test_launch.py",
        "tests/jobs/test_shards.py", "tests/jobs/test_worker.py",
        "tests/jobs/test_worker_environment.py"}  # fmt: skip
MAY_DIFFER = ("UNDERSTUDY_", "PYTEST_CURRENT_TEST",
              "KMP_", "TORCHINDUCTOR_CACHE_DIR", "MPLBACKEND")  # set by libraries as they are imported  # fmt: skip
NETGUARD = ROOT / "tests" / "netguard"
LOADED = ("torch", "spacy", "presidio_analyzer", "transformers", "sentence_transformers", "sklearn.linear_model",
          "sklearn.manifold", "sklearn.neighbors", "faker", "opendp.prelude", "pyarrow.dataset", "pyarrow.parquet",
          "scipy.signal", "umap",
          "engine.dp.noise.private", "engine.methods.surrogate", "engine.pii.detect.detector",
          "engine.examine.battery", "engine.examine.examination")  # fmt: skip
PLAIN = "Ms Hvalros said on the phone that she would come to the house by the river on Monday, 3 May 2021."


def starts_real(path: Path) -> bool:
    """Say whether a test file's workers are processes of their own from the start."""
    place = path.relative_to(ROOT).as_posix()
    return any(place == one or place.startswith(one + "/") for one in REAL)


class Forked:
    """A worker that was forked, as far as `subprocess.Popen` is used of it."""

    def __init__(self, server: Server, pid: int) -> None:
        self.server, self.pid, self.returncode = server, pid, None

    def poll(self) -> int | None:
        """Return how it ended, None while it lives."""
        if self.returncode is None:
            self.returncode = self.server.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended, once it has."""
        deadline = time.monotonic() + (1e9 if timeout is None else timeout)
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            time.sleep(0.02)
        return int(self.returncode or 0)

    def terminate(self) -> None:
        """Ask it to leave."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)


class Server:
    """The process that forks, and the line to it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked", str(theirs.fileno())],
                cwd=ROOT, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self.line = ours.makefile("rwb")

    def ask(self, request: dict[str, Any]) -> Any:
        """Send a request and return its answer."""
        self.line.write(json.dumps(request).encode() + b"\n")
        self.line.flush()
        return json.loads(self.line.readline())

    def serves(self, environment: dict[str, str]) -> bool:
        """Say whether a child would have what a process with this environment has: modules were loaded under ours."""
        own, others = unguarded(self.environment), unguarded(environment)
        names = {name for name in own.keys() | others.keys() if not name.startswith(MAY_DIFFER)}
        return all(own.get(name) == others.get(name) for name in names)

    def close(self) -> None:
        """End it, and the workers that still live."""
        self.line.close()
        self.process.wait(20)


def main(line: int) -> None:
    """Load what workers load, then fork one for each request until the other end closes."""
    import importlib

    from engine.cli import worker

    worker.handlers()
    for name in LOADED:
        importlib.import_module(name)
    read()
    ended: dict[int, int] = {}
    living: set[int] = set()

    def collect(*_: object) -> None:
        for pid in list(living):
            with suppress(ChildProcessError):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    living.discard(pid)
                    ended[pid] = os.waitstatus_to_exitcode(status)

    signal.signal(signal.SIGCHLD, collect)
    connection = socket.socket(fileno=line)
    asked = connection.makefile("rwb")
    for request in asked:
        wanted = json.loads(request)
        if "poll" in wanted:
            collect()
            answer = ended.get(wanted["poll"])
        else:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            answer = os.fork()
            if answer == 0:
                become(wanted, connection, asked)
            living.add(answer)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        asked.write(json.dumps(answer).encode() + b"\n")
        asked.flush()
    for pid in list(living):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def read() -> None:
    """Read what a worker reads of the program's own files and then keeps: lists, expressions, packs, compiled models.

    Threads that compute would not survive the fork, so there is one; a child has as many as it would have had.
    """
    import gc

    from engine.jobs.models.cache import ModelCache
    from engine.models.builtin.language_model import load_builtin_generator
    from engine.models.contracts import Sampling
    from engine.models.threads import one_thread
    from engine.pii.detect.settings import DetectorSettings
    from engine.pii.surrogates.pools import pools

    before = threads()
    with one_thread():
        models = ModelCache()
        models.detector(DetectorSettings()).detect([PLAIN])
        models.embedder().embed([PLAIN])
        load_builtin_generator().generate([PLAIN], Sampling(max_new_tokens=2))
        pools()
    if threads() > before:
        raise AssertionError(f"{threads() - before} threads began to compute here, and a child would lack them")
    gc.collect()
    gc.freeze()


def threads() -> int:
    """Return how many threads this process has, 0 where the system does not say so in a folder."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else 0


def become(wanted: dict[str, Any], connection: socket.socket, asked: Any) -> None:
    """Be the process that was asked for, and end with it."""
    from engine.cli import worker

    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        log = os.open(wanted["log"], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.close(connection.fileno())
        os.environ.clear()
        os.environ.update(wanted["environment"])
        os.chdir(wanted["folder"])
        if guarded(os.environ):
            runpy.run_path(str(NETGUARD / "sitecustomize.py"))
        reseed()
        what, *arguments = wanted["command"][2:]
        sys.argv = [what, *arguments]
        if what == worker.__name__:
            code = worker.main(arguments)
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
            code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  what a process of its own would have printed
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def guarded(environment: Mapping[str, str]) -> bool:
    """Say whether a process with this environment would be watched for connections from its start."""
    return str(NETGUARD) in environment.get("PYTHONPATH", "").split(os.pathsep)


def unguarded(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without that guard, which a child is given by itself."""
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", str(NETGUARD))]
    return {**environment, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def start(server: Server, folder: Any, real: Any) -> Any:
    """Start the worker of a workspace: forked where its command is a module and its environment is the server's.

    Whoever is handed a key through a pipe is a process of its own.
    """
    from engine.at_rest import keys
    from engine.jobs.worker import launch

    environment = launch.worker_environment()
    command = launch.worker_command(folder)
    plain = command[:2] == [sys.executable, "-m"] and keys.of(folder.path) is None
    if not plain or not server.serves(environment):
        return real(folder)
    wanted = {"command": command, "environment": environment, "folder": str(folder.path), "log": str(folder.worker_log)}
    return Forked(server, server.ask(wanted))


def reseed() -> None:
    """Give each child random states of its own, as a new process has."""
    import numpy as np
    import torch

    random.seed()
    np.random.seed()
    torch.seed()


if __name__ == "__main__":
    main(int(sys.argv[1]))
