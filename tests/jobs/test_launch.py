"""Starting the worker from several processes at once."""

from __future__ import annotations

import multiprocessing
import os
import time

from engine.jobs.worker import launch
from engine.jobs.worker.lock import ProcessLock
from engine.store.disk.folder import Folder
from tests import forked


def _ask(path, ready, answers):
    launch._started.clear()  # a forked child knows nothing of its own
    ready.wait()
    answers.put(launch.ensure_worker(Folder(path)))


def test_six_processes_at_once_start_one_worker(tmp_path):
    """Each would load the whole program only to find the lock taken."""
    fork = multiprocessing.get_context("fork")
    ready, answers = fork.Barrier(6), fork.Queue()
    folder = Folder(tmp_path)
    children = [fork.Process(target=_ask, args=(tmp_path, ready, answers)) for _ in range(6)]
    try:
        for child in children:
            child.start()
        started = [answers.get(timeout=60) for _ in children]
        assert sorted(started) == [False] * 5 + [True]
        assert launch.ensure_worker(folder) is False, "nor does one that comes while it is starting"
    finally:
        for child in children:
            child.join()
        pid = ProcessLock(folder.worker_lock.with_suffix(".starting")).owner()
        assert pid is not None
        os.kill(pid, 9)


def test_a_worker_that_died_while_starting_does_not_keep_the_next_one_away(tmp_path):
    folder = Folder(tmp_path)
    turn = ProcessLock(folder.worker_lock.with_suffix(".starting"))
    assert turn.acquire()
    gone = multiprocessing.get_context("fork").Process(target=time.sleep, args=(0,))
    gone.start()
    gone.join()
    turn.name_owner(gone.pid)
    turn.release()
    assert launch.ensure_worker(folder)
    assert launch.stop_worker(folder)


def test_what_libraries_put_into_the_environment_does_not_cost_the_tests_their_forked_workers():
    """A real one takes ten times as long; one variable, set by an import, made all later ones real."""
    server = object.__new__(forked.Server)
    server.environment = {"LANG": "C"}
    libraries = {"KMP_INIT_AT_FORK": "FALSE", "MPLBACKEND": "Agg", "TORCHINDUCTOR_CACHE_DIR": "/tmp/x"}
    assert server.serves({"LANG": "C", **libraries})
    assert not server.serves({"LANG": "C", "HF_ENDPOINT": "http://127.0.0.1:9"})
