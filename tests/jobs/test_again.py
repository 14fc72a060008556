"""A run made once more: with a fresh seed where the old one would write the same text."""

import pytest

from engine.jobs.worker import launch
from engine.workspace import open_workspace
from tests.store.conftest import MAPPING, made_up


@pytest.fixture
def asleep(tmp_path, monkeypatch):
    """Return a workspace without a worker, and a corpus."""
    monkeypatch.setattr(launch, "ensure_worker", lambda folder: False)
    workspace = open_workspace(tmp_path / "w", "tester")
    yield workspace, workspace.corpora.import_table(made_up(), MAPPING, name="Letters").id
    workspace.close()


@pytest.mark.parametrize(("method", "fresh"), [("public", True), ("finetune", True), ("aug-pe", False)])
def test_only_a_run_that_draws_noise_keeps_its_seed(asleep, method, fresh):
    workspace, corpus = asleep
    parameters = {"epsilon": 1.0, "delta": 1e-3, "rounds": 2} if method == "aug-pe" else {}
    first = workspace.jobs.synthesize(corpus, method, count=4, parameters=parameters, seed=7)
    second = workspace.jobs.again(first)
    one, two = workspace.runs.get(first), workspace.runs.get(second)
    assert one.guarantee.noiseless == fresh
    assert (one.method, one.count, one.parameters, one.model) == (two.method, two.count, two.parameters, two.model)
    assert (two.seed != one.seed) == fresh
    if fresh:
        assert workspace.runs.get(workspace.jobs.again(first)).seed != two.seed
