"""Planning, refusals, and the worker's small parts."""

import hmac
from dataclasses import replace

import pytest

from engine.errors import NotFoundError, UserError
from engine.jobs.progress import Rate
from engine.jobs.tasks.synthesize import added, training_records
from engine.jobs.worker.lock import ProcessLock
from engine.jobs.worker.worker import frames, sentence
from engine.pii.detect.settings import DetectorSettings
from engine.store import queue
from tests.jobs.conftest import without_worker
from tests.store.conftest import MAPPING, made_up
from tests.store.span_tables import add_span


@pytest.fixture
def asleep(workspace, monkeypatch):
    """Return the workspace, with its worker kept from starting."""
    without_worker(workspace, monkeypatch)
    return workspace


def test_a_method_that_needs_spans_is_refused_without_them(asleep):
    bare = asleep.corpora.import_table(made_up(), replace(MAPPING, spans=None), name="Bare")
    with pytest.raises(UserError, match="look for identifiers in this corpus first"):
        asleep.jobs.synthesize(bare.id, "slow")
    plan = asleep.plan.draft(bare.id, "slow")
    assert len(plan.blockers) == 1
    assert plan.blockers[0].startswith("This method "), "a page and a command call it by different names"
    assert asleep.runs.all() == []


def test_gold_spans_are_enough_before_any_detection(asleep):
    gold = asleep.corpora.import_table(made_up(), MAPPING, name="Gold")
    assert asleep.plan.draft(gold.id, "slow").blockers == []
    assert asleep.runs.get(asleep.jobs.synthesize(gold.id, "slow", count=3)).state == "queued"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"count": 0}, "count"),
        ({"count": 2_000_000}, "count"),
        ({"parameters": {"seconds": -1}}, "seconds"),
        ({"model": "gpt"}, "model"),
    ],
)
def test_wrong_settings_are_refused(asleep, corpus, options, says):
    with pytest.raises(UserError, match=says):
        asleep.jobs.synthesize(corpus.id, "slow", **options)
    assert asleep.runs.all() == []


def test_unknown_ids_are_not_found(asleep, corpus):
    with pytest.raises(NotFoundError):
        asleep.jobs.get("j-nothing")
    with pytest.raises(NotFoundError):
        asleep.jobs.cancel("r-nothing")
    with pytest.raises(NotFoundError):
        asleep.jobs.synthesize("c-nothing", "slow")
    with pytest.raises(UserError, match="does not exist"):
        asleep.jobs.synthesize(corpus.id, "no such method")


def test_a_second_detection_joins_the_one_that_waits(asleep, corpus):
    assert asleep.jobs.detect(corpus.id) == asleep.jobs.detect(corpus.id)


def test_a_detection_by_other_settings_is_not_taken_for_the_one_that_is_asked_for(asleep, corpus):
    job = asleep.jobs.detect(corpus.id)
    other = DetectorSettings(preset="clinical")
    asleep.review.set_detector_settings(corpus.id, other)
    assert asleep.jobs.detect(corpus.id) == job, "one that was not begun is told the settings"
    with asleep.session.db.write() as connection:
        assert queue.claim(connection, "heavy").arguments["settings"] == other.to_json()
    assert asleep.jobs.detect(corpus.id) == job
    asleep.review.set_detector_settings(corpus.id, DetectorSettings())
    with pytest.raises(UserError, match="by the settings from before"):
        asleep.jobs.detect(corpus.id)
    asleep.jobs.cancel(job)
    assert asleep.jobs.detect(corpus.id) != job, "the one that stops does nothing more"


def test_a_run_can_be_examined_only_when_it_is_made(asleep, corpus):
    run_id = asleep.jobs.synthesize(corpus.id, "slow", count=3)
    with pytest.raises(UserError, match="still being made"):
        asleep.jobs.examine(run_id)
    asleep.jobs.cancel(run_id)
    with pytest.raises(UserError, match="no records"):
        asleep.jobs.examine(run_id)


def test_a_cancelled_run_whose_spans_changed_cannot_be_resumed(asleep, corpus):
    run_id = asleep.jobs.synthesize(corpus.id, "slow", count=3)
    asleep.jobs.cancel(run_id)
    add_span(asleep, corpus.id, "id1", 0, 6, "CODE")
    with pytest.raises(UserError, match="start a new run"):
        asleep.jobs.resume(run_id)


def test_claims_follow_the_order_of_a_lane(asleep, corpus):
    runs = [asleep.jobs.synthesize(corpus.id, "slow", count=3) for _ in range(2)]
    with asleep.session.db.write() as connection:
        light = queue.claim(connection, "light")
        heavy = queue.claim(connection, "heavy")
    assert light.kind == "profile"
    assert heavy.run_id == runs[0]
    with asleep.session.db.write() as connection:
        assert queue.recover(connection) == [light.id, heavy.id]
        assert queue.claim(connection, "heavy").id == heavy.id
    assert asleep.jobs.worker_status()["heavy"] == heavy.id


def test_a_job_whose_worker_died_after_it_was_asked_to_stop_is_not_begun_again(asleep, corpus):
    first, second = [asleep.jobs.synthesize(corpus.id, "slow", count=3) for _ in range(2)]
    with asleep.session.db.write() as connection:
        assert queue.claim(connection, "heavy").run_id == first
    assert asleep.jobs.cancel(first)
    assert asleep.runs.get(first).state == "running", "its worker is asked"
    with asleep.session.db.write() as connection:
        queue.recover(connection)
        assert queue.claim(connection, "heavy").run_id == second
    assert asleep.runs.get(first).state == "cancelled"


def test_five_attempts_without_progress_fail_a_job(asleep, corpus):
    run_id = asleep.jobs.synthesize(corpus.id, "slow", count=3)
    for _ in range(queue.MAX_ATTEMPTS):
        with asleep.session.db.write() as connection:
            assert queue.claim(connection, "heavy") is not None
            queue.recover(connection)
    with asleep.session.db.write() as connection:
        assert queue.claim(connection, "heavy") is None
    assert asleep.runs.get(run_id).state == "failed"
    assert "5 times" in asleep.runs.get(run_id).error


def test_a_method_gets_the_training_part_in_an_order_that_depends_on_the_key_alone(asleep):
    one = asleep.corpora.import_table(made_up(30), MAPPING, name="One", holdout=0.0)
    other = asleep.corpora.import_table(
        made_up(30).iloc[::-1], MAPPING, name="Other", holdout=0.0, same_people_as=[one.id]
    )
    order = list(training_records(asleep, one.id)["record_id"])
    assert order == list(training_records(asleep, other.id)["record_id"])
    rank = [hmac.digest(asleep.corpora.subkey("order"), b"order\0" + i.encode(), "sha256") for i in order]
    assert rank == sorted(rank)
    assert sorted(order) == sorted(made_up(30)["id"])


def test_the_rate_follows_the_clock():
    time = iter([0.0, 0.0, 10.0, 20.0, 30.0, 31.0])
    rate = Rate(half_life_seconds=20.0, clock=lambda: next(time))
    assert rate.seconds_left("a", 0, 100) is None
    assert rate.seconds_left("a", 10, 100) == pytest.approx(90.0)  # 1 a second
    assert rate.seconds_left("a", 20, 100) == pytest.approx(80.0)
    faster = rate.seconds_left("a", 60, 100)  # 4 a second now: between the two
    assert 10.0 < faster < 40.0
    assert rate.seconds_left("b", 0, 5) is None  # a new stage starts anew


def test_a_lock_is_held_by_one(tmp_path):
    first, second = ProcessLock(tmp_path / "l"), ProcessLock(tmp_path / "l")
    assert not second.held()
    assert first.acquire()
    assert not second.acquire()
    assert second.held()
    first.name_owner()
    assert second.owner() > 0
    first.release()
    assert not second.held()
    assert second.acquire()


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (UserError("count: must be at least 1"), "count: must be at least 1"),
        (MemoryError("Zanzibarnacle"), "out of memory"),
        (ModuleNotFoundError("Zanzibarnacle", name="umap"), "'umap' is missing"),
        (KeyError("Zanzibarnacle"), "KeyError"),
    ],
)
def test_an_error_becomes_a_sentence_without_its_message(error, says):
    assert says in sentence(error)
    assert "Zanzibarnacle" not in sentence(error)
    assert "Zanzibarnacle" not in frames(error)


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ({}, {"n": 1}, {"n": 1}),
        ({"n": 1}, {"n": 2}, {"n": 3}),
        ({"by": {"a": 1}}, {"by": {"a": 1, "b": 2}}, {"by": {"a": 2, "b": 2}}),
        ({"domain": "x"}, {"domain": "y"}, {"domain": "y"}),
        ({"flag": True}, {"flag": False}, {"flag": False}),
    ],
)
def test_diagnostics_of_batches_add_up(old, new, result):
    assert added(old, new) == result
