"""Several processes at one database: budgets, claims and leases, also where processes are killed."""

import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest
from sqlalchemy import select, update

from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import StorageError
from engine.store import queue, shards
from engine.store.database import database
from engine.store.database.database import BUSY, RETRIES, BusyError, ConflictError
from engine.store.database.schema import jobs, leases, settings
from engine.store.store import Store
from tests import postgres
from tests.store.ledger_making import DELTA, ROOT, gaussian, kinds, reserved_run

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ROUNDS, CLAIM = 12, 0.6
RACE = """
import sys
from pathlib import Path
from engine.errors import RefusedError
from engine.store.budget import reservations
from engine.store.store import Store
from tests.store.ledger_making import gaussian
store = Store(Path(sys.argv[1]), actor=sys.argv[2])
guarantee, done = gaussian(float(sys.argv[3])), 0
sys.stdin.readline()
for corpus in sys.argv[4:]:
    for i in range(5):
        def reserve(connection):
            population = reservations.population_of(connection, corpus)
            reservations.reserve(connection, store.session.key, store.actor, population=population,
                                 run_id=f"r-{sys.argv[2]}{i}{corpus}", method="test", guarantee=guarantee)
        try:
            store.session.db.retried(reserve)
            done += 1
        except RefusedError:
            pass
print(done)
"""


def strangers(store, name):
    """Import records that have no word in common with any other's, so that nobody is asked whether they are known."""
    texts = [" ".join(secrets.token_hex(4) for _ in range(20)) for _ in range(20)]
    table = pd.DataFrame({"id": [f"{name}-{i}" for i in range(20)], "text": texts})
    return store.corpora.import_table(table, ColumnMapping(text="text", record_id="id"), name=name, holdout=0.0)


@pytest.mark.slow
def test_two_processes_admit_exactly_what_fits_round_after_round(store):
    made = [strangers(store, f"n{n}") for n in range(ROUNDS + 1)]
    for corpus in made:
        store.ledger.set_limit(corpus.id, 2.0, DELTA)
    alone, fits = made.pop(), 0
    while store.ledger.what_if(alone.id, gaussian(CLAIM)).allowed:
        reserved_run(store, alone, gaussian(CLAIM))
        fits += 1
    assert 2 <= fits < 10
    both = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(store.path), name, str(CLAIM), *(corpus.id for corpus in made)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in ("anna", "ben")
    ]  # fmt: skip
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    admitted = [int(process.communicate(timeout=200)[0]) for process in both]
    assert sum(admitted) == fits * ROUNDS
    assert min(admitted) > 0, "one of the two was never there"
    for corpus in made:
        assert kinds(store, corpus).count("reserve") == fits
        assert store.ledger.of(corpus.id).share <= 1.0
    assert store.ledger.verify()["ok"]


def queued(store, number, kind="profile"):
    with store.session.db.write() as connection:
        return [queue.enqueue(connection, kind) for _ in range(number)]


def test_a_lease_holds_a_job_until_it_is_over(store, monkeypatch):
    (job,) = queued(store, 1)
    with store.session.db.brief() as connection:
        queue.beat(connection, "w1", "here")
        assert queue.claim(connection, "light", "w1").id == job
    with store.session.db.brief() as connection:
        assert queue.claim(connection, "light", "w2") is None
        assert queue.recover(connection) == []
        assert queue.recover(connection, "elsewhere") == []
        monkeypatch.setattr(queue, "LEASE_SECONDS", -1.0)
        queue.beat(connection, "w1", "here")
        assert queue.recover(connection) == [job]
        assert queue.claim(connection, "light", "w2").worker == "w2"
    with store.session.db.write() as connection:
        assert not queue.progress(connection, job, worker="w1", done=5)
        assert not queue.finish(connection, job, "done", worker="w1"), "the first comes back too late"
        assert queue.cancelled(connection, job, "w1")
        assert not queue.cancelled(connection, job, "w2")
        assert queue.finish(connection, job, "done", worker="w2")


def test_where_no_worker_lives_its_jobs_are_free_at_once(store):
    (job,) = queued(store, 1)
    with store.session.db.brief() as connection:
        queue.beat(connection, "w1", "here")
        queue.claim(connection, "light", "w1")
    with store.session.db.write() as connection:
        assert queue.recover(connection, "here") == [job]
        assert connection.execute(select(leases.c.worker)).all() == []


def test_claims_at_the_same_moment_get_other_jobs(store, backend):
    first, second = queued(store, 2)
    with store.session.db.brief() as connection:
        assert queue.claim(connection, "light", "w1").id == first
        if backend == "postgresql":  # on SQLite the second waits for the first
            with store.session.db.brief() as other:
                assert queue.claim(other, "light", "w2").id == second
            with store.session.db.brief() as third:
                assert queue.claim(third, "light", "w3") is None


def test_what_another_transaction_made_impossible_is_done_again(store, backend):
    """A claim waits for no writer, so it can come between a writer's look at a job and what it does to it."""
    (job,) = queued(store, 1)
    tries = []

    def cancel(connection):
        state = connection.execute(select(jobs.c.state).where(jobs.c.id == job)).scalar_one()
        tries.append(state)
        if backend == "postgresql" and len(tries) == 1:
            with store.session.db.brief() as other:
                assert queue.claim(other, "light", "w1").id == job
        return queue.cancel(connection, job)

    assert store.session.db.retried(cancel)
    assert tries == (["queued", "running"] if backend == "postgresql" else ["queued"])
    with store.session.db.read() as connection:
        row = connection.execute(select(jobs).where(jobs.c.id == job)).one()
    assert (row.state, row.cancel) == (("running", True) if backend == "postgresql" else ("cancelled", False))


def test_it_is_not_tried_for_ever(store, monkeypatch):
    monkeypatch.setattr("engine.store.database.database.random.uniform", lambda *_: 0.0)
    tries = []

    def never(connection):
        tries.append(1)
        raise ConflictError("again")

    with pytest.raises(ConflictError):
        store.session.db.retried(never)
    assert len(tries) == RETRIES


@pytest.mark.slow
def test_a_worker_keeps_its_lease_while_it_works_and_holds_no_transaction(store, backend, monkeypatch):
    from engine.jobs.worker import worker as working

    monkeypatch.setattr(working, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(working, "RENEW_SECONDS", 0.2)
    monkeypatch.setattr(queue, "LEASE_SECONDS", 1.5)
    (job,) = queued(store, 1)
    freed, held = [], []
    open_ones = (
        "SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND application_name = 'understudy' "
        "AND xact_start < now() - interval '1s'"
    )

    def handler(task):
        assert task.worker
        for _ in range(30):
            time.sleep(0.1)
            with store.session.db.brief() as connection:
                freed.extend(queue.recover(connection))
            if backend == "postgresql":
                held.extend(postgres.server().ask(store.session.db.engine.url.database, open_ones))

    working.Worker(store, lambda: {"profile": handler}, idle_seconds=1.0).work()
    assert (freed, held) == ([], [])
    with store.session.db.read() as connection:
        assert connection.execute(select(jobs.c.state).where(jobs.c.id == job)).scalar_one() == "done"
        assert connection.execute(select(leases.c.worker)).all() == []


@pytest.mark.parametrize("times", [1, queue.MAX_ATTEMPTS])
def test_a_job_that_finds_the_database_held_goes_on_later(store, times):
    """An import or the marks of a million records hold it for minutes; other work waits its turn, and not for ever."""
    from engine.jobs.worker import worker as working

    (job,) = queued(store, 1)
    begun = []

    def handler(task):
        begun.append(task.id)
        if len(begun) <= times:
            raise BusyError(BUSY)

    working.Worker(store, lambda: {"profile": handler}, idle_seconds=1.0).work()
    with store.session.db.read() as connection:
        row = connection.execute(select(jobs.c.state, jobs.c.error, jobs.c.worker).where(jobs.c.id == job)).one()
    assert begun == [job] * min(times + 1, queue.MAX_ATTEMPTS)
    assert row[:2] == (("done", None) if times < queue.MAX_ATTEMPTS else ("failed", BUSY))


def test_a_job_that_a_person_cancelled_meanwhile_does_not_go_back(store):
    from engine.jobs.worker import worker as working

    (job,) = queued(store, 1)
    begun = []

    def handler(task):
        begun.append(task.id)
        with store.session.db.write() as connection:
            queue.cancel(connection, job)
        raise BusyError(BUSY)

    working.Worker(store, lambda: {"profile": handler}, idle_seconds=1.0).work()
    with store.session.db.read() as connection:
        state = connection.execute(select(jobs.c.state).where(jobs.c.id == job)).scalar_one()
    assert (begun, state) == ([job], "cancelled")


def test_a_job_goes_back_once_though_two_lanes_write_what_could_not_be_written(store, monkeypatch):
    """The second would take it from the one that has it by then."""
    from engine.jobs.worker import worker as working

    worker = working.Worker(store, dict, idle_seconds=1.0)
    worker._unwritten.append(("j", "queued", None))
    ended, both = [], threading.Barrier(2)

    def end(_connection, *pending):
        ended.append(pending)
        time.sleep(0.3)

    def step(lane):
        both.wait()
        worker._step(lane)

    monkeypatch.setattr(worker, "_end", end)
    lanes = [threading.Thread(target=step, args=(lane,)) for lane in ("heavy", "light")]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    assert ended == [("j", "queued", None)]
    assert worker._unwritten == []


def test_a_helper_that_finds_the_database_held_gives_its_shard_back_later_and_helps_again(store, monkeypatch):
    from engine.jobs.worker.sharing import Helper

    (job,) = queued(store, 1, "examine")
    with store.session.db.brief() as connection:
        queue.beat(connection, "w1", "here")
        queue.claim(connection, "heavy", "w1")
        shards.lay(connection, job, [(0, 1, "first")])
        queue.beat(connection, "w2", "there")
    helper = Helper(store, "w2", lambda: {"examine": None}, lambda: False, 1)
    given_back, held = shards.release, [True]

    def busy(*_):
        raise BusyError(BUSY)

    def release(connection, shard):
        if held.pop() if held else False:
            raise BusyError(BUSY)
        given_back(connection, shard)

    monkeypatch.setattr(helper, "_do", busy)
    monkeypatch.setattr(shards, "release", release)
    with pytest.raises(BusyError):
        helper.step()
    with store.session.db.read() as connection:
        assert not shards.offered(connection, ("examine",), job), "it could not be given back"
    assert "BusyError" in helper.step(), "it was given back and taken again"
    with store.session.db.read() as connection:
        assert shards.offered(connection, ("examine",), job)


def test_what_its_worker_had_claimed_of_a_job_that_went_back_waits_for_whoever_takes_it(store):
    """The worker lives on, and nobody takes a shard from one that lives: it would wait for itself."""
    (job,) = queued(store, 1, "examine")
    with store.session.db.brief() as connection:
        queue.beat(connection, "w1", "here")
        queue.claim(connection, "heavy", "w1")
        shards.lay(connection, job, [(0, 1, "first"), (1, 2, "second")])
        (lost,) = shards.claim(connection, "w1", ("examine",), job)
        queue.beat(connection, "w2", "there")
        (helped,) = shards.claim(connection, "w2", ("examine",), job)
        queue.put_back(connection, job, "w1")
        queue.claim(connection, "heavy", "w1")
        shards.lay(connection, job, [(0, 1, "first"), (1, 2, "second")])
        (again,) = shards.claim(connection, "w1", ("examine",), job, most=2)
        assert (again.number, again.claims) == (lost.number, 2), "a helper keeps what it has"
        assert not shards.deliver(connection, lost, "late")
        assert shards.deliver(connection, again, "made")
        assert shards.deliver(connection, helped, "made")


def test_a_database_that_another_program_holds_is_told_from_one_that_is_broken(store, backend, monkeypatch):
    if backend != "sqlite":
        pytest.skip("there writers wait for rows")
    monkeypatch.setattr(database, "PATIENCE", "PRAGMA busy_timeout=100")
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    other = Store(store.folder.path, actor="other")
    with store.session.db.write(), pytest.raises(BusyError, match="too long"), other.session.db.write():
        pass
    with other.session.db.write():
        pass


def work(path, seed):
    """Claim and do jobs until none is left: each leaves one row, in the transaction that ends it."""
    queue.LEASE_SECONDS = 1.0
    chance, name = random.Random(seed), f"w{seed}"
    store = Store(path, actor=name)
    while True:
        with store.session.db.brief() as connection:
            queue.beat(connection, name, name)
            queue.recover(connection)
            row = queue.claim(connection, "light", name)
            left = connection.execute(select(jobs.c.id).where(jobs.c.state.in_(queue.ACTIVE)).limit(1)).first()
        if row is None:
            if left is None:
                return
            time.sleep(0.05)
            continue
        time.sleep(chance.uniform(0.0, 0.05))  # no transaction is open while work is done
        with store.session.db.write() as connection:
            if queue.finish(connection, row.id, "done", worker=name):
                connection.execute(settings.insert().values(key=f"did {row.id}", value=name))
                store.session.write_audit(connection, "did", row.id)


def forked(path, seed):
    """Fork a worker and return its process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work(path, seed)
    except StorageError:
        os._exit(3)
    except BaseException:  # noqa: BLE001  a child never comes back
        os._exit(4)
    os._exit(0)


@pytest.mark.slow
@needs_fork
def test_two_hundred_jobs_five_workers_and_kills_lose_and_double_nothing(store):
    chance = random.Random(11)
    ids = queued(store, 200)
    with store.session.db.write() as connection:  # a kill is no fault of the job
        connection.execute(update(jobs).values(attempts=-50))
    store.close()
    seeds = iter(range(1000))
    alive, kills, deadline = [forked(store.path, next(seeds)) for _ in range(5)], 0, time.monotonic() + 120
    while alive:
        assert time.monotonic() < deadline
        time.sleep(chance.uniform(0.02, 0.07) if kills < 20 else 0.1)  # all kills before the jobs can be done
        if kills < 20:
            victim = chance.choice(alive)
            os.kill(victim, signal.SIGKILL)
            kills += 1
        for pid in list(alive):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                alive.remove(pid)
                if os.WIFSIGNALED(status):
                    alive.append(forked(store.path, next(seeds)))
                else:
                    assert os.waitstatus_to_exitcode(status) == 0
    again = Store(store.path, actor="tester")
    with again.session.db.read() as connection:
        states = dict(connection.execute(select(jobs.c.id, jobs.c.state)).all())
        did = connection.execute(select(settings.c.key).where(settings.c.key.startswith("did "))).scalars().all()
    assert kills == 20
    assert states == dict.fromkeys(ids, "done")
    assert sorted(did) == sorted(f"did {job}" for job in ids)
    assert again.audit.verify()["ok"]
    again.close()
