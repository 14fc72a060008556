"""Ray as executor: what it computes is what a worker computes, and nothing of it listens, spills or stays."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from engine.at_rest import header, keys
from engine.errors import UserError
from engine.jobs.cluster import crew as cluster
from engine.jobs.cluster.bulk import Bulk
from engine.jobs.cluster.crew import RayCrew
from engine.jobs.tasks import detect, synthesize
from engine.jobs.worker import launch, slots, worker
from engine.models.builtin.language_model import BuiltinGenerator
from engine.store import queue
from engine.store.disk.encryption import encryption
from engine.workspace import open_workspace
from tests.jobs import test_shards
from tests.jobs.conftest import wait
from tests.jobs.sharing import free, kept_in, left_over, taken
from tests.jobs.sharing_worker import CALL, HOLD, RECORDS
from tests.jobs.test_pieces import finish, texts
from tests.jobs.test_shards import imported

NEEDED = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason='pip install -e ".[cluster]"')
SIZE, SHARD = 2_000, 250


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Return a workspace, empty, whose worker is not started by itself."""
    monkeypatch.setenv(RECORDS, str(SHARD))
    monkeypatch.setattr("engine.store.shards.LEAST", SHARD)
    with kept_in("sqlite", tmp_path / "workspace", monkeypatch) as opened:
        yield opened


def detected(workspace, corpus):
    """Detect alone and return the rows."""
    task = test_shards.taken(workspace, corpus)
    detect.run(task)
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, "done")
    return test_shards.found(workspace, corpus)


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.timeout(900)
@NEEDED
def test_detect_and_generate_of_two_thousand_are_what_one_worker_makes(workspace, monkeypatch):
    corpus = imported(workspace, SIZE)
    expected = detected(workspace, corpus)
    settings = {"count": SIZE, "parameters": {"words": 12}, "seed": 5}
    alone = workspace.jobs.synthesize(corpus.id, "public", **settings)
    task = taken(workspace, helped=False)
    synthesize.run(task)
    finish(workspace, task)
    with workspace.session.db.write() as connection:
        queue.leave(connection, "w1")

    monkeypatch.setenv(worker.EXECUTOR, "ray")
    monkeypatch.setenv(slots.ENVIRONMENT, "3")  # a Ray of two processors, and the worker itself
    before = {process.pid for process in psutil.process_iter()}
    job = workspace.jobs.detect(corpus.id)
    workspace.jobs.ensure_worker()
    listening, parts = set(), set()
    pid = None
    while workspace.jobs.get(job).state not in ("done", "failed"):
        pid = workspace.jobs.worker_status()["pid"] or pid
        for process in psutil.Process(pid).children(recursive=True) if pid else ():
            try:
                found = process.net_connections()
            except psutil.Error:
                continue
            parts.add(process.pid)
            listening |= {one.laddr.ip for one in found if one.status == psutil.CONN_LISTEN}
        with workspace.session.db.read() as connection:
            rows = connection.exec_driver_sql("SELECT DISTINCT worker FROM shards WHERE worker IS NOT NULL").all()
        parts |= {row[0] for row in rows}
        time.sleep(0.25)
    job = workspace.jobs.get(job)
    assert job.state == "done", (job.error, workspace.folder.worker_log.read_text())
    assert test_shards.found(workspace, corpus) == expected
    assert len({part for part in parts if isinstance(part, str)}) == 3, "the worker and two helpers"
    assert listening
    assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}

    run = workspace.jobs.synthesize(corpus.id, "public", **settings)
    made = wait(workspace, workspace.runs.get(run).job_id, seconds=400)
    assert made.state == "done", made.error
    assert texts(workspace, run) == texts(workspace, alone)
    assert workspace.runs.get(run).funnel == workspace.runs.get(alone).funnel
    assert left_over(workspace) == [0, 0]
    log = workspace.folder.worker_log.read_text()
    assert "helping:" not in log
    assert "slot:" not in log
    workspace.jobs.stop_worker()
    ended = [p for p in psutil.process_iter(["name"]) if p.pid not in before and "raylet" in (p.info["name"] or "")]
    assert ended == []


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.timeout(900)
@NEEDED
def test_processes_of_ray_and_the_worker_killed_in_the_middle_change_no_text(workspace, monkeypatch, tmp_path):
    monkeypatch.setattr(BuiltinGenerator, "texts_a_call", 8)
    corpus = imported(workspace, 10)
    settings = {"count": 1_500, "parameters": {"words": 12}, "seed": 6}
    alone = workspace.jobs.synthesize(corpus.id, "public", **settings)
    task = taken(workspace, helped=False)
    synthesize.run(task)
    finish(workspace, task)
    with workspace.session.db.write() as connection:
        queue.leave(connection, "w1")
    monkeypatch.setenv(worker.EXECUTOR, "ray")
    monkeypatch.setenv(slots.ENVIRONMENT, "3")
    monkeypatch.setenv(CALL, "8")
    monkeypatch.setenv(HOLD, str(tmp_path / "hold"))  # so that nothing is over before it was hit, however quick
    (tmp_path / "hold").touch()
    run = workspace.jobs.synthesize(corpus.id, "public", **settings)
    job = workspace.runs.get(run).job_id
    workspace.jobs.ensure_worker()
    victim, piece = until(workspace, job, lambda: asked(workspace))
    victim.kill()
    until(workspace, job, lambda: made(workspace, piece))
    assert victim.pid not in {process.pid for process in processes(workspace)}, "another one made what it was asked"
    psutil.Process(workspace.jobs.worker_status()["pid"]).kill()
    assert free(workspace.folder)
    assert workspace.runs.get(run).kept < 1_500
    assert workspace.jobs.get(job).state == "running"
    (tmp_path / "hold").unlink()
    monkeypatch.setattr(launch, "PAUSE_SECONDS", 0.0)
    workspace.jobs.ensure_worker()
    done = wait(workspace, job, seconds=600)
    assert done.state == "done", done.error
    assert texts(workspace, run) == texts(workspace, alone)
    assert workspace.runs.get(run).funnel == workspace.runs.get(alone).funnel
    assert workspace.audit.verify()["ok"]
    workspace.jobs.stop_worker()
    assert list(Path(tempfile.gettempdir()).glob(f"{cluster.PREFIX}*")) == []


def until(workspace, job, told):
    """Return what is told, once it is; the job is at work all the while."""
    while not (found := told()):
        assert workspace.jobs.get(job).state in ("queued", "running"), workspace.jobs.get(job).error
        time.sleep(0.02)
    return found


def processes(workspace):
    """Return the processes of Ray that a worker asks, whichever is at work."""
    with suppress(psutil.Error):
        found = psutil.Process(workspace.jobs.worker_status()["pid"] or 0).children(recursive=True)
        return [p for p in found if p.name().startswith("ray::Bulk")]
    return []


def asked(workspace):
    """Return a process of Ray that computes a piece, with the piece's number; None where none does.

    Ray names a process after what it was asked for: one that is at work is stopped, so that it is at work still.
    """
    for process in processes(workspace):
        process.suspend()
        if process.name().startswith("ray::Bulk.make") and (pieces := claimed(workspace)):
            return process, pieces
        process.resume()
    return None


def claimed(workspace):
    """Return the pieces that helpers have in hand."""
    with workspace.session.db.read() as connection:
        own = "SELECT worker FROM jobs WHERE kind = 'synthesize' AND state = 'running'"
        query = f"SELECT number FROM shards WHERE state = 'claimed' AND worker NOT IN ({own})"
        return {row[0] for row in connection.exec_driver_sql(query)}


def made(workspace, pieces):
    """Say whether none of some pieces is in anybody's hand any more."""
    with workspace.session.db.read() as connection:
        left = connection.exec_driver_sql("SELECT number FROM shards WHERE state != 'done'")
        return not pieces & {row[0] for row in left}


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_the_package_it_says_what_to_do(workspace):
    crew = RayCrew(workspace, 3, lambda name: None, lambda line: None)
    with pytest.raises(UserError, match=r'pip install -e "\.\[cluster\]"'):
        crew.tend()
    crew.close()


def test_an_encrypted_workspace_refuses_it(tmp_path, monkeypatch):
    pytest.importorskip("sqlcipher3")
    monkeypatch.setattr(cluster, "find_spec", lambda name: object())
    path = encryption.encrypt(header.passphrase("correct horse battery", new=True), tmp_path / "w", "tester")
    workspace = open_workspace(path, "tester")
    try:
        crew = RayCrew(workspace, 3, lambda name: None, lambda line: None)
        with pytest.raises(UserError, match="encrypted workspace"):
            crew.tend()
    finally:
        workspace.close()
        keys.drop(path)


def test_an_error_there_is_told_without_its_words(monkeypatch):
    answer = Bulk().detect("Zanzibarnacle is no JSON", [])
    assert set(answer) == {"failed"}
    assert "Zanzibarnacle" not in answer["failed"]


def test_what_sees_records_or_weights_stays_with_the_worker():
    runs = [
        ("public", {}, True), ("filter:public", {}, True), ("dp-steer", {}, True), ("dp-topics", {}, True),
        ("dp-topics", {"tuning": "noisy"}, False), ("dp-finetune", {}, False), ("finetune", {}, False),
        ("surrogate", {}, False),
    ]  # fmt: skip
    for method, parameters, expected in runs:
        row = type("Row", (), {"method": method, "parameters": parameters, "model": "builtin"})
        assert synthesize.bare(row) is expected, method
    assert not synthesize.bare(type("Row", (), {"method": "public", "parameters": {}, "model": "endpoint:x"}))


@pytest.mark.parametrize(("said", "meant"), [("", "slots"), ("slots", "slots"), ("Ray ", "ray"), ("dask", "slots")])
def test_what_computes(monkeypatch, said, meant):
    monkeypatch.setenv(worker.EXECUTOR, said)
    assert worker.executor() == meant
