"""A run that one machine begins and another ends: each has a folder of its own, both one database and one place."""

import sys
import time

import pytest
from sqlalchemy import select, update

import engine.methods
from engine.jobs.tasks import detect
from engine.jobs.worker import launch
from engine.store.database.schema import blobs, jobs, leases
from engine.store.disk.moving import join_workspace
from engine.workspace import open_workspace
from tests import postgres
from tests.jobs import sharing, training_method
from tests.jobs.conftest import wait
from tests.jobs.test_shards import SHARD, SIZE, found, imported
from tests.store.conftest import MAPPING, made_up

pytestmark = pytest.mark.slow


@pytest.fixture
def machines(tmp_path, monkeypatch):
    """Two machines' workspaces, whose workers know the method that trains; none starts by itself."""
    monkeypatch.setattr(engine.methods, "REGISTRY", (*engine.methods.REGISTRY, training_method.ENTRY))
    monkeypatch.setattr(
        launch,
        "worker_command",
        lambda folder: [sys.executable, "-m", "tests.jobs.training_method", "--workspace", str(folder.path)],
    )
    first = postgres.workspace_on(tmp_path / "first", postgres.server().database())
    with (first / "workspace.toml").open("a") as file:
        file.write(f'blobs = "file://{tmp_path / "place"}"\n')
    anna = open_workspace(first, "anna")
    ben = open_workspace(join_workspace(first, tmp_path / "second"), "ben")
    for one in (anna, ben):
        monkeypatch.setattr(one.session, "_start_worker", None)
    yield anna, ben
    for one in (anna, ben):
        one.jobs.stop_worker()
        one.close()


def state(workspace, job_id):
    """Return a job's state and worker; nothing is started for it."""
    with workspace.session.db.read() as connection:
        return connection.execute(select(jobs.c.state, jobs.c.worker).where(jobs.c.id == job_id)).one()


def test_a_training_that_died_on_one_machine_goes_on_from_its_last_epoch_on_another(machines):
    anna, ben = machines
    corpus = anna.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    with anna.session.db.write() as connection:
        connection.execute(jobs.delete())
    run_id = anna.jobs.synthesize(corpus.id, "training", count=1)
    job_id = anna.runs.get(run_id).job_id
    ben.jobs.ensure_worker()
    deadline = time.monotonic() + 240
    while not (ben.folder.scratch(run_id) / "died").exists() or ben.jobs.worker_status()["alive"]:
        assert time.monotonic() < deadline, state(anna, job_id)
        time.sleep(0.2)
    assert state(anna, job_id).state == "running"
    with anna.session.db.read() as connection:
        there = connection.execute(select(blobs.c.path).where(blobs.c.state == "in force")).scalars().all()
    assert sum("/scratch/" in path for path in there) == 1, "the newest epoch, and nothing that is being written"
    assert not anna.folder.run(run_id).exists()
    with anna.session.db.write() as connection:  # as after two minutes
        connection.execute(update(leases).values(until=0.0))
    anna.folder.scratch(run_id).mkdir(mode=0o700, parents=True)
    (anna.folder.scratch(run_id) / "died").touch()
    anna.jobs.ensure_worker()
    assert wait(anna, job_id, seconds=240).state == "done"
    assert ben.runs.synthetic(run_id)["text"][0].startswith("Trained [3] to "), "two epochs were not repeated"
    with anna.session.db.read() as connection:
        left = connection.execute(select(blobs.c.path, blobs.c.state)).all()
    assert [tuple(row) for row in left] == [(f"corpora/{corpus.id}/records.parquet", "in force")]


def test_a_machine_without_the_table_helps_with_a_detection_and_finds_the_same(machines, monkeypatch):
    monkeypatch.setattr("engine.store.shards.LEAST", SHARD)
    anna, ben = machines
    corpus = imported(anna, SIZE)
    anna.jobs.detect(corpus.id)
    detect.run(sharing.taken(anna, helped=False))
    alone = found(anna, corpus)
    sharing.without_jobs(anna)
    assert not ben.folder.records(corpus.id).exists()
    anna.jobs.detect(corpus.id)
    task = sharing.taken(anna, helped=True)
    with sharing.helpers(ben) as (did, said):
        detect.run(task)
    assert (found(anna, corpus), said) == (alone, set())
    assert did, "the other machine helped"
    assert ben.folder.records(corpus.id).read_bytes() == anna.folder.records(corpus.id).read_bytes()
