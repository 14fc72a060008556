"""Templates in the workspace: kept for new runs, reset, audited, and fixed in a run's manifest."""

import pytest

from engine import open_workspace
from engine.errors import UserError
from engine.store.runs.runs import run_row


@pytest.fixture
def workspace(tmp_path):
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


def test_a_change_is_kept_versioned_audited_and_can_be_taken_back(workspace):
    first = workspace.prompts.version()
    second = workspace.prompts.set("legal", "vary", "Say anew: {{ text }}")
    assert second == workspace.prompts.version() != first
    entry = workspace.prompts.all("legal")["vary"]
    assert (entry["text"], entry["changed"]) == ("Say anew: {{ text }}", True)
    assert not workspace.prompts.all("social")["vary"]["changed"]
    assert workspace.prompts.reset("legal", "vary") == first
    workspace.prompts.set("legal", "vary", "Say anew: {{ text }}")
    assert workspace.prompts.reset("legal") == first
    lines = workspace.audit.lines(limit=4)
    assert list(lines["action"]) == ["prompt template reset", "prompt template changed"] * 2, "one line an act"
    assert list(lines["subject"]) == ["legal/all", "legal/vary", "legal/vary", "legal/vary"]


def test_what_is_refused_changes_nothing(workspace):
    first = workspace.prompts.version()
    with pytest.raises(UserError, match="secret"):
        workspace.prompts.set("legal", "vary", "{{ text }} {{ secret }}")
    with pytest.raises(UserError, match="domain"):
        workspace.prompts.set("poems", "vary", "{{ text }}")
    assert workspace.prompts.version() == first


def test_a_run_keeps_the_templates_it_was_started_with(workspace):
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.prompts.set("legal", "vary", "Say anew: {{ text }}")
    version = workspace.prompts.version()
    run = workspace.jobs.synthesize(corpus.id, "public", count=1, parameters={"words": 8})
    workspace.prompts.reset("legal")
    with workspace.session.db.read() as connection:
        kept = run_row(connection, run).manifest["prompts"]
    assert kept == {"version": version, "changed": {"legal": {"vary": "Say anew: {{ text }}"}}}
    assert workspace.prompts.version() != version


def test_a_run_keeps_the_language_that_a_person_declared(workspace):
    corpus = workspace.corpora.import_sample("support_tickets")
    asked = {"count": 1, "parameters": {"words": 8}}

    def kept(run):
        with workspace.session.db.read() as connection:
            return run_row(connection, run).manifest["prompts"]

    assert "language" not in kept(workspace.jobs.synthesize(corpus.id, "public", **asked))
    workspace.descriptions.declare(corpus.id, "Kundenanfrage", "de", "generic")
    told = kept(workspace.jobs.synthesize(corpus.id, "public", **asked))
    assert told["language"] == "de"
    assert told["version"] != workspace.prompts.version()
    assert told == workspace.prompts.manifest("de")
    workspace.descriptions.declare(corpus.id, "customer request", "ja", "generic")  # no prompts are written in it
    assert "language" not in kept(workspace.jobs.synthesize(corpus.id, "public", **asked))
