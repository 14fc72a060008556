"""One examination, many workers: the same findings to the last digit, whatever their number and whoever is killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest
import threadpoolctl
from sqlalchemy import func, select, update

from engine.corpus.samples import load_sample
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks import examine, examining
from engine.jobs.worker import launch, parts_ahead, slots
from engine.jobs.worker.sharing import Helper
from engine.jobs.worker.task import Stopped, Task
from engine.jobs.worker.worker import shared
from engine.store import queue
from engine.store import shards as store_shards
from engine.store.database.schema import jobs
from engine.store.database.schema import shards as table
from engine.store.runs import kept_parts
from engine.store.runs.examinations import MAP_FILE
from engine.workspace import open_workspace
from tests import postgres
from tests.jobs.conftest import wait
from tests.jobs.sharing_worker import RECORDS
from tests.jobs.test_shards import begun, children, command, free
from tests.jobs.test_stopped_examination import MAPPING, kept_files, outcome, same, the_run
from tests.store.making import finished_run

BOTH = {"privacy": True, "utility": True, "model_attacks": False}
PRIVACY = BOTH | {"utility": False}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Compute with one thread, since helpers of these tests share a process, and with it how many threads there are."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpoolctl.threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def workspace(request, tmp_path, monkeypatch):
    """Return a workspace with a run that leaks some of its corpus; workers share whatever there is."""
    monkeypatch.setattr(parts_ahead, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr("engine.examine.apart.AT_ONCE", 8)
    monkeypatch.setenv(RECORDS, "1000")
    monkeypatch.setattr(launch, "worker_command", command)
    postgres.kept_in(request.param, tmp_path / "workspace")
    opened = open_workspace(tmp_path / "workspace", "tester")
    monkeypatch.setattr(opened.session, "_start_worker", None)
    corpus = opened.corpora.import_table(
        load_sample("support_tickets").head(80), MAPPING, name="Tickets", unit="source", holdout=0.3
    )
    opened.review.use_gold(corpus.id)
    train = opened.corpora.frame(corpus.id).query("split == 'train'")["text"].tolist()
    texts = [f"{text[:120]} The matter was settled on the phone, number {i}." for i, text in enumerate(train[:16])]
    finished_run(opened, corpus, texts)
    with opened.session.db.write() as connection:
        connection.execute(jobs.delete())
    yield opened
    opened.jobs.stop_worker()
    opened.close()


def taken(workspace, helped, settings, leaving=lambda: False, worker="w1"):
    """Return an examination as this process took it; others may help where `helped`."""
    run = workspace.runs.get(the_run(workspace))
    with workspace.session.db.write() as connection:
        queue.beat(connection, worker, "here")
        queue.enqueue(connection, "examine", corpus_id=run.corpus_id, run_id=run.id, arguments=settings)
        row = queue.claim(connection, "heavy", worker)
    crew = SimpleNamespace(count=3, processes=1, sees_workspace=True, tend=lambda: None)
    return Task(workspace, row, ModelCache(), leaving, crew if helped else None)


def end(workspace, task, state="done"):
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, state)


def forget(workspace):
    """Remove what an examination found and embedded, so that the next one measures anew."""
    for path in workspace.folder.path.rglob("*kept.safetensors"):
        path.unlink()
    (workspace.folder.corpus(workspace.corpora.all()[0].id) / MAP_FILE).unlink(missing_ok=True)


def alone(workspace, settings):
    """Examine without anybody else; return what was found."""
    task = taken(workspace, False, settings)
    examine.run(task)
    end(workspace, task)
    found = outcome(workspace)
    forget(workspace)
    return found


@contextmanager
def helpers(workspace, names=("h0", "h1"), kinds=shared):
    """Have others help for as long as the block runs; yields the names of those that did something, and what failed."""
    leaving, did, said = threading.Event(), set(), set()

    def help_out(name):
        with workspace.session.db.brief() as connection:
            queue.beat(connection, name, name)
        helper = Helper(workspace, name, kinds, leaving.is_set, 2)
        while not leaving.is_set():
            step = helper.step()
            if step is not None:
                did.add(name)
                said.add(step)
            leaving.wait(0.0 if step == "" else 0.02)
        helper.close()

    threads = [threading.Thread(target=help_out, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    try:
        yield did, said
    finally:
        leaving.set()
        for thread in threads:
            thread.join()


def left_over(workspace):
    """Return how many shards there are."""
    with workspace.session.db.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def told_once(workspace):
    """Say whether the ledger and the log tell of one examination each time one was made, and hold."""
    lines = workspace.ledger.of(workspace.corpora.all()[0].id).lines
    what = list(lines["what"])
    assert what.count("examination in part") == 1
    assert workspace.audit.verify()["ok"]
    assert workspace.ledger.verify()["ok"]


@pytest.mark.parametrize("settings", [PRIVACY, pytest.param(BOTH, marks=pytest.mark.slow)], ids=["privacy", "both"])
def test_helpers_change_no_finding(workspace, settings):
    expected = alone(workspace, settings)
    pieces = []
    make = examining.Examining._make

    def watched(self, asked):
        pieces.append(asked)
        return make(self, asked)

    task = taken(workspace, True, settings)
    with pytest.MonkeyPatch.context() as patch, helpers(workspace) as (did, said):
        patch.setattr(examining.Examining, "_make", watched)
        examine.run(task)
    end(workspace, task)
    assert (did, said) == ({"h0", "h1"}, {""})
    assert {"embed", "parts"} <= {name for asked in pieces for name in asked}, "both kinds of pieces were helped with"
    same(outcome(workspace), expected)
    assert left_over(workspace) == 0
    assert kept_files(workspace) == []
    told_once(workspace)


def test_a_helper_that_sees_something_else_leaves_it(workspace, monkeypatch):
    expected = alone(workspace, PRIVACY)
    begin = examining.HelperShelf.__init__

    def other(self, store, run_id, given, more):
        begin(self, store, run_id, given, (*more, "an approval that is not there yet"))

    monkeypatch.setattr(examining.HelperShelf, "__init__", other)
    task = taken(workspace, True, PRIVACY)
    with helpers(workspace, ("h0",)) as (_, said):
        examine.run(task)
    end(workspace, task)
    assert {step.split(" at ")[0] for step in said} == {"InternalError"}
    same(outcome(workspace), expected)


@pytest.mark.slow
def test_what_was_changed_on_its_way_is_made_again(workspace, monkeypatch):
    expected = alone(workspace, PRIVACY)
    deliver, changed = store_shards.deliver, []

    def deliver_other(connection, shard, found):
        if shard.worker != "w1":
            changed.append(shard.survey)
            body = found["made"][0]
            if "rows" in body:
                found = {**found, "made": [{**body, "rows": body["rows"][:-8] + "AAAAAAA="}]}
            else:  # the row is left as it is, and the part on the shelf is another's
                folder = kept_parts.folder(workspace.session, the_run(workspace))
                for name in body["parts"]:
                    path = folder / f"{name}.kept"
                    path.write_bytes(path.read_bytes()[:-1] + b"?")
        return deliver(connection, shard, found)

    monkeypatch.setattr(store_shards, "deliver", deliver_other)
    task = taken(workspace, True, PRIVACY)
    with helpers(workspace, ("h0",)):
        examine.run(task)
    end(workspace, task)
    assert {name for asked in changed for name in asked} >= {"embed", "parts"}
    same(outcome(workspace), expected)


@pytest.mark.slow
def test_a_cancel_keeps_what_helpers_measured(workspace):
    expected = alone(workspace, PRIVACY)
    task = taken(workspace, True, PRIVACY, leaving=lambda: len(kept_files(workspace)) >= 6)
    with helpers(workspace), pytest.raises(Stopped):
        examine.run(task)
    end(workspace, task, "cancelled")
    before = {path.name: path.stat().st_mtime_ns for path in kept_files(workspace)}
    assert len(before) >= 6
    stopped = workspace.examinations.stopped(the_run(workspace))
    assert stopped is not None
    assert 0 < stopped.kept <= len(before)
    assert left_over(workspace) == 0
    task = taken(workspace, False, PRIVACY)
    measured, begin = [], task.begin
    task.begin = lambda key: (measured.append(key), begin(key))
    examine.run(task)
    end(workspace, task)
    assert not {name.removesuffix(".kept") for name in before} & set(measured)
    same(outcome(workspace), expected)
    told_once(workspace)


def test_a_run_that_is_deleted_while_a_helper_measures_leaves_nothing(workspace, monkeypatch):
    run_id = the_run(workspace)
    put = examining.HelperShelf.put

    def deleted(self, key, content):
        workspace.runs.delete(run_id)
        put(self, key, content)

    task = taken(workspace, True, PRIVACY)
    monkeypatch.setattr(examining.HelperShelf, "put", deleted)
    with helpers(workspace), pytest.raises(Stopped):
        examine.run(task)
    assert not workspace.folder.run(run_id).exists()
    assert not kept_parts.folder(workspace.session, run_id).exists()


@pytest.mark.slow
def test_one_that_changes_hands_finds_the_same(workspace):
    expected = alone(workspace, PRIVACY)
    task = taken(workspace, True, PRIVACY, leaving=lambda: len(kept_files(workspace)) >= 4)
    with helpers(workspace, ("h0",)), pytest.raises(Stopped):
        examine.run(task)
    with workspace.session.db.write() as connection:
        connection.execute(update(jobs).where(jobs.c.id == task.id).values(state="queued", worker=None))
        queue.leave(connection, "w1")
        queue.beat(connection, "w2", "here")
        row = queue.claim(connection, "heavy", "w2")
    task = Task(workspace, row, ModelCache(), lambda: False, task.crew)
    with helpers(workspace, ("h1",)):
        examine.run(task)
    end(workspace, task)
    same(outcome(workspace), expected)
    assert left_over(workspace) == 0
    told_once(workspace)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.long)])
def test_one_two_and_five_workers_find_the_same(workspace, monkeypatch, count):
    expected = None
    for workers in (1, count):
        monkeypatch.setenv(slots.ENVIRONMENT, str(workers))
        job = workspace.jobs.examine(the_run(workspace), model_attacks=False)
        workspace.jobs.ensure_worker()
        assert begun(workspace, workers, job), "it was over before all were there"
        ended = wait(workspace, job, seconds=400)
        assert ended.state == "done", ended.error
        workspace.jobs.stop_worker()
        assert free(workspace.folder)
        found = outcome(workspace)
        assert left_over(workspace) == 0
        if expected is not None:
            same(found, expected)
        expected = found
        forget(workspace)
    assert "slot:" not in workspace.folder.worker_log.read_text()
    told_once(workspace)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("seed", "rounds"), [pytest.param(1, 1, marks=pytest.mark.slow), pytest.param(2, 2, marks=pytest.mark.long)]
)
def test_slots_and_coordinators_killed_at_any_moment_change_no_finding(workspace, monkeypatch, seed, rounds):
    chance, kills = random.Random(seed), []
    expected = alone(workspace, BOTH)
    monkeypatch.setenv(slots.ENVIRONMENT, "3")
    monkeypatch.setattr(launch, "PAUSE_SECONDS", 0.0)
    job = workspace.jobs.examine(the_run(workspace), model_attacks=False)
    workspace.jobs.ensure_worker()
    for whom in ("slot", "coordinator") * rounds:
        pid = begun(workspace, 3, job)
        time.sleep(chance.uniform(0.0, 3.0))
        victims = [p.pid for p in children(pid)] if pid and whom == "slot" else [pid]
        if pid is None or not victims or workspace.jobs.get(job).state == "done":
            break
        with suppress(ProcessLookupError):
            os.kill(chance.choice(victims), signal.SIGKILL)
            kills.append(whom)
        if whom == "coordinator":
            assert free(workspace.folder), "its slots ended with it"
            workspace.jobs.ensure_worker()
    assert {"slot", "coordinator"} <= set(kills), "it was over before"
    assert wait(workspace, job, seconds=600).state == "done"
    same(outcome(workspace), expected)
    assert left_over(workspace) == 0
    assert kept_files(workspace) == []
    told_once(workspace)
