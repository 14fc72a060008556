"""Templates in the workspace: kept for new runs, reset, audited, and fixed in a run's manifest."""

import pytest

from engine import open_workspace
from engine.errors import UserError
from engine.store.runs import run_row


@pytest.fixture
def workspace(tmp_path):
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.stop_worker()
    opened.close()


def test_a_change_is_kept_versioned_audited_and_can_be_taken_back(workspace):
    first = workspace.prompt_version()
    second = workspace.set_prompt_template("legal", "vary", "Say anew: {{ text }}")
    assert second == workspace.prompt_version() != first
    entry = workspace.prompt_templates("legal")["vary"]
    assert (entry["text"], entry["changed"]) == ("Say anew: {{ text }}", True)
    assert not workspace.prompt_templates("social")["vary"]["changed"]
    assert workspace.reset_prompt_templates("legal", "vary") == first
    workspace.set_prompt_template("legal", "vary", "Say anew: {{ text }}")
    assert workspace.reset_prompt_templates("legal") == first
    lines = workspace.audit(limit=4)
    assert list(lines["action"])[:2] == ["prompt template reset", "prompt template changed"]
    assert set(lines["subject"][:3]) == {"legal/all", "legal/vary"}


def test_what_is_refused_changes_nothing(workspace):
    first = workspace.prompt_version()
    with pytest.raises(UserError, match="secret"):
        workspace.set_prompt_template("legal", "vary", "{{ text }} {{ secret }}")
    with pytest.raises(UserError, match="domain"):
        workspace.set_prompt_template("poems", "vary", "{{ text }}")
    assert workspace.prompt_version() == first


def test_a_run_keeps_the_templates_it_was_started_with(workspace):
    corpus = workspace.import_sample("support_tickets")
    workspace.set_prompt_template("legal", "vary", "Say anew: {{ text }}")
    version = workspace.prompt_version()
    run = workspace.synthesize(corpus.id, "public", count=1, parameters={"words": 8})
    workspace.reset_prompt_templates("legal")
    with workspace.db.read() as connection:
        kept = run_row(connection, run).manifest["prompts"]
    assert kept == {"version": version, "changed": {"legal": {"vary": "Say anew: {{ text }}"}}}
    assert workspace.prompt_version() != version
