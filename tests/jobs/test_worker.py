"""The worker as a real process: starts, reports, cancels, resumes, fails with a sentence, leaves."""

import os
import stat
import subprocess
import sys
import time

import pytest

from engine.errors import UserError
from tests.jobs.conftest import wait

FAST = {"seconds": 0.001, "batch": 10}


def test_a_run_is_made_by_another_process_and_shows_itself(workspace, corpus):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=45, parameters=FAST, seed=7)
    job = wait(workspace, workspace.runs.get(run_id).job_id)
    assert job.state == "done", job.error
    assert (job.done, job.total, job.stage, job.seconds_left) == (45, 45, "write", 0.0)
    assert 1 <= len(job.sample) <= 5
    run = workspace.runs.get(run_id)
    assert (run.state, run.kept, run.funnel) == ("done", 45, {"made": 45, "kept": 45})
    assert list(workspace.runs.synthetic(run_id, limit=100)["record_id"]) == [f"s-{i:06d}" for i in range(1, 46)]
    status = workspace.jobs.worker_status()
    assert status["alive"]
    assert status["pid"] != os.getpid()
    assert os.getsid(status["pid"]) != os.getsid(0)
    assert os.getpriority(os.PRIO_PROCESS, status["pid"]) >= 10
    holdout = set(workspace.corpora.records(corpus.id, split="holdout", limit=100)["record_id"])
    sources = {workspace.runs.lineage(run_id, f"s-{i:06d}") for i in range(1, 46)}
    assert not sources & holdout
    assert stat.S_IMODE(workspace.folder.worker_log.stat().st_mode) == 0o600


def test_near_duplicates_are_counted_after_an_import(workspace, corpus):
    job = workspace.jobs.all(active_only=False)[-1]
    assert job.kind == "profile"
    assert wait(workspace, job.id).state == "done"
    assert workspace.corpora.statistics(corpus.id).near_duplicates_across_split is not None


def test_the_same_seed_gives_the_same_run_and_another_another(workspace, corpus):
    texts = []
    for seed in (1, 1, 2):
        run_id = workspace.jobs.synthesize(corpus.id, "slow", count=12, parameters=FAST, seed=seed)
        wait(workspace, workspace.runs.get(run_id).job_id)
        texts.append(list(workspace.runs.synthetic(run_id)["text"]))
    assert texts[0] == texts[1] != texts[2]


def test_a_cancelled_run_stops_within_a_batch_and_resumes_to_the_same_end(workspace, corpus):
    options = {"count": 60, "parameters": {"seconds": 0.02, "batch": 5}, "seed": 3}
    run_id = workspace.jobs.synthesize(corpus.id, "slow", **options)
    job_id = workspace.runs.get(run_id).job_id
    wait(workspace, job_id, reach=5)
    assert workspace.jobs.cancel(run_id)
    assert wait(workspace, job_id, seconds=15).state == "cancelled"
    kept = workspace.runs.get(run_id).kept
    assert 5 <= kept < 60
    assert workspace.runs.get(run_id).state == "cancelled"
    assert not workspace.jobs.cancel(run_id)
    job = wait(workspace, workspace.jobs.resume(run_id))
    assert job.state == "done"
    whole = workspace.jobs.synthesize(corpus.id, "slow", **{**options, "parameters": {"seconds": 0, "batch": 5}})
    wait(workspace, workspace.runs.get(whole).job_id)
    assert workspace.runs.synthetic(run_id, limit=100).equals(workspace.runs.synthetic(whole, limit=100))
    with pytest.raises(UserError, match="nothing to resume"):
        workspace.jobs.resume(run_id)


def test_a_queued_job_is_cancelled_at_once(workspace, corpus):
    first = workspace.jobs.synthesize(corpus.id, "slow", count=100, parameters={"seconds": 0.05})
    second = workspace.jobs.synthesize(corpus.id, "slow", count=100)
    assert workspace.jobs.cancel(second)
    assert workspace.runs.get(second).state == "cancelled"
    assert workspace.jobs.cancel(first)


def test_a_failure_keeps_what_was_made_and_says_nothing_of_the_data(workspace, corpus):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=30, parameters={**FAST, "fail_at": 25})
    job = wait(workspace, workspace.runs.get(run_id).job_id)
    assert job.state == "failed"
    assert "ValueError" in job.error
    assert "Resume" in job.error
    assert "Zanzibarnacle" not in job.error
    log = workspace.folder.worker_log.read_text()
    assert "slow_method.py:" in log
    assert "Zanzibarnacle" not in log
    assert workspace.runs.get(run_id).kept == 20
    assert workspace.runs.get(run_id).error == job.error


@pytest.mark.slow
def test_a_job_that_kills_its_worker_each_time_is_given_up(workspace, corpus):
    run_id = workspace.jobs.synthesize(
        corpus.id, "slow", count=30, parameters={**FAST, "fail_at": 0, "fail_with": "die"}
    )
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=120)
    assert job.state == "failed"
    assert "5 times" in job.error
    assert workspace.runs.get(run_id).state == "failed"


def test_deleting_the_corpus_stops_its_run(workspace, corpus):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=400, parameters={"seconds": 0.02})
    wait(workspace, workspace.runs.get(run_id).job_id, reach=5)
    workspace.corpora.delete(corpus.id)
    time.sleep(0.5)
    status = workspace.jobs.worker_status()
    assert status["alive"]
    deadline = time.monotonic() + 10
    while "was deleted" not in workspace.folder.worker_log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    with workspace.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM synthetic").scalar() == 0


def test_there_is_one_worker(workspace, corpus):
    from engine.jobs.worker import launch

    workspace.jobs.ensure_worker()
    deadline = time.monotonic() + 20
    while not workspace.jobs.worker_status()["alive"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = subprocess.run(launch.worker_command(workspace.folder), timeout=60, capture_output=True, check=False)
    assert second.returncode == 0
    assert b"worker begins" not in second.stderr


def test_a_worker_that_begins_is_not_told_by_the_heartbeat_of_the_one_before(workspace, corpus):
    workspace.jobs.stop_worker()
    beat = workspace.folder.worker_beat
    beat.touch()
    os.utime(beat, (0, 0))
    program = (
        "import sys; from engine.jobs.worker import launch, worker; "
        "answers = lambda worker: print(launch.worker_status(worker.store.folder)['answering']); "
        "worker.Worker.work = lambda self: (answers(self), self.leaving.set()); "
        "worker.main(['--workspace', sys.argv[1]], dict)"
    )
    command = [sys.executable, "-c", program, str(workspace.folder.path)]
    said = subprocess.run(command, timeout=60, capture_output=True, check=True, text=True)
    assert said.stdout.split() == ["True"]


def test_stopping_the_worker_leaves_its_job_to_the_next(workspace, corpus):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=60, parameters={"seconds": 0.02, "batch": 5})
    job_id = workspace.runs.get(run_id).job_id
    wait(workspace, job_id, reach=5)
    assert workspace.jobs.stop_worker()
    assert not workspace.jobs.worker_status()["alive"]
    with workspace.session.db.read() as connection:
        assert connection.exec_driver_sql(f"SELECT state FROM jobs WHERE id = '{job_id}'").scalar() == "queued"
    assert wait(workspace, job_id).state == "done"
    assert workspace.runs.get(run_id).kept == 60


class TestLeaving:
    """A worker with nothing to do."""

    @pytest.fixture
    def idle_seconds(self):
        return 0.5

    def test_it_leaves_and_comes_back_when_needed(self, workspace, corpus):
        for _ in range(2):
            run_id = workspace.jobs.synthesize(corpus.id, "slow", count=5, parameters=FAST)
            assert wait(workspace, workspace.runs.get(run_id).job_id).state == "done"
            deadline = time.monotonic() + 20
            while workspace.jobs.worker_status()["alive"]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
