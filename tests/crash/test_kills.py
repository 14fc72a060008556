"""The worker killed (SIGKILL) at random batches: nothing is lost, nothing is made twice.

The method writes a chain: each output depends on all before it, so a batch lost or made twice shows.
`test_surrogate_kills.py` does the same to a method of the product, `test_web_kills.py` to the web process.
"""

import signal
import subprocess
import sys

import pytest

from tests.crash.killing import completed, enqueue, kill_worker, strike_at_random
from tests.jobs.conftest import ROOT

BATCH = 4


@pytest.mark.parametrize(
    "kills",
    [
        3,
        *(
            pytest.param(n, marks=[mark, pytest.mark.timeout(600)])
            for n, mark in ((8, pytest.mark.slow), (20, pytest.mark.long))
        ),
    ],
)
def test_killing_the_worker_changes_nothing(workspace, corpus, kills):
    kill_the_worker(workspace, corpus, kills)


@pytest.mark.slow
def test_killing_the_worker_changes_nothing_on_postgresql(on_postgresql, workspace, corpus):
    kill_the_worker(workspace, corpus, 4)
    assert not workspace.folder.database.exists()
    assert workspace.audit.verify()["ok"]


def kill_the_worker(workspace, corpus, kills):
    """Kill the worker at random batches and see that each run is the one of a worker that lived."""
    count = max(80, 16 * kills)

    def begin(seconds=0.02):
        parameters = {"seconds": seconds, "batch": BATCH}
        return enqueue(workspace, corpus.id, "slow", count=count, seed=5, parameters=parameters)

    expected = completed(begin(0))
    tables, hits = strike_at_random(begin, kill_worker, kills, nudge=workspace.jobs.ensure_worker)
    assert len(hits) == kills
    assert all(0 < committed < count and committed % BATCH == 0 for committed in hits)
    assert all(table == expected for table in tables)
    assert len({row[1] for row in expected[0]}) == expected[2] == count
    # each worker that was cut off left the job to the next, which said so; so does one killed after the last record
    assert workspace.folder.worker_log.read_text().count("recovered 1 job(s)") >= kills


@pytest.mark.slow
def test_a_kill_during_an_import_leaves_nothing_on_postgresql(on_postgresql, workspace):
    kill_an_import(workspace)


def test_a_kill_during_an_import_leaves_nothing(workspace):
    kill_an_import(workspace)


def kill_an_import(workspace):
    """The importing process dies after the record table is written and before the corpus exists."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from engine.store.corpora import importing\n"
        "from engine.store.store import Store\n"
        "from tests.store.conftest import MAPPING, made_up\n"
        "store = Store(Path(sys.argv[1]))\n"
        "importing.keep = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.corpora.import_table(made_up(), MAPPING, name='x')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(workspace.path)], cwd=ROOT, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(list((workspace.path / "corpora").iterdir())) == 1
    from engine.store.store import Store

    assert Store(workspace.path).corpora.all() == []
    assert list((workspace.path / "corpora").iterdir()) == []
