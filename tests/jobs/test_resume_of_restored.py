"""A run that was interrupted, backed up and restored: with a guarantee it draws no more, without one it goes on."""

from __future__ import annotations

import time

import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.samples import load_sample
from engine.errors import RefusedError
from engine.store import restore
from engine.workspace import open_workspace
from tests.jobs.conftest import wait
from tests.jobs.test_dp_runs import DELTA, asked, lines, small, stored  # noqa: F401
from tests.store.making import made_with

SAMPLE = ColumnMapping(text="text", record_id="record_id", source_id="source_id", label="label", spans="spans")
PATIENCE = 180.0  # seconds; two workers start, which takes long on a busy machine
RESTORED = "before the workspace was restored"


@pytest.fixture
def again(workspace, tmp_path):
    """Return what backs the workspace up, restores it and opens the restored one."""
    opened = []

    def made():
        opened.append(open_workspace(restore(workspace.disk.backup(tmp_path / "b.zip"), tmp_path / "again"), "ben"))
        return opened[0]

    yield made
    for one in opened:
        one.jobs.stop_worker()
        one.close()


def mend(workspace, run_id):
    """Take away what made a run fail."""
    parameters = {**workspace.runs.get(run_id).parameters, "fail_at": -1}
    made_with(workspace.session, run_id, parameters=parameters)


def test_a_failed_run_with_a_guarantee_is_not_resumed_and_counts_whole(workspace, small, again):  # noqa: F811
    run_id, job_id = asked(workspace, small, rounds=4, fail_at=2)
    assert wait(workspace, job_id, seconds=PATIENCE).state == "failed"
    share = workspace.ledger.of(small.id).share
    restored = again()
    mend(restored, run_id)
    for _ in range(2):  # before and after somebody says that nothing was spent
        with pytest.raises(RefusedError, match=RESTORED):
            restored.jobs.resume(run_id)
        if restored.ledger.of(small.id).unknown_since:
            restored.ledger.declare_spent(small.id, 0.0, 0.0)
    assert lines(restored, small, run_id) == ["reserve", "spend", "spend"]
    assert stored(restored, run_id) == stored(workspace, run_id)
    assert restored.runs.get(run_id).state == "failed"
    assert restored.ledger.of(small.id).share == pytest.approx(share)
    mend(workspace, run_id)  # where it was begun it goes on
    assert wait(workspace, workspace.jobs.resume(run_id), seconds=PATIENCE).state == "done"
    assert lines(workspace, small, run_id) == ["reserve", *["spend"] * 4, "settle"]


def test_a_run_that_was_under_way_ends_in_the_restored_workspace_without_another_draw(
    workspace, small, again  # noqa: F811
):  # fmt: skip
    run_id, job_id = asked(workspace, small, rounds=200, seconds=0.2)
    deadline = time.monotonic() + PATIENCE
    while not stored(workspace, run_id):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    restored = again()
    workspace.jobs.cancel(run_id)
    before, share = stored(restored, run_id), restored.ledger.of(small.id).share
    assert restored.runs.get(run_id).state == "running"
    restored.jobs.ensure_worker()
    assert wait(restored, job_id, seconds=PATIENCE).state == "failed"
    assert RESTORED in restored.runs.get(run_id).error
    assert stored(restored, run_id) == before != {}
    assert restored.ledger.of(small.id).share == pytest.approx(share)
    assert "settle" not in lines(restored, small, run_id)


def test_a_run_without_noise_goes_on_as_it_would_have(workspace, corpus, again):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=12, parameters={"fail_at": 7, "seconds": 0.0})
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=PATIENCE).state == "failed"
    assert workspace.runs.get(run_id).kept == 5
    restored = again()
    texts = []
    for one in (workspace, restored):
        mend(one, run_id)
        assert wait(one, one.jobs.resume(run_id), seconds=PATIENCE).state == "done"
        texts.append(list(one.runs.synthetic(run_id)["text"]))
    assert texts[0] == texts[1]
    assert len(texts[0]) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("aug-pe", {"rounds": 4, "variations": 2, "epsilon": 2.0, "delta": 1e-5}),
        ("dp-finetune", {"steps": 400, "epsilon": 2.0, "delta": 1e-5}),
    ],
)
def test_a_cancelled_run_of_a_shipped_method_is_not_resumed(workspace, again, method, parameters):
    table = load_sample("support_tickets").head(24)
    labels = sorted(set(table["label"]))  # named, since few of these people hold some of them
    made = workspace.corpora.import_table(table, SAMPLE, name="Tickets", unit="source", cap=5, labels_public=labels)
    workspace.ledger.set_limit(made.id, 50.0, 1e-4)
    workspace.plan.wait_guarantee(method, corpus_id=made.id, parameters=parameters)
    run_id = workspace.jobs.synthesize(made.id, method, count=3, parameters=parameters, model="builtin", seed=3)
    deadline = time.monotonic() + 300
    while "spend" not in lines(workspace, made, run_id):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    workspace.jobs.cancel(run_id)
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=300).state == "cancelled"
    restored = again()
    with pytest.raises(RefusedError, match=RESTORED):
        restored.jobs.resume(run_id)
    assert stored(restored, run_id) == stored(workspace, run_id) != {}
