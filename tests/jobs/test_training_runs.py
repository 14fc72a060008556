"""Private fine-tuning in a real worker: paid at first, stored step by step, gone on after a kill, kept inside."""

import hashlib
import os
import signal
import time

import pytest

from engine.jobs.tasks.synthesize import LOSS_WATCHED
from engine.models.builtin.shipped import lm_folder
from tests.jobs.conftest import PATIENCE, wait
from tests.store.conftest import MAPPING, made_up

pytestmark = pytest.mark.timeout(900)  # trainings in real workers
DELTA = 1e-5
QUICK = {"delta": DELTA, "epsilon": 2.0, "rank": 2, "tokens": 12, "units_a_step": 40, "words": 8, "lengths": "public"}
QUICK |= {"watch_loss": True}


@pytest.fixture
def small(workspace):
    """Return a corpus of its own under a limit of ε = 10."""
    made = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    workspace.ledger.set_limit(made.id, 10.0, DELTA)
    return made


def started(workspace, corpus, method="dp-finetune", count=6, **parameters):
    run_id = workspace.jobs.synthesize(corpus.id, method, count=count, parameters=QUICK | parameters)
    return run_id, workspace.runs.get(run_id).job_id


def lines(workspace, corpus, run_id):
    frame = workspace.ledger.of(corpus.id).lines
    return frame[frame["run_id"] == run_id].reset_index(drop=True)


def test_a_training_is_paid_at_first_killed_and_gone_on(workspace, small):
    weights = lm_folder() / "model.safetensors"
    before = hashlib.sha256(weights.read_bytes()).hexdigest()
    steps = 12
    run_id, job_id = started(workspace, small, steps=steps)
    deadline = time.monotonic() + 150 * PATIENCE
    while len(workspace.runs.diagnostics(run_id).get("training_losses", [])) < 3:
        assert time.monotonic() < deadline, workspace.folder.worker_log.read_text()
        time.sleep(0.02)
    assert list(lines(workspace, small, run_id)["kind"]) == ["reserve", "touch", "spend"]
    os.kill(workspace.jobs.worker_status()["pid"], signal.SIGKILL)
    while workspace.jobs.worker_status()["alive"]:
        time.sleep(0.01)
    seen = workspace.runs.diagnostics(run_id)["training_losses"]
    assert len(seen) < steps
    assert workspace.runs.get(run_id).state == "running"
    workspace.jobs.ensure_worker()  # as the page does
    job = wait(workspace, job_id, seconds=120)
    assert job.state == "done", job.error
    losses = workspace.runs.diagnostics(run_id)["training_losses"]
    assert len(losses) == steps
    assert losses[: len(seen)] == seen  # what was shown was stored, and no step of it was drawn anew
    table = lines(workspace, small, run_id)
    assert list(table["kind"]) == ["reserve", "touch", "spend", "spend", "settle"]
    assert list(table["what"])[2:4] == ["gradients of training", "label histogram"]
    assert LOSS_WATCHED in set(table["sentence"])
    view = workspace.ledger.of(small.id)
    assert view.total_epsilon == pytest.approx(2.0, rel=1e-3)
    assert not view.unbounded
    funnel = workspace.runs.get(run_id).funnel
    dropped = sum(count for stage, count in funnel.items() if stage.startswith("dropped"))
    assert funnel["made"] == 6, "each is written; how many hold words hangs on the noise of the training"
    assert 0 < len(workspace.runs.synthetic(run_id)) == funnel["kept"] == 6 - dropped
    assert not workspace.folder.scratch(run_id).exists()
    tuned = workspace.folder.run(run_id) / "tuned"
    kept = tuned / "model.safetensors"
    assert {path.name for path in tuned.iterdir()} == {"model.safetensors", "config.json", "tokenizer.json"}
    assert tuned.stat().st_mode & 0o077 == 0
    assert hashlib.sha256(kept.read_bytes()).hexdigest() != before
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == before
    workspace.runs.delete(run_id)
    assert not tuned.exists()


def test_a_loss_that_is_not_watched_is_neither_kept_nor_a_touch(workspace, small):
    run_id, job_id = started(workspace, small, steps=2, watch_loss=False)
    assert wait(workspace, job_id, seconds=90).state == "done"
    assert "training_losses" not in workspace.runs.diagnostics(run_id)
    assert list(lines(workspace, small, run_id)["kind"]) == ["reserve", "spend", "spend", "settle"]


@pytest.mark.slow
def test_plain_training_is_a_touch_and_goes_on_after_a_cancel(workspace, small):
    parameters = {"rank": 2, "tokens": 12, "epochs": 8, "records_a_step": 2, "words": 8}
    run_id = workspace.jobs.synthesize(small.id, "goldfish", count=4, parameters=parameters)
    job_id = workspace.runs.get(run_id).job_id
    wait(workspace, job_id, seconds=90, reach=3)
    workspace.jobs.cancel(job_id)
    assert wait(workspace, job_id, seconds=30).state == "cancelled"
    seen = workspace.runs.diagnostics(run_id)["training_losses"]
    assert wait(workspace, workspace.jobs.resume(run_id), seconds=120).state == "done"
    losses = workspace.runs.diagnostics(run_id)["training_losses"]
    assert losses[: len(seen)] == seen
    assert sum(losses[-10:]) < sum(losses[:10])
    assert list(lines(workspace, small, run_id)["kind"]) == ["touch"]
    assert (workspace.folder.run(run_id) / "tuned" / "model.safetensors").is_file()
