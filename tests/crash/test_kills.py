"""Worker and web process killed (SIGKILL) at random batches: nothing is lost, nothing is made twice."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from engine.jobs import launch
from tests.jobs.conftest import ROOT, wait

COUNT, BATCH = 160, 4
SLOWLY = {"seconds": 0.02, "batch": BATCH}


@pytest.fixture
def web(workspace):
    """Start web processes; all are ended when the test is over."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.web", str(workspace.path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout.readline().strip() == b"ready"
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def done(workspace, job_id):
    """Return how much is committed, without waking a worker."""
    with workspace.db.read() as connection:
        row = connection.exec_driver_sql(f"SELECT done, state FROM jobs WHERE id = '{job_id}'").one()
    return row.done, row.state


def kill_worker(workspace):
    """Kill the worker that holds the lock and return its process id."""
    pid = workspace.worker_status()["pid"]
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    return pid


def reach(workspace, job_id, amount, seconds=60):
    """Wait until so much is committed; keeps a worker at work."""
    deadline = time.monotonic() + seconds
    while done(workspace, job_id)[0] < amount and done(workspace, job_id)[1] != "done":
        assert time.monotonic() < deadline, workspace.folder.worker_log.read_text()
        workspace.ensure_worker()
        time.sleep(0.01)


def finished(workspace, corpus, seed, parameters=SLOWLY):
    """Make a run without interruption and return its table and funnel."""
    run_id = workspace.synthesize(corpus.id, "slow", count=COUNT, seed=seed, parameters=parameters)
    wait(workspace, workspace.run(run_id).job_id)
    return table(workspace, run_id)


def table(workspace, run_id):
    with workspace.db.read() as connection:
        rows = connection.exec_driver_sql(
            f"SELECT position, record_id, text, lineage FROM synthetic WHERE run_id = '{run_id}' ORDER BY position"
        ).all()
    run = workspace.run(run_id)
    return [tuple(r) for r in rows], run.funnel, run.kept


def killed_at_random(workspace, corpus, kills, kill, seed=11):
    """Start a run, kill at random batches, and return its table, the job and the kills that hit."""
    rng = random.Random(seed)
    run_id = workspace.synthesize(corpus.id, "slow", count=COUNT, seed=5, parameters=SLOWLY)
    job_id = workspace.run(run_id).job_id
    hits = 0
    for amount in sorted(rng.sample(range(1, COUNT - 2 * BATCH), kills)):
        reach(workspace, job_id, amount)
        time.sleep(rng.random() * 0.05)
        hits += done(workspace, job_id)[1] != "done" and kill()
    job = wait(workspace, job_id)
    return table(workspace, run_id), job, hits


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_killing_the_worker_changes_nothing(workspace, corpus, kills):
    expected = finished(workspace, corpus, 5, {"seconds": 0, "batch": BATCH})
    got, job, hits = killed_at_random(workspace, corpus, kills, lambda: kill_worker(workspace) is not None)
    assert job.state == "done"
    assert hits >= kills * 0.6
    assert got == expected
    assert len(got[0]) == got[2] == COUNT
    assert "recovered 1 job(s)" in workspace.folder.worker_log.read_text()


@pytest.mark.parametrize(
    ("kills", "both"),
    [
        (1, True),
        pytest.param(5, False, marks=[pytest.mark.slow, pytest.mark.timeout(900)]),
        pytest.param(5, True, marks=[pytest.mark.slow, pytest.mark.timeout(900)]),
    ],
)
def test_killing_the_web_process_and_both_changes_nothing(workspace, corpus, web, monkeypatch, kills, both):
    expected = finished(workspace, corpus, 5, {"seconds": 0, "batch": BATCH})
    workspace.stop_worker()
    # From here on only the web processes start workers; this process looks and kills.
    monkeypatch.setattr(launch, "ensure_worker", lambda folder: False)
    processes = [web()]

    def kill():
        processes[-1].kill()
        processes[-1].wait()
        before = done(workspace, job_of(workspace))[0]
        if both:
            assert kill_worker(workspace) is not None
        else:
            # the worker is no child of the page: it goes on while there is no web process at all
            deadline = time.monotonic() + 30
            while done(workspace, job_of(workspace))[0] <= before:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        processes.append(web())
        return True

    got, job, hits = killed_at_random(workspace, corpus, kills, kill, seed=12)
    assert (job.state, hits >= 1) == ("done", True)
    assert got == expected


def job_of(workspace):
    """Return the id of the latest job."""
    with workspace.db.read() as connection:
        return connection.exec_driver_sql("SELECT id FROM jobs ORDER BY seq DESC LIMIT 1").scalar()


def test_a_kill_during_an_import_leaves_nothing(workspace, tmp_path):
    """The importing process dies after the record table is written and before the corpus exists."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from engine.store.service import ServiceStation\n"
        "from tests.store.conftest import MAPPING, made_up\n"
        "store = ServiceStation(Path(sys.argv[1]))\n"
        "ServiceStation._store = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.import_table(made_up(), MAPPING, name='x')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(workspace.path)], cwd=ROOT, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(list((workspace.path / "corpora").iterdir())) == 1
    from engine.store.service import ServiceStation

    assert ServiceStation(workspace.path).corpora() == []
    assert list((workspace.path / "corpora").iterdir()) == []
