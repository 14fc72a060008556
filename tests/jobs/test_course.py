"""How far a run is as a whole: one bar, by the run before and its own pace, never full with work left."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, update

from engine.jobs.course import Course
from engine.store import queue
from engine.store.database.schema import jobs
from engine.store.views import Whole
from tests.jobs.conftest import wait
from tests.jobs.test_whole_progress import Clock

BEFORE = {"embedding": 20.0, "training": 60.0, "generating": 120.0}


def test_a_run_like_the_last_one_is_told_by_its_steps():
    clock = Clock()
    course = Course(BEFORE, 0.0, clock)
    clock.now += 10
    told = course.whole("embedding", 5, 10, 10.0)
    assert (told["number"], told["parts"], told["title"]) == (1, 3, "embedding")
    assert told["seconds_left"] == pytest.approx(190.0)  # 10 of this step by its rate, 180 by the run before
    assert told["fraction"] == pytest.approx(10 / 200)
    clock.now += 10
    told = course.whole("embedding", 10, 10, 0.0)
    assert (told["number"], told["title"]) == (2, "training"), "a step that is done is not the one at work"
    assert told["seconds_left"] == pytest.approx(180.0)
    clock.now += 30
    told = course.whole("training", 30, 60, None)  # no rate yet: half of it by the run before
    assert told["seconds_left"] == pytest.approx(150.0)
    assert told["times"] == {"embedding": 20.0, "training": 30.0}


def test_a_machine_half_as_fast_is_told_so():
    clock = Clock()
    course = Course({"embedding": 100.0, "generating": 100.0}, 0.0, clock)
    clock.now += 200
    told = course.whole("embedding", 10, 10, 0.0)
    assert told["seconds_left"] == pytest.approx(
        100 * 230 / 130, abs=0.1
    )  # 30 s count as having kept to the run before


def test_a_first_run_is_told_by_its_plan_until_it_has_a_rate_of_its_own():
    clock = Clock()
    course = Course({}, 40.0, clock)
    told = course.whole("generating", 0, 60, None)
    assert (told["number"], told["parts"], told["seconds_left"], told["fraction"]) == (1, 1, 40.0, 0.0)
    clock.now += 30
    assert course.whole("generating", 10, 60, 150.0)["seconds_left"] == 150.0, "slower than was planned"
    clock.now += 150
    told = course.whole("generating", 60, 60, 0.0)
    assert told["seconds_left"] > 0
    assert told["fraction"] < 1.0


def test_a_first_run_that_takes_longer_than_was_planned_is_not_said_to_be_near_its_end():
    """Nothing tells which steps are still to come: a long one may follow a quick one."""
    clock = Clock()
    course = Course({}, 20.0, clock)
    clock.now += 15
    assert not course.whole("writing", 400, 420, 1.0)["over"]
    for done in range(0, 430, 43):
        clock.now += 30
        told = course.whole("reading", done, 430, None)
        assert told["over"]
        assert told["fraction"] <= 0.9 + 1e-9
    known = Course({"writing": 10.0, "reading": 10.0}, 20.0, clock)
    clock.now += 500
    assert not known.whole("writing", 1, 2, None)["over"], "the run before tells what is to come"


@pytest.mark.parametrize("before", [{"writing": 100.0, "voting": 100.0}, {}])
def test_steps_that_take_turns_are_told_by_the_rounds_that_are_left(before):
    """Ten rounds of two steps that count the texts of the whole run: none is over before the last round."""
    clock = Clock()
    course = Course(before, 20.0, clock)
    for done in range(1, 20):
        clock.now += 10
        told = course.whole("voting" if done % 2 == 0 else "writing", done, 20, None)
        if done > 1:
            assert told["fraction"] == pytest.approx(done / 20)
            assert told["seconds_left"] == pytest.approx(200 - 10 * done)
        assert told["number"] <= told["parts"]


def test_a_step_as_long_as_the_one_before_it_takes_no_turns_with_it():
    clock = Clock()
    course = Course({"embedding": 100.0, "generating": 100.0}, 0.0, clock)
    clock.now += 95
    course.whole("embedding", 19, 20, None)
    clock.now += 5
    told = course.whole("generating", 0, 20, None)
    assert told["seconds_left"] == pytest.approx(100.0)


@pytest.mark.parametrize("before", [BEFORE, {}])
def test_a_run_that_goes_on_is_told_from_where_it_was_stopped(before):
    clock = Clock()
    course = Course(before, 200.0, clock)
    for stage, took, done in (("embedding", 20, 10), ("training", 60, 10), ("generating", 60, 5)):
        clock.now += took
        stopped = course.whole(stage, done, 10, None)
    again = Course(before, 200.0, clock, told=stopped)
    clock.now += 6
    told = again.whole("generating", 5, 10, None)
    assert told["fraction"] >= stopped["fraction"]
    assert told["seconds_left"] == pytest.approx(60.0, abs=7.0)
    assert told["times"] == {"embedding": 20.0, "training": 60.0, "generating": 66.0}, "the next run goes by all of it"
    assert told["number"] == stopped["number"]


def test_a_run_that_was_resumed_as_another_job_is_told_from_where_that_was():
    from engine.jobs.tasks.run_course import told_before

    whole = {"number": 1, "parts": 1, "title": "x", "fraction": 0.5, "seconds_left": 9.0, "times": {"x": 9.0}}
    memory = create_engine("sqlite://")
    with memory.begin() as connection:
        jobs.create(connection)
        stopped = queue.enqueue(connection, "synthesize", run_id="r1")
        assert told_before(connection, SimpleNamespace(id="r1")) == {}
        connection.execute(update(jobs).where(jobs.c.id == stopped).values(whole=whole))
        queue.enqueue(connection, "synthesize", run_id="r1")
        assert told_before(connection, SimpleNamespace(id="r1")) == whole
        assert told_before(connection, SimpleNamespace(id="r2")) == {}, "another run's is not its own"
    memory.dispose()


@pytest.mark.parametrize("seed", range(20))
def test_the_bar_never_goes_back_nor_is_full(seed):
    rng, clock = random.Random(seed), Clock()
    known = {f"step {i}": rng.uniform(0.1, 60) for i in range(rng.randint(0, 4))}
    course, last, number = Course(known, rng.uniform(0, 60), clock), -1.0, 0
    for step in [*known, "unknown", *known]:  # steps may take turns, and a new one may come
        total = rng.randint(1, 9)
        for done in range(total + 1):
            clock.now += rng.uniform(0, 20)
            told = course.whole(step, done, total, rng.choice([None, rng.uniform(0, 60)]))
            assert last <= told["fraction"] < 1.0
            assert number <= told["number"] <= told["parts"] or not known
            assert told["seconds_left"] > 0
            last, number = told["fraction"], told["number"]
    assert Whole(**told).times == told["times"]


@pytest.mark.timeout(300)  # two short runs in a real worker
def test_the_next_run_of_a_method_knows_the_steps_of_the_one_before(workspace, corpus):
    from engine.jobs.tasks.run_course import steps_before
    from engine.store.runs.runs import run_row

    def made(count: int) -> str:
        run_id = workspace.jobs.synthesize(corpus.id, "slow", count=count, parameters={"seconds": 0.05})
        assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=120).state == "done"
        return run_id

    def before(run_id: str) -> dict[str, float]:
        with workspace.session.db.read() as connection:
            return steps_before(connection, run_row(connection, run_id))

    first = made(10)
    told = workspace.jobs.get(workspace.runs.get(first).job_id).whole
    assert before(first) == {}, "it is not told by itself"
    assert sum(told.times.values()) > 0
    assert told.parts == 1, "nothing is known of its steps beforehand"
    second = made(20)
    assert before(second) == pytest.approx({name: 2 * seconds for name, seconds in told.times.items()})
    assert workspace.jobs.get(workspace.runs.get(second).job_id).whole.parts == len(told.times)
    assert before(first) == pytest.approx(
        {
            name: seconds / 2
            for name, seconds in workspace.jobs.get(workspace.runs.get(second).job_id).whole.times.items()
        }
    )
