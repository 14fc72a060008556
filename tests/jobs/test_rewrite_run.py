"""Rewriting as a run: refused without an instruct model, end to end with a server by changed prompts, traces inside."""

import json

import pytest

from engine import open_workspace
from engine.errors import UserError
from engine.store import restore
from engine.store.runs.runs import run_row
from tests.jobs.conftest import wait
from tests.models.serving import serving


@pytest.fixture
def workspace(tmp_path):
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


def test_judges_of_a_tested_server_are_held_to_their_replies(workspace):
    """What the self-test found is kept with the endpoint, used by the run, and told by it."""
    corpus = workspace.corpora.import_sample("support_tickets")
    with serving("--plain", "--choices", "structured_outputs", "--tokens", "prompt") as served:
        near = {"name": "near", "url": served.url, "model": "builtin", "api": "chat", "prompts": "instruct"}
        workspace.models.add_endpoint(near)
        assert wait(workspace, workspace.models.test("endpoint:near"), seconds=180).error is None
        assert workspace.models.last_test("endpoint:near")["result"]["ok"]
        kept = workspace.models.endpoints()["near"]
        assert (kept.choice_form, kept.token_form, kept.scores) == ("structured_outputs", "prompt", True)
        asked = {"rounds": 2, "unfinished": "keep", "domain": "reviews", "candidates": 3}
        run_id = workspace.jobs.synthesize(corpus.id, "rewrite", count=4, parameters=asked, model="endpoint:near")
        assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=180).error is None
    with workspace.session.db.read() as connection:
        row = run_row(connection, run_id)
    assert row.manifest["model"]["answers"] == "structured_outputs"
    assert row.manifest["model"]["blocked_words"].endswith("kept out, then cut")
    judged, used = row.diagnostics["judged"], row.diagnostics["endpoint"]
    assert judged["unreadable"] == 0  # its own words are no verdicts
    assert used["held"] == judged["held to its choices"] > 0
    assert used["outside"] == 0


def test_a_run_needs_an_instruct_model_and_keeps_its_traces_inside(workspace):
    corpus = workspace.corpora.import_sample("support_tickets")
    refused = workspace.plan.draft(corpus.id, "rewrite", count=1).blockers
    assert any("follows instructions" in sentence for sentence in refused)
    with pytest.raises(UserError, match="follows instructions"):
        workspace.jobs.synthesize(corpus.id, "rewrite", count=1)
    workspace.prompts.set("reviews", "rewriter", "Nameless, please: {{ original }}")
    judge = workspace.prompts.all("reviews")["privacy_judge"]["shipped"]
    workspace.prompts.set("reviews", "privacy_judge", f"Be strict. {judge}")
    version = workspace.prompts.version()
    with serving() as served:
        workspace.models.add_endpoint(
            {"name": "near", "url": served.url, "model": "builtin", "api": "chat", "prompts": "instruct"}
        )
        asked = {"rounds": 1, "unfinished": "keep", "domain": "reviews", "candidates": 2}
        run_id = workspace.jobs.synthesize(corpus.id, "rewrite", count=1, parameters=asked, model="endpoint:near")
        workspace.prompts.reset("reviews")  # the run keeps what it was started with
        assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=180).error is None
        begins = served.stats()["begins"]
    assert begins[0].startswith("Nameless, please: ")
    # An empty rewriting is not judged; otherwise both judges are asked, the second by the template that ships.
    assert [begin[:9] for begin in begins[1:]] in ([], ["Be strict", "Here is a"])
    with workspace.session.db.read() as connection:
        kept = run_row(connection, run_id).manifest["prompts"]
    assert kept["version"] == version
    assert set(kept["changed"]["reviews"]) == {"rewriter", "privacy_judge"}
    assert workspace.runs.get(run_id).state == "done"
    folder = workspace.folder.run(run_id)
    assert not (folder / "scratch").exists()
    again = restore(workspace.disk.backup(workspace.path.parent / "b.zip"), workspace.path.parent / "again")
    kept_files = sorted(file.relative_to(workspace.path) for file in folder.rglob("*") if file.is_file())
    assert any("traces" in file.parts for file in kept_files)
    assert all((again / file).read_bytes() == (workspace.path / file).read_bytes() for file in kept_files)
    lines = (folder / "traces" / "attempts_0000000.jsonl").read_text("utf-8").splitlines()
    assert len(json.loads(lines[0])["attempts"]) == 1
    workspace.runs.delete(run_id)
    assert not folder.exists()
