"""Shards of a job: where they end, who has them, what comes too late, and that nothing is left of them."""

import pytest
from sqlalchemy import func, select, update

from engine.store import queue, shards
from engine.store.database.schema import jobs, leases
from engine.store.database.schema import shards as table
from engine.store.shards import LEAST, MOST, bounds

KINDS = ("detect",)


@pytest.mark.parametrize("records", [1, 999, 1_000, 1_999, 2_000, 2_001, 12_345, 1_000_000, 50_000_001])
def test_where_shards_end_follows_from_the_size_alone(records):
    ends = bounds(records)
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    assert ends[-1] == sum(sizes) == records
    assert len(ends) <= MOST
    assert min(sizes) >= min(LEAST, records)
    assert max(sizes) - min(sizes) <= 1
    assert ends == bounds(records)


@pytest.fixture
def job(store, corpus):
    """Return a running job of three shards, taken by worker `w1`; `w2` lives too."""
    with store.session.db.write() as connection:
        made = queue.enqueue(connection, "detect", corpus_id=corpus.id)
        for name in ("w1", "w2"):
            queue.beat(connection, name, name)
        assert queue.claim(connection, "heavy", "w1").id == made
        shards.cut(connection, made, 3_000, 0, "work")
    return made


def claim(store, worker, **options):
    with store.session.db.brief() as connection:
        return shards.claim(connection, worker, KINDS, **options)


def left(store):
    with store.session.db.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_each_shard_has_one_worker_and_the_first_goes_first(store, job):
    first, second, third = claim(store, "w1", job_id=job) + claim(store, "w2", most=5)
    assert [(s.start, s.end, s.worker) for s in (first, second, third)] == [
        (0, 1_000, "w1"), (1_000, 2_000, "w2"), (2_000, 3_000, "w2"),
    ]  # fmt: skip
    assert claim(store, "w1", job_id=job) == claim(store, "w2") == []
    with store.session.db.brief() as connection:
        assert not shards.offered(connection, KINDS)
        shards.release(connection, second)
        assert shards.offered(connection, KINDS)
        assert not shards.offered(connection, KINDS, without=[job])
        assert not shards.offered(connection, ["examine"])


def test_claims_at_the_same_moment_get_other_shards(store, job, backend):
    with store.session.db.brief() as connection:
        (first,) = shards.claim(connection, "w1", KINDS)
        second = claim(store, "w2") if backend == "postgresql" else ()
    second = second or claim(store, "w2")  # on SQLite it waits for the first
    assert (first.number, second[0].number) == (0, 1)


def test_a_shard_is_its_workers_while_the_lease_lasts_and_a_late_writer_is_refused(store, job):
    (mine,) = claim(store, "w2")
    with store.session.db.write() as connection:
        assert queue.recover(connection, "elsewhere") == []
    assert [s.number for s in claim(store, "w1", job_id=job, most=5)] == [1, 2], "its worker lives"
    with store.session.db.write() as connection:
        queue.leave(connection, "w2")
    (taken,) = claim(store, "w1", job_id=job, most=5)
    assert (taken.number, taken.claims) == (0, 2)
    with store.session.db.write() as connection:
        queue.beat(connection, "w2", "w2")  # it was only slow
        assert not shards.reach(connection, mine, 5)
        assert not shards.deliver(connection, mine, {"late": [1]})
        assert not shards.advance(connection, mine, 500)
        assert not shards.advance(connection, mine, 1_000)
        shards.release(connection, mine)
        assert shards.next_done(connection, job, 0) is None
        assert shards.reach(connection, taken, 5)
        assert shards.deliver(connection, taken, {"x": [1.1]})
        assert not shards.deliver(connection, taken, {"twice": [1]})
        assert shards.next_done(connection, job, 0).found == {"x": [1.1]}


def test_the_same_worker_cannot_write_for_an_earlier_claim_of_its_own(store, job):
    (before,) = claim(store, "w2")
    with store.session.db.write() as connection:
        shards.release(connection, before)
    (again,) = claim(store, "w2")
    with store.session.db.write() as connection:
        assert not shards.deliver(connection, before, {})
        assert shards.deliver(connection, again, {})


def test_nobody_goes_on_with_a_job_that_is_cancelled_or_over(store, job):
    (mine,) = claim(store, "w2")
    with store.session.db.write() as connection:
        assert shards.reach(connection, mine, 1)
        queue.cancel(connection, job)
        assert not shards.reach(connection, mine, 2)
        assert not shards.offered(connection, KINDS)
        assert not shards.offered(connection, KINDS, job)
        assert queue.finish(connection, job, "cancelled", worker="w1")
        assert not shards.deliver(connection, mine, {})
    assert left(store) == 0


def test_a_job_put_back_keeps_what_is_done_and_offers_nothing_meanwhile(store, job):
    first, second, _ = claim(store, "w2", most=3)
    with store.session.db.write() as connection:
        assert shards.deliver(connection, second, {"x": [2]})
        assert shards.advance(connection, first, 400)
        connection.execute(leases.delete())
        assert queue.recover(connection) == [job]
        assert not shards.offered(connection, KINDS)
        queue.beat(connection, "w3", "w3")
        queue.claim(connection, "heavy", "w3")
        shards.cut(connection, job, 3_000, 400, "work")
    assert [(s.start, s.end) for s in claim(store, "w3", job_id=job, most=5)] == [(400, 1_000), (2_000, 3_000)]
    with store.session.db.write() as connection:
        assert shards.next_done(connection, job, 1_000).found == {"x": [2]}
        shards.cut(connection, job, 3_000, 1_500, "work")  # a worker that shared nothing came in between
        assert shards.next_done(connection, job, 1_500) is None
    assert [(s.start, s.end) for s in claim(store, "w3", job_id=job, most=5)] == [(1_500, 2_000)]


def test_a_shard_that_kills_its_helpers_is_left_to_the_worker_that_has_the_job(store, job):
    with store.session.db.write() as connection:
        connection.execute(update(table).values(claims=shards.HELPED))
    assert claim(store, "w2") == []
    assert len(claim(store, "w1", job_id=job, most=5)) == 3


def test_the_second_stage_begins_when_the_first_is_over_and_knows_what_it_found(store, job):
    with store.session.db.write() as connection:
        connection.execute(table.delete())
        shards.cut(connection, job, 2_000, 0, "survey")
    one, two = claim(store, "w2", most=2)
    assert one.stage == two.stage == "survey"
    with store.session.db.write() as connection:
        assert shards.deliver(connection, two, {"n": 2})
        assert shards.surveys(connection, job) is None
        assert shards.ahead(connection, job) == 0
        assert shards.deliver(connection, one, {"n": 1})
        assert shards.surveys(connection, job) == [{"n": 1}, {"n": 2}]
        shards.begin_work(connection, job)
    (work,) = claim(store, "w2")
    assert (work.stage, work.survey) == ("work", {"n": 1})
    with store.session.db.write() as connection:
        assert shards.reach(connection, work, 7)
        assert shards.ahead(connection, job) == 7
        assert not shards.deliver(connection, one, {"n": 1}), "of the first stage"
    with store.session.db.write() as connection:
        connection.execute(jobs.delete().where(jobs.c.id == job))
    assert left(store) == 0


def test_what_the_first_stage_found_is_never_taken_for_work(store, job):
    """A worker that shares nothing may come between one that surveyed and one that works."""
    with store.session.db.write() as connection:
        connection.execute(table.delete())
        shards.cut(connection, job, 3_000, 0, "survey")
    for shard in claim(store, "w2", most=3):
        with store.session.db.write() as connection:
            assert shards.deliver(connection, shard, {"n": shard.number})
            assert shards.next_done(connection, job, shard.start) is None
    with store.session.db.write() as connection:
        shards.cut(connection, job, 3_000, 1_000, "work")
    assert [(s.start, s.stage, s.survey) for s in claim(store, "w2", most=3)] == [
        (1_000, "work", None), (2_000, "work", None),
    ]  # fmt: skip
