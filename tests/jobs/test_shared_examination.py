"""One examination, many workers: the same findings to the last digit, whatever their number and whoever is killed."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace

import pytest

from engine.errors import NotFoundError
from engine.examine.members.membership import SCORES
from engine.examine.prepare import NEAR_DUPLICATES
from engine.jobs.tasks import examine, examining
from engine.jobs.worker import slots
from engine.jobs.worker.task import Stopped
from engine.store import shards as store_shards
from engine.store.runs import kept_parts
from tests.jobs import examined, sharing
from tests.jobs.conftest import wait
from tests.jobs.examined import BOTH, PRIVACY, alone, end, forget, taken, told_once
from tests.jobs.sharing import begun, free, helpers, killed_and_done, left_over, put_back
from tests.jobs.test_stopped_examination import kept_files, outcome, same, the_run


@pytest.fixture(scope="module", autouse=True)
def threads():
    """Compute with one thread."""
    with examined.one_thread():
        yield


@pytest.fixture(
    params=["sqlite", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("postgresql", sharing.ENCRYPTED))]
)
def workspace(request, tmp_path, monkeypatch):
    """Return a workspace with a run that leaks some of its corpus."""
    with examined.kept_in(request.param, tmp_path / "workspace", monkeypatch) as opened:
        yield opened


@pytest.mark.parametrize(
    "settings",
    [PRIVACY, PRIVACY | {"embedder": "ngrams"}, pytest.param(BOTH, marks=pytest.mark.slow)],
    ids=["privacy", "privacy by character n-grams", "both"],
)
def test_helpers_change_no_finding(workspace, settings):
    expected = alone(workspace, settings)
    pieces = []
    make = examining.Examining._make

    def watched(self, asked):
        pieces.append(asked)
        return make(self, asked)

    task = taken(workspace, True, settings)
    with pytest.MonkeyPatch.context() as patch, helpers(workspace) as (did, _):
        patch.setattr(examining.Examining, "_make", watched)
        examine.run(task)
    end(workspace, task)
    assert did == {"h0", "h1"}
    assert {"embed", "parts"} <= {name for asked in pieces for name in asked}, "both kinds of pieces were helped with"
    same(outcome(workspace), expected)
    assert left_over(workspace) == [0, 0]
    assert kept_files(workspace) == []
    told_once(workspace)


def test_a_helper_that_sees_something_else_leaves_it(workspace, monkeypatch):
    expected = alone(workspace, PRIVACY)
    begin = examining.HelperShelf.__init__

    def other(self, store, run_id, given, more):
        begin(self, store, run_id, given, (*more, "an approval that is not there yet"))

    monkeypatch.setattr(examining.HelperShelf, "__init__", other)
    task = taken(workspace, True, PRIVACY)
    with helpers(workspace, ("h0",), failing=True) as (_, said):
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
    assert left_over(workspace) == [0, 0]
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
        with suppress(NotFoundError):  # the other helper has deleted it
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
    put_back(workspace, task)
    task = sharing.taken(workspace, True, worker="w2")
    with helpers(workspace, ("h1",)):
        examine.run(task)
    end(workspace, task)
    same(outcome(workspace), expected)
    assert left_over(workspace) == [0, 0]
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
        assert left_over(workspace) == [0, 0]
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
    expected = alone(workspace, BOTH)
    job = workspace.jobs.examine(the_run(workspace), model_attacks=False)
    killed_and_done(workspace, job, monkeypatch, seed=seed, rounds=rounds, within=3.0)
    same(outcome(workspace), expected)
    assert left_over(workspace) == [0, 0]
    assert kept_files(workspace) == []
    told_once(workspace)


def test_what_a_group_computed_first_goes_with_it(monkeypatch):
    """Of a million records the index of all private details stayed for good, beside every part that came after."""
    from engine.examine import apart
    from engine.jobs.worker import parts_ahead

    prepared = SimpleNamespace(kept={"public": 1, SCORES: []}, given=None)
    seen = []

    def measure(_prepared, key, _run, _name):
        seen.append((key, "index" in _prepared.kept))
        _prepared.kept |= {"index": 1, NEAR_DUPLICATES: 2}

    monkeypatch.setattr(parts_ahead, "keep", measure)
    monkeypatch.setattr(apart, "kept_as", lambda _, key: key)
    assert parts_ahead.measured(prepared, {"parts": ["linkage", "attributes"]}) == {"parts": ["linkage", "attributes"]}
    assert seen == [("linkage", False), ("attributes", True)], "the second of the group finds what the first made"
    assert prepared.kept == {"public": 1, SCORES: [], NEAR_DUPLICATES: 2}
