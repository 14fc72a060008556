"""`worker` on the command line: how many there are, one a machine, and that it ends."""

import json
import subprocess
import sys

import pytest

from engine.__main__ import main
from engine.jobs.worker.lock import ProcessLock
from engine.store.disk.folder import Folder
from engine.store.store import Store
from tests.forked import ROOT


@pytest.fixture
def folder(tmp_path):
    """Return a workspace's folder."""
    Store(tmp_path / "w", actor="tester").close()
    return tmp_path / "w"


def test_it_works_until_it_is_idle_and_says_what_it_was(folder):
    command = [sys.executable, "-m", "engine", "--workspace", str(folder), "worker", "--workers", "3"]
    done = subprocess.run(
        [*command, "--idle-seconds", "0.1"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"workspace": str(folder), "workers": 3, "state": "ended"}
    assert "worker begins" in done.stderr
    assert "slot begins" not in done.stderr, "there was nothing to share"
    assert not ProcessLock(Folder(folder).worker_lock).held()


@pytest.mark.parametrize("count", ["0", "-1", "65"])
def test_a_number_of_workers_that_cannot_be_is_refused(folder, capsys, count):
    assert main(["--workspace", str(folder), "worker", "--workers", count]) == 1
    assert "from 1 to 64" in capsys.readouterr().err


def test_there_is_one_a_machine_and_none_without_a_workspace(folder, tmp_path, capsys):
    lock = ProcessLock(Folder(folder).worker_lock)
    assert lock.acquire()
    assert main(["--workspace", str(folder), "worker"]) == 1
    assert "already" in capsys.readouterr().err
    lock.release()
    assert main(["--workspace", str(tmp_path / "none"), "worker"]) == 1
    assert "no workspace" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
