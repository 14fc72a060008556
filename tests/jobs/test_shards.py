"""One job, many workers: the same rows whatever their number and whoever is killed, nothing left, the lock free."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import weakref

import pandas as pd
import pytest
from sqlalchemy import select

from engine.corpus.columns.mapping import ColumnMapping
from engine.jobs.tasks import detect
from engine.jobs.worker import edition, launch, slots
from engine.jobs.worker.sharing import Coordinator, Helper, packed, unpacked
from engine.jobs.worker.task import Stopped
from engine.jobs.worker.worker import shared
from engine.pii.detect.settings import DetectorSettings
from engine.store import queue
from engine.store.database.schema import leases, spans
from engine.store.database.schema import shards as table
from engine.store.review.spans import insert_spans
from tests.jobs import sharing
from tests.jobs.conftest import wait
from tests.jobs.sharing import (
    ENCRYPTED,
    begun,
    children,
    free,
    helpers,
    kept_in,
    killed_and_done,
    left_over,
    without_jobs,
)
from tests.jobs.sharing_worker import MACHINE, RECORDS

SHARD, SIZE = 60, 450
RULES = DetectorSettings(tagger=False)
GERMAN = "Der Patient wurde am 3. Mai 2021 wegen seiner Schmerzen in der Klinik von Frau Schmidt untersucht, Nummer {}."
ENGLISH = "Case {}: the nurse asked her to write to person{}@example.org or to call +44 20 7946 {:04d} on 1{} May 2021."


def letters(count=SIZE):
    """Return records in two languages, some too short to tell which, one of them long."""
    texts = [
        GERMAN.format(i) if i % 5 == 0 else "Ruf 12.3.2021" if i % 7 == 0 else ENGLISH.format(i, i % 9, i, i % 10)
        for i in range(count)
    ]
    texts[count // 2] = " ".join(texts[:60])
    return pd.DataFrame({"text": texts})


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def workspace(request, tmp_path, monkeypatch):
    """Return a workspace, empty, whose worker cuts small shards."""
    monkeypatch.setenv(RECORDS, str(SHARD))
    monkeypatch.setattr("engine.store.shards.LEAST", SHARD)
    with kept_in(request.param, tmp_path / "workspace", monkeypatch, starts=True) as opened:
        yield opened


@pytest.fixture
def corpus(workspace, monkeypatch):
    """Return a corpus in it that nothing was found in yet."""
    monkeypatch.setattr(workspace.session, "_start_worker", None)
    return imported(workspace, SIZE)


def imported(workspace, size):
    """Return a corpus of so many letters whose detection uses rules alone."""
    made = workspace.corpora.import_table(letters(size), ColumnMapping(text="text"), name=f"{size} letters")
    workspace.review.set_detector_settings(made.id, RULES)
    without_jobs(workspace)
    return made


def found(workspace, corpus):
    """Return the rows of spans in force in the order of their ids, which count from the first."""
    columns = [c for c in spans.c if c.name not in ("id", "corpus_id")]
    query = select(*columns, spans.c.id).where(spans.c.corpus_id == corpus.id).order_by(spans.c.id)
    with workspace.session.db.read() as connection:
        rows = [tuple(row) for row in connection.execute(query)]
    assert {row[columns.index(spans.c.origin)] for row in rows} == {"detected"}
    return [(*row[:-1], row[-1] - rows[0][-1]) for row in rows]


def taken(workspace, corpus):
    """Return a detection's job as this process took it."""
    job = workspace.jobs.detect(corpus.id)
    task = sharing.taken(workspace, helped=False)
    assert task.id == job
    return task


def alone(workspace, corpus):
    """Detect without anybody else and return the rows."""
    task = taken(workspace, corpus)
    detect.run(task)
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, "done")
    return found(workspace, corpus)


def coordinator(task, put=insert_spans):
    """Return the coordinator of a job that was just taken."""
    with task.batch("detect", 0, SIZE, cursor={"done": 0}) as connection:
        detect._drop_pending(connection, task.corpus_id)
    return Coordinator(task, detect.Detection(task.store, task.corpus_id, task.arguments, 1), SIZE, put)


def test_helpers_change_no_row(workspace, corpus):
    expected = alone(workspace, corpus)
    assert len(expected) > 700
    task = taken(workspace, corpus)
    with helpers(workspace, most=1) as (did, _):
        coordinator(task).run()
    assert did == {"h0", "h1"}, "both had a part in it"
    with task.batch("put in force", SIZE, SIZE) as connection:
        detect._put_in_force(task, connection)
    assert left_over(workspace) == [0, 0]
    assert found(workspace, corpus) == expected


def test_a_helper_that_cannot_help_leaves_the_job_to_its_worker(workspace, corpus):
    task = taken(workspace, corpus)
    one = coordinator(task)
    one._begin()

    def broken(*_):
        raise ValueError("Zanzibarnacle")

    helper = Helper(workspace, "h", lambda: {"detect": broken}, lambda: False, 1)
    with workspace.session.db.brief() as connection:
        queue.beat(connection, "h", "h")
    said = helper.step()
    assert "ValueError at sharing.py" in said
    assert "Zanzibarnacle" not in said
    assert helper.step() is None
    with workspace.session.db.read() as connection:
        assert set(connection.execute(select(table.c.state)).scalars()) == {"open"}


def test_a_helper_of_another_edition_leaves_the_job_to_its_worker(workspace, corpus, monkeypatch):
    one = coordinator(taken(workspace, corpus))
    with monkeypatch.context() as patch:
        patch.setattr("engine.jobs.worker.sharing.edition", lambda: "of last week")
        one._begin()
    with workspace.session.db.brief() as connection:
        queue.beat(connection, "h", "h")
    helper = Helper(workspace, "h", shared, lambda: False, 1)
    assert helper.step().startswith("InternalError")
    assert helper.step() is None
    one._begin()  # its worker was brought up to date, and goes on
    assert workspace.jobs.get(one.task.id).state == "running"
    assert Helper(workspace, "h", shared, lambda: False, 1).step() == ""
    assert edition.edition() == edition.edition.__wrapped__()


def test_a_helper_keeps_what_it_loaded_until_the_job_has_ended(workspace, corpus, monkeypatch):
    """A job may be at a stage of its worker alone for an hour: what it is of is not read again after it."""
    monkeypatch.setattr("engine.jobs.worker.sharing.KEPT_SECONDS", 0.0)
    task = taken(workspace, corpus)
    coordinator(task)._begin()
    made, closed = [], []

    class Loaded(detect.Detection):
        def __init__(self, store, job, most):
            super().__init__(store, str(job.corpus_id), job.arguments, most)
            self.itself = self  # a circle, as an examination's
            made.append(weakref.ref(self))

        def close(self):
            closed.append(1)
            super().close()

    with workspace.session.db.brief() as connection:
        queue.beat(connection, "h", "h")
    helper = Helper(workspace, "h", lambda: {"detect": Loaded}, lambda: False, 1)
    while helper.step() == "":
        pass
    assert [helper.step() for _ in range(3)] == [None] * 3
    assert (len(made), closed) == (1, [])
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, "done")
    assert helper.step() is None
    assert closed == [1]
    assert made[0]() is None, "nothing of it is held any more"


def test_a_cancel_stops_everybody_and_leaves_nothing(workspace, corpus):
    task = taken(workspace, corpus)

    kept = []

    def put(connection, rows):
        insert_spans(connection, rows)
        kept.append(len(rows))

    one = coordinator(task, put)
    asked = time.monotonic()

    def cancel():
        while not kept:
            time.sleep(0.01)
        workspace.jobs.cancel(task.id)

    canceller = threading.Thread(target=cancel, daemon=True)
    canceller.start()
    with pytest.raises(Stopped):
        one.run()
    canceller.join()
    assert time.monotonic() - asked < 60
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, "cancelled", worker="w1")
    assert left_over(workspace)[0] == 0


def test_rows_survive_their_packing():
    rows = [{"a": 1, "b": 0.1 + 0.2, "c": None}, {"a": 2, "b": 1e-9, "c": "x"}]
    assert unpacked(packed(rows)) == rows
    assert unpacked(packed([])) == []


@pytest.mark.parametrize(
    ("said", "meant"), [("", 1), ("1", 1), ("5", 5), ("0", 1), ("many", 1), ("-3", 1), ("999", 64)]
)
def test_how_many_workers_a_machine_has(monkeypatch, said, meant):
    monkeypatch.setenv(slots.ENVIRONMENT, said)
    assert slots.wanted() == meant


def start(workspace, corpus):
    """Queue a detection and start the worker."""
    job = workspace.jobs.detect(corpus.id)
    workspace.jobs.ensure_worker()
    return job


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.long)])
def test_two_and_five_workers_find_what_one_finds(workspace, corpus, monkeypatch, count):
    expected = alone(workspace, corpus)
    monkeypatch.setenv(slots.ENVIRONMENT, str(count))
    job = wait(workspace, start(workspace, corpus), seconds=400)
    assert job.state == "done", job.error
    assert (job.done, job.total) == (SIZE, SIZE)
    assert found(workspace, corpus) == expected
    assert left_over(workspace) == [0, 0]
    pid = workspace.jobs.worker_status()["pid"]
    assert len(children(pid)) == count - 1
    workspace.jobs.stop_worker()
    assert free(workspace.folder)
    with workspace.session.db.read() as connection:
        assert connection.execute(select(leases.c.worker).where(leases.c.worker != "w1")).all() == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("seed", "rounds"),
    [pytest.param(1, 1, marks=pytest.mark.slow), *(pytest.param(n, 2, marks=pytest.mark.long) for n in (2, 3))],
)
def test_slots_and_coordinators_killed_at_any_moment_change_no_row(workspace, monkeypatch, seed, rounds):
    monkeypatch.setattr(workspace.session, "_start_worker", None)
    corpus = imported(workspace, 2_000)
    expected = alone(workspace, corpus)
    job = workspace.jobs.detect(corpus.id)
    killed_and_done(workspace, job, monkeypatch, seed=seed, rounds=rounds, within=1.0, seconds=400)
    assert found(workspace, corpus) == expected
    assert left_over(workspace) == [0, 0]
    workspace.jobs.stop_worker()
    assert free(workspace.folder)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_slots_get_the_key_of_an_encrypted_workspace(tmp_path, monkeypatch):
    pytest.importorskip("sqlcipher3")
    monkeypatch.setenv(RECORDS, str(SHARD))
    monkeypatch.setenv(slots.ENVIRONMENT, "2")
    with kept_in(ENCRYPTED, tmp_path / "w", monkeypatch, starts=True) as workspace:
        made = imported(workspace, 2_000)
        job = workspace.jobs.detect(made.id)
        pid = begun(workspace, 2, job)
        assert pid
        assert len(children(pid)) == 1, "it opened the workspace"
        assert wait(workspace, job, seconds=400).state == "done"
        assert left_over(workspace) == [0, 0]
        assert "slot:" not in workspace.folder.worker_log.read_text()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not slots.LINUX, reason="elsewhere a hung slot does not have the lock")
def test_a_hung_slot_does_not_outlive_its_worker_nor_keep_the_lock(workspace, monkeypatch):
    monkeypatch.setattr(workspace.session, "_start_worker", None)
    monkeypatch.setenv(slots.ENVIRONMENT, "2")
    job = start(workspace, imported(workspace, 2_000))
    pid = begun(workspace, 2, job)
    assert pid
    (slot,) = children(pid)
    slot.suspend()
    os.kill(pid, signal.SIGKILL)
    assert free(workspace.folder)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workspace", ["postgresql"], indirect=True)
def test_a_worker_on_another_machine_joins_through_the_database(workspace, corpus, tmp_path):
    expected = alone(workspace, corpus)
    (tmp_path / "machine").write_text("another")
    other = subprocess.Popen(
        [*launch.worker_command(workspace.folder), "--idle-seconds", "60"],
        env={**launch.worker_environment(), MACHINE: str(tmp_path / "machine")}, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        task = taken(workspace, corpus)
        one = coordinator(task)
        one._begin()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:  # the other one begins by itself, and does the survey of all
            with workspace.session.db.read() as connection:
                others = connection.execute(select(table.c.worker).where(table.c.state == "done")).scalars().all()
            if others:
                break
            time.sleep(0.05)
        assert others
        assert "w1" not in others
        one.run()
        with task.batch("put in force", SIZE, SIZE) as connection:
            detect._put_in_force(task, connection)
        assert found(workspace, corpus) == expected
    finally:
        other.terminate()
        assert b"failed" not in other.communicate(timeout=60)[1]
