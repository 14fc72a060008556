"""A run's own folder for checkpoints: training goes on where a kill cut it off; the folder goes when it is done."""

import sys
import zipfile

import pytest

import engine.methods
from engine.jobs.worker import launch
from engine.store.disk.folder import SCRATCH
from engine.workspace import open_workspace
from tests.jobs import training_method
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up


@pytest.fixture
def training(tmp_path, monkeypatch):
    """An open workspace with a corpus, whose worker knows the method that trains."""
    monkeypatch.setattr(engine.methods, "REGISTRY", (*engine.methods.REGISTRY, training_method.ENTRY))
    monkeypatch.setattr(
        launch,
        "worker_command",
        lambda folder: [sys.executable, "-m", "tests.jobs.training_method", "--workspace", str(folder.path)],
    )
    opened = open_workspace(tmp_path / "workspace", "tester")
    made = opened.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    yield opened, made.id
    opened.jobs.stop_worker()
    opened.close()


def trained(workspace, corpus_id, **parameters):
    run_id = workspace.jobs.synthesize(corpus_id, "training", count=1, parameters=parameters)
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=180)
    return run_id, job


@pytest.mark.slow
def test_a_killed_training_goes_on_from_its_last_epoch_and_leaves_nothing(training):
    workspace, corpus_id = training
    whole, _ = trained(workspace, corpus_id, die=False)
    text = workspace.runs.synthetic(whole)["text"][0]
    assert text.startswith("Trained [1, 2, 3] to ")
    run_id = workspace.jobs.synthesize(corpus_id, "training", count=1)
    job_id = workspace.runs.get(run_id).job_id
    while workspace.jobs.get(job_id).state not in ("done", "failed"):
        workspace.jobs.ensure_worker()  # as the page does; the first worker dies in the third epoch
        wait(workspace, job_id, ("done", "failed", "running"), seconds=180)
    after = workspace.runs.synthetic(run_id)["text"][0]
    assert after == text.replace("[1, 2, 3]", "[3]", 1)  # two epochs were not repeated, and the losses are the same
    for done in (whole, run_id):
        assert not workspace.folder.scratch(done).exists()


def test_a_failed_run_keeps_its_checkpoints_out_of_backups_until_it_is_deleted(training, tmp_path):
    workspace, corpus_id = training
    run_id, job = trained(workspace, corpus_id, die=False, fail=True)
    assert job.state == "failed"
    scratch = workspace.folder.scratch(run_id)
    assert (scratch / "net" / "epoch.safetensors").is_file()
    assert scratch.stat().st_mode & 0o077 == 0
    workspace.disk.backup(tmp_path / "copy.backup")
    with zipfile.ZipFile(tmp_path / "copy.backup") as archive:
        assert not [name for name in archive.namelist() if SCRATCH in name]
    wait(workspace, workspace.jobs.resume(run_id), seconds=180)
    assert workspace.runs.synthetic(run_id)["text"][0].startswith("Trained [] to ")  # nothing was left to train
    assert not scratch.exists()
    run_id, _ = trained(workspace, corpus_id, die=False, fail=True)
    workspace.runs.delete(run_id)
    assert not workspace.folder.run(run_id).exists()
