"""Studies in a real worker process: done, cancelled, killed and resumed; tables stay whole and go with their corpus."""

import os
import signal
import sys
import time

import pytest

import engine.studies
from engine.errors import NotFoundError, UserError
from engine.jobs.worker import launch
from engine.workspace import open_workspace
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up
from tests.studies import slow_study


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(engine.studies, "REGISTRY", (*engine.studies.REGISTRY, slow_study.ENTRY))
    command = [sys.executable, "-m", "tests.studies.slow_study", "--idle-seconds", "60", "--workspace"]
    monkeypatch.setattr(launch, "worker_command", lambda folder: [*command, str(folder.path)])
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


@pytest.fixture
def corpus(workspace):
    return workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)


def finished(workspace, job, count):
    deadline = time.monotonic() + 60
    while workspace.studies.run(job).done < count:
        assert time.monotonic() < deadline, workspace.studies.run(job)
        time.sleep(0.02)


def test_a_study_keeps_a_table_a_variant_and_says_so_in_the_ledger(workspace, corpus):
    job = workspace.studies.start(corpus.id, "slow", {"variants": 2, "seconds": 0})
    assert wait(workspace, job).state == "done"
    run = workspace.studies.run(job)
    assert (run.study, run.done, run.total, run.parameters["variants"]) == ("slow", 2, 2, 2)
    table = workspace.studies.results(job)["summary"]
    training = len(workspace.corpora.records(corpus.id, split="train", limit=10_000))
    assert table["variant"].tolist() == ["0", "1"]
    assert set(table["value"]) == {float(training)}
    lines = workspace.ledger.of(corpus.id).lines
    assert [(k, w) for k, w in zip(lines["kind"], lines["what"], strict=True) if k == "touch"] == [("touch", "study")]
    folder = workspace.folder.corpus(corpus.id) / "studies" / job
    assert [p.name for p in folder.iterdir()] == ["2"]
    with pytest.raises(UserError, match="nothing to resume"):
        workspace.studies.resume(job)
    workspace.studies.delete(job)
    assert not folder.exists()
    with pytest.raises(NotFoundError):
        workspace.studies.run(job)


def test_a_killed_worker_goes_on_after_the_last_finished_variant(workspace, corpus):
    job = workspace.studies.start(corpus.id, "slow", {"variants": 3, "pieces": 10, "seconds": 0.1})
    finished(workspace, job, 1)
    os.kill(workspace.jobs.worker_status()["pid"], signal.SIGKILL)
    assert workspace.studies.results(job)["summary"]["variant"].tolist() == ["0"]
    assert wait(workspace, job).state == "done"  # asking starts another worker
    table = workspace.studies.results(job)["summary"]
    assert table["variant"].tolist() == ["0", "1", "2"]
    assert table["begun"].tolist() == [0, 1, 2]
    assert (workspace.ledger.of(corpus.id).lines["what"] == "study").sum() == 1


def test_cancel_stops_inside_a_variant_and_resume_goes_on(workspace, corpus):
    job = workspace.studies.start(corpus.id, "slow", {"variants": 2, "pieces": 4000, "seconds": 0.02})
    wait(workspace, job, reach=1)
    begun = time.monotonic()
    assert workspace.jobs.cancel(job)
    assert wait(workspace, job).state == "cancelled"
    assert time.monotonic() - begun < 40  # a variant takes eighty seconds
    assert workspace.studies.results(job) == {}
    assert workspace.studies.resume(job) == job
    wait(workspace, job, reach=1, states=("running",))
    workspace.jobs.cancel(job)
    wait(workspace, job)


def test_parameters_are_checked_before_anything_is_queued(workspace, corpus):
    workspace.review.use_gold(corpus.id)
    with pytest.raises(UserError, match="canaries of study 'filter-presets'"):
        workspace.studies.start(corpus.id, "filter-presets", {"canaries": -1})
    with pytest.raises(UserError, match=r"known are: .*slow"):
        workspace.studies.start(corpus.id, "no-such-study")
    assert workspace.studies.runs(corpus.id) == []


def test_a_deleted_corpus_takes_its_studies_along(workspace, corpus):
    job = workspace.studies.start(corpus.id, "slow", {"variants": 1, "seconds": 0})
    wait(workspace, job)
    workspace.corpora.delete(corpus.id)
    assert workspace.studies.runs() == []
    assert not (workspace.folder.corpus(corpus.id) / "studies").exists()
