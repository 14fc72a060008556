"""Records that mechanisms need embedded are embedded by whoever there is: the same rows to the last bit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import engine.methods
from engine.jobs.tasks import synthesize, writing
from engine.jobs.worker import launch, private, slots
from tests.jobs import dp_method
from tests.jobs.conftest import wait
from tests.jobs.sharing import begun, children, free, helpers, kept_in, left_over, taken, without_jobs
from tests.jobs.test_pieces import finish
from tests.store.conftest import MAPPING, made_up


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def workspace(request, tmp_path, monkeypatch):
    """Return a workspace that knows a method which counts votes of private records."""
    monkeypatch.setattr(engine.methods, "REGISTRY", (*engine.methods.REGISTRY, *dp_method.ENTRIES))
    monkeypatch.setattr(private, "AT_ONCE", 40)
    monkeypatch.setattr("engine.store.shards.LEAST", 200)
    with kept_in(request.param, tmp_path / "workspace", monkeypatch) as opened:
        command = [sys.executable, "-m", "tests.jobs.dp_method", "--workspace", str(tmp_path / "workspace")]
        monkeypatch.setattr(launch, "worker_command", lambda folder: command)
        yield opened


def imported(workspace, records):
    """Return a corpus with its marks, without a job that waits."""
    made = workspace.corpora.import_table(made_up(records), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    workspace.review.use_gold(made.id)
    without_jobs(workspace)
    return made


def asked(workspace, corpus):
    """Ask for a run whose mechanism needs every training record embedded."""
    settings = {"feature": "votes", "rounds": 1, "epsilon": 0.5}
    return workspace.jobs.synthesize(corpus.id, "counts", count=5, parameters=settings, seed=3)


def rows(workspace, corpus):
    """Return the rows that were made, and remove them."""
    (path,) = workspace.folder.corpus(corpus.id).glob("embeddings_*.npy")
    found = np.load(path, allow_pickle=False)
    path.unlink()
    return found


def done(workspace, corpus, helped):
    """Make a run in this process; return the rows."""
    run_id = asked(workspace, corpus)
    task = taken(workspace, helped=helped)
    synthesize.run(task)
    finish(workspace, task)
    lines = workspace.ledger.of(corpus.id).lines
    assert list(lines[lines["run_id"] == run_id]["kind"]).count("spend") == 1
    return rows(workspace, corpus)


def test_helpers_change_no_row_and_nothing_is_drawn_twice(workspace, monkeypatch):
    corpus = imported(workspace, 400)
    expected, embedded = done(workspace, corpus, False), []
    make = writing.Writing._embedded

    def watched(self, piece):
        embedded.append(piece)
        assert "mechanisms" not in vars(self)
        return make(self, piece)

    monkeypatch.setattr(writing.Writing, "_embedded", watched)
    with helpers(workspace) as (did, _):
        found = done(workspace, corpus, True)
    assert did == {"h0", "h1"}
    assert len(embedded) >= 2
    assert found.shape == (workspace.ledger.facts(corpus.id).records, 384)
    assert np.array_equal(found, expected)
    assert left_over(workspace) == [0, 0]
    assert workspace.ledger.verify()["ok"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_worker_and_its_slot_embed_what_one_embeds(workspace, monkeypatch):
    corpus = imported(workspace, 2_800)
    expected = done(workspace, corpus, False)
    without_jobs(workspace)
    monkeypatch.setattr("engine.store.shards.LEAST", 1_000)
    monkeypatch.setenv(slots.ENVIRONMENT, "2")
    job = workspace.runs.get(asked(workspace, corpus)).job_id
    workspace.jobs.ensure_worker()
    pid = begun(workspace, 2, job)
    assert pid
    assert len(children(pid)) == 1
    ended = wait(workspace, job, seconds=400)
    assert ended.state == "done", ended.error
    assert (rows(workspace, corpus) == expected).all()
    assert "slot:" not in workspace.folder.worker_log.read_text()
    assert left_over(workspace) == [0, 0]
    workspace.jobs.stop_worker()
    assert free(workspace.folder)
