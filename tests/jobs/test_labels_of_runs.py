"""A run's list of labels is the one that was declared when it was asked for; runs of the first edition start anew."""

from types import SimpleNamespace

import pytest

from engine.errors import UserError
from engine.jobs.tasks import synthesize
from engine.jobs.worker import launch
from engine.methods import get_method
from engine.store.runs.runs import run_row
from engine.workspace import open_workspace
from tests.store.conftest import MAPPING, made_up
from tests.store.making import made_with


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return a workspace without a worker, a corpus with a public list of labels, and a queued run."""
    monkeypatch.setattr(launch, "ensure_worker", lambda folder: False)
    workspace = open_workspace(tmp_path / "w", "tester")
    corpus = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", labels_public=True)
    yield workspace, corpus.id, workspace.jobs.synthesize(corpus.id, "public", count=3)
    workspace.close()


def labels_of(workspace, corpus, run_id):
    with workspace.session.db.read() as connection:
        row = run_row(connection, run_id)
    task = SimpleNamespace(store=workspace, corpus_id=corpus, run_id=run_id)
    return synthesize._labels(task, row, get_method(row.method))


def test_a_later_declaration_does_not_change_a_run(asked):
    workspace, corpus, run_id = asked
    assert labels_of(workspace, corpus, run_id) == ("knee",)
    workspace.labels.declare(corpus, ["shin"])
    assert labels_of(workspace, corpus, run_id) == ("knee",)
    workspace.labels.withdraw(corpus)
    assert labels_of(workspace, corpus, run_id) == ("knee",)
    assert labels_of(workspace, corpus, workspace.jobs.synthesize(corpus, "public", count=3)) == ()
    # Methods without a formal claim read the records anyway.
    assert labels_of(workspace, corpus, workspace.jobs.synthesize(corpus, "finetune", count=3)) == ("knee",)


def test_a_run_of_the_first_edition_is_not_gone_on_with(asked):
    workspace, corpus, run_id = asked
    workspace.jobs.cancel(run_id)
    made_with(workspace.session, run_id, manifest={"versions": {}})
    with pytest.raises(UserError, match="earlier edition"):
        workspace.jobs.resume(run_id)
    with pytest.raises(UserError, match="earlier edition"):
        labels_of(workspace, corpus, run_id)
