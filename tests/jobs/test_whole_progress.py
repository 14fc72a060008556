"""Progress of a whole job: by what its parts were expected to take, never back, never at its end with work left."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import replace

import pytest

from engine.examine import registry
from engine.examine.expected import LENGTHS, MAP, METRICS, READING, Expected, Sizes, parts
from engine.jobs.progress import Parts
from engine.store import queue
from tests.jobs.conftest import wait, without_worker


class Clock:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


PARTS = (Expected("a", "first", 10.0), Expected("b", "second", 60.0), Expected("c", "third", 30.0))


def test_a_job_that_keeps_to_its_plan_tells_the_time_left():
    clock = Clock()
    whole = Parts(PARTS, clock)
    whole.begin("a")
    assert whole.whole() == {"number": 1, "parts": 3, "title": "first", "fraction": 0.0, "seconds_left": 100.0,
                             "began": 0.0}  # fmt: skip
    clock.now += 10
    whole.begin("b")
    clock.now += 30
    told = whole.whole()
    assert (told["number"], told["title"]) == (2, "second")
    assert told["fraction"] == pytest.approx(0.4)
    assert told["seconds_left"] == pytest.approx(60.0)


def test_a_job_that_goes_on_begins_where_it_was_stopped():
    clock = Clock()
    whole = Parts((replace(PARTS[0], seconds=0.0), *PARTS[1:]), clock, kept=PARTS[0].seconds)
    assert whole.whole()["fraction"] == pytest.approx(0.1)
    whole.begin("a")
    whole.begin("b")
    told = whole.whole()
    assert (told["number"], told["fraction"], told["began"]) == (2, pytest.approx(0.1), pytest.approx(0.1))
    assert told["seconds_left"] == pytest.approx(90.0), "what is kept takes no time"
    clock.now += 30
    assert whole.whole()["fraction"] == pytest.approx(0.4)


def test_where_all_but_a_moment_is_kept_the_bar_does_not_stand_at_its_end_while_work_is_left():
    for seconds in (0.0, 0.01):
        whole = Parts((replace(PARTS[0], seconds=0.0), replace(PARTS[1], seconds=seconds)), Clock(), kept=500.0)
        whole.begin("b")
        told = whole.whole()
        assert told["began"] == told["fraction"] == 0.99


def test_a_machine_half_as_fast_is_told_so_after_the_first_part():
    clock = Clock()
    whole = Parts((Expected("a", "first", 100.0), Expected("b", "second", 100.0)), clock)
    whole.begin("a")
    clock.now += 200
    whole.begin("b")
    assert whole.whole()["seconds_left"] == pytest.approx(191, abs=1)  # 100 s at a pace of 210 / 110


def test_a_part_that_overruns_tells_of_a_slower_machine_before_it_ends():
    """The time left stood still while a part took longer than expected, however long it did."""
    clock = Clock()
    whole = Parts((Expected("a", "first", 20.0), Expected("b", "second", 100.0)), clock)
    whole.begin("a")
    clock.now += 20
    on_time = float(whole.whole()["seconds_left"])
    clock.now += 100
    assert float(whole.whole()["seconds_left"]) > 3 * on_time


@pytest.mark.parametrize("seed", range(20))
def test_the_whole_never_goes_back_nor_ends_early(seed):
    rng, clock = random.Random(seed), Clock()
    made = [Expected(str(i), str(i), rng.uniform(0.05, 50)) for i in range(rng.randint(1, 12))]
    whole, last = Parts(made, clock), -1.0
    for one in made:
        if rng.random() < 0.2:
            continue  # a part that was skipped
        whole.begin(one.key)
        whole.begin("unknown")
        for _ in range(5):
            clock.now += rng.uniform(0, 2.5) * one.seconds / 5
            told = whole.whole()
            assert last <= float(told["fraction"]) < 1.0
            assert float(told["seconds_left"]) > 0.0
            last = float(told["fraction"])


def test_parts_are_those_of_the_registry_in_the_order_of_the_battery():
    keys = [one.key for one in parts(Sizes(1000, 200))]
    expected = [one.key for one in (*registry.EXAMINATIONS, *registry.LAST)]
    assert keys == [READING, *expected, LENGTHS, METRICS, *(one.key for one in registry.USEFULNESS), MAP]
    assert len(set(keys)) == len(keys)
    assert [one.key for one in parts(Sizes(1000, 200), utility=False)] == [READING, *expected]


@pytest.mark.parametrize(("records", "texts", "seconds"), [(1000, 200, 261.3), (20_706, 1000, 467.9)])
def test_the_plan_of_what_was_measured_is_what_was_measured(records, texts, seconds):
    """Measured with six language models, of which there are thirteen since."""
    seconds += 58.0 + 0.048 * texts
    assert sum(one.seconds for one in parts(Sizes(records, texts))) == pytest.approx(seconds, rel=0.1)


def test_parts_that_draw_a_sample_take_no_longer_for_a_million_records():
    """The plan of a quick one of 799,572 texts was twenty-two hours; two workers took little more than one."""
    many, few = ({one.key: one.seconds for one in parts(Sizes(n, n), models=False)} for n in (1_000_000, 10_000))
    assert many["found"] == few["found"]
    assert many[MAP] < 10 * few[MAP]
    assert many["ngrams"] > 50 * few["ngrams"], "what reads every text grows"
    assert 3600 < sum(many.values()) < 4 * 3600


def test_a_quick_examination_is_planned_without_what_trains_models():
    full, quick = (sum(one.seconds for one in parts(Sizes(500, 100), models=models)) for models in (True, False))
    assert quick < full / 3
    tuned = sum(one.seconds for one in parts(Sizes(500, 100), tuned=True))
    assert tuned > full


def test_short_jobs_go_first_and_a_waiting_one_says_behind_what(workspace, corpus, monkeypatch):
    without_worker(workspace, monkeypatch)
    with workspace.session.db.write() as connection:
        for job_id in queue.active_jobs(connection):
            queue.finish(connection, job_id, "done")
        made = {
            kind: queue.enqueue(connection, kind, corpus_id=None if kind == "detect" else corpus.id)
            for kind in ("study", "examine", "detect")
        }
    assert [job.kind for job in workspace.jobs.turns()] == ["detect", "study", "examine"]
    assert [job.kind for job in workspace.jobs.before(made["examine"])] == ["detect", "study"]
    with workspace.session.db.write() as connection:
        assert queue.claim(connection, "heavy").kind == "detect"
        detect = queue.enqueue(connection, "detect", corpus_id=corpus.id)
        queue.progress(connection, made["detect"], whole={"number": 2, "parts": 9, "title": "x", "fraction": 0.1,
                                                          "seconds_left": 30.0})  # fmt: skip
    # A detection of the corpus that waiting work is about keeps its place behind that work.
    assert [job.id for job in workspace.jobs.before(detect)] == [made["detect"], made["study"], made["examine"]]
    assert workspace.jobs.before(made["detect"]) == []  # it is at work
    assert workspace.jobs.get(made["detect"]).whole.seconds_left == 30.0
    workspace.jobs.cancel(made["detect"])
    assert workspace.jobs.get(made["detect"]).stopping


@pytest.mark.timeout(900)  # a whole examination in a real worker
def test_an_examination_reports_its_parts_in_order(workspace, corpus):
    run_id = workspace.jobs.synthesize(corpus.id, "surrogate", parameters={"without_spans": "drop"})
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=120).state == "done"
    assert workspace.jobs.examination_seconds(run_id, models=False) < workspace.jobs.examination_seconds(run_id)
    job_id = workspace.jobs.examine(run_id, model_attacks=False)
    seen = []
    while (job := workspace.jobs.get(job_id)).state in ("queued", "running"):
        if job.whole is not None and (not seen or seen[-1] != job.whole):
            seen.append(job.whole)
        time.sleep(0.05)
    assert job.state == "done", job.error
    assert len(seen) > 3
    assert [one.number for one in seen] == sorted(one.number for one in seen)
    assert all(a.fraction <= b.fraction for a, b in itertools.pairwise(seen))


@pytest.mark.parametrize("name", ["The one for Ms Ada", "two\nlines", ""])
def test_a_run_has_a_name_and_a_note_that_the_log_does_not_tell(workspace, corpus, monkeypatch, name):
    from engine.errors import UserError

    without_worker(workspace, monkeypatch)
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=3)
    workspace.runs.describe(run_id, name=name, note="for the board meeting")
    assert workspace.runs.get(run_id).name == " ".join(name.split())
    assert workspace.runs.get(run_id).note == "for the board meeting"
    lines = workspace.audit.lines()
    assert "run described" in set(lines["action"])
    assert "board" not in lines.to_csv()
    with pytest.raises(UserError, match="at most 60"):
        workspace.runs.describe(run_id, name="x" * 61, note="")
