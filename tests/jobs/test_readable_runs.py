"""Readability in runs of a real worker: what is dropped is counted once, also where the run was taken up again."""

from tests.jobs.conftest import wait
from tests.jobs.slow_method import EMPTY
from tests.store.making import made_with

SETTINGS = {"seconds": 0.001, "batch": 5, "empty_every": 4}  # 8 of 30 say nothing


def finished(workspace, corpus, **changes):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=30, parameters=SETTINGS | changes, seed=3)
    return run_id, wait(workspace, workspace.runs.get(run_id).job_id)


def test_a_run_drops_and_counts_or_keeps_and_counts(workspace, corpus):
    run_id, job = finished(workspace, corpus)
    run = workspace.runs.get(run_id)
    assert (job.state, run.kept) == ("done", 22)
    assert run.funnel == {"made": 30, "kept": 22, "dropped: repeats phrases": 8}
    table = workspace.runs.synthetic(run_id, limit=100)
    assert EMPTY not in set(table["text"])
    assert list(table["record_id"]) == [f"s-{i:06d}" for i in range(1, 23)]
    assert EMPTY not in job.sample
    kept, _ = finished(workspace, corpus, unreadable="flag")
    assert workspace.runs.get(kept).funnel == {"made": 30, "kept": 30, "flagged: repeats phrases": 8}
    said = workspace.runs.diagnostics(kept)["readability"]
    assert sum(said.values()) == 30


def test_a_run_taken_up_again_counts_no_dropped_text_twice(workspace, corpus):
    whole, _ = finished(workspace, corpus)
    run_id, job = finished(workspace, corpus, fail_at=17)
    assert job.state == "failed"
    assert (
        workspace.runs.get(run_id).funnel["dropped: repeats phrases"] == 4
    )  # of the three batches that were committed
    made_with(workspace.session, run_id, parameters=SETTINGS | {"fail_at": -1})
    assert wait(workspace, workspace.jobs.resume(run_id)).state == "done"
    assert workspace.runs.get(run_id).funnel == workspace.runs.get(whole).funnel
    assert list(workspace.runs.synthetic(run_id)["text"]) == list(workspace.runs.synthetic(whole)["text"])
