"""Runs with models that were added: through a real server, refused without consent, with keys out of sight."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator

import pytest

from engine.errors import UserError
from engine.models.remote.endpoint_settings import EndpointSettings
from engine.store.views import CorpusSummary
from engine.workspace import Workspace, open_workspace
from tests.jobs import conftest
from tests.models.serving import ROOT, Served, serving
from tests.models.tiny_models import make_chat

KEY = "sk-secret-271828182845"
FAR = {"name": "far", "url": "https://192.0.2.7/v1", "model": "big"}
WHY = "Data processing agreement 12/2026, decided by the board."


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("--key", KEY) as server:
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Workspace]:
    """Return a workspace whose one worker serves the tests that only need it to be at work."""
    opened = open_workspace(tmp_path_factory.mktemp("shared") / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


@pytest.fixture(scope="module")
def letters(shared) -> CorpusSummary:
    made = shared.corpora.import_sample("support_tickets")
    shared.review.use_gold(made.id)
    return shared.corpora.get(made.id)


def wait(workspace, job_id, **values):
    """Poll a job until it has ended; opening a model takes long on a busy machine."""
    return conftest.wait(workspace, job_id, **({"seconds": 240} | values))


def near(server: Served, **values) -> dict:
    return {
        "name": "near", "url": server.url, "model": "builtin", "api": "completions", "prompts": "builtin",
        "concurrency": 4, "price_in": 1.0, "price_out": 2.0, **values,
    }  # fmt: skip


def everything(workspace) -> bytes:
    """Return every byte of the database, logs and files of a workspace, its keys left out."""
    with sqlite3.connect(workspace.folder.database) as connection:
        dump = "\n".join(connection.iterdump()).encode()
    files = [p for p in workspace.folder.path.rglob("*") if p.is_file() and p.parent.name != "keys"]
    return dump + b"".join(p.read_bytes() for p in files)


def test_public_runs_through_a_server_end_to_end(shared, letters, served):
    workspace, corpus = shared, letters
    workspace.models.add_endpoint(near(served), KEY)
    served.faults(500, {"status": 429, "retry_after": 0.1})
    before = served.stats()["requests"]
    answer = workspace.plan.draft(corpus.id, "public", count=6, parameters={"words": 25}, model="endpoint:near")
    assert answer.blockers == []
    assert any("prices" in warning for warning in answer.warnings)
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=6, parameters={"words": 25}, model="endpoint:near")
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=120).error is None
    run = workspace.runs.get(run_id)
    assert (run.state, run.kept, run.model) == ("done", 6, "endpoint:near")
    texts = list(workspace.runs.synthetic(run_id)["text"])
    assert all(len(text.split()) > 5 for text in texts)
    with workspace.session.db.read() as connection:
        row = connection.exec_driver_sql("SELECT manifest, diagnostics FROM runs WHERE id = ?", (run_id,)).one()
    manifest, used = json.loads(row.manifest)["model"], json.loads(row.diagnostics)["endpoint"]
    assert (manifest["id"], manifest["architecture"]) == ("endpoint:near", "builtin")
    assert manifest["where"] == f"127.0.0.1:{served.port}"
    assert used["requests"] == served.stats()["requests"] - before >= 8
    assert used["retries"] == 2
    assert used["cost"] == pytest.approx((used["tokens_in"] + 2 * used["tokens_out"]) / 1e6, rel=1e-3)
    assert "--model endpoint:near" in workspace.runs.script(run_id)
    assert served.stats()["keys"][-1] == f"Bearer {KEY}"  # it was used
    workspace.doctor.support_file(workspace.folder.path / "support.zip")
    workspace.disk.backup(workspace.folder.path.parent / "backup.zip")
    assert KEY.encode() not in everything(workspace) + (workspace.folder.path.parent / "backup.zip").read_bytes()
    assert KEY not in repr(workspace.models.all()) + workspace.audit.lines().to_json()
    if os.name == "posix":
        assert (workspace.folder.path / "keys" / "near").stat().st_mode & 0o777 == 0o600
    assert all(check["ok"] for check in workspace.doctor.check()["checks"] if check["name"] == "private to its owner")


def test_a_model_is_asked_in_the_language_that_a_person_declared(shared, served):
    workspace = shared
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.descriptions.declare(corpus.id, "Kundenanfrage", "de", "generic")
    workspace.models.add_endpoint(near(served, name="instructed", api="chat", prompts="instruct"), KEY)
    before = len(served.stats()["begins"])
    run_id = workspace.jobs.synthesize(
        corpus.id, "public", count=3, parameters={"words": 25}, model="endpoint:instructed"
    )  # fmt: skip
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=120).state in ("done", "failed")
    begun = served.stats()["begins"][before:]
    assert len(begun) >= 3
    assert all(one.startswith("Du schreibst klare, natürliche Texte.") for one in begun)


def test_a_key_may_stay_in_the_environment(workspace, corpus, served, monkeypatch):
    workspace.models.add_endpoint(near(served, key_source="environment", key_variable="UNDERSTUDY_TEST_KEY"))
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=2, parameters={"words": 20}, model="endpoint:near")
    assert "UNDERSTUDY_TEST_KEY is not set" in wait(workspace, workspace.runs.get(run_id).job_id).error
    workspace.jobs.stop_worker()
    monkeypatch.setenv("UNDERSTUDY_TEST_KEY", KEY)
    workspace.jobs.resume(run_id)
    assert wait(workspace, workspace.runs.get(run_id).job_id).error is None
    assert KEY.encode() not in everything(workspace)
    assert not (workspace.folder.path / "keys" / "near").exists()


def test_another_machine_needs_a_consent_for_each_corpus(workspace, corpus, tmp_path, monkeypatch):
    log = tmp_path / "netguard.log"
    log.touch()
    monkeypatch.setenv("UNDERSTUDY_NETGUARD", str(log))
    path = os.pathsep.join([str(ROOT / "tests" / "netguard"), str(ROOT)])
    monkeypatch.setenv("PYTHONPATH", path)
    workspace.jobs.stop_worker()  # the next one has the guard
    workspace.models.add_endpoint({**FAR, "tries": 1}, KEY)
    asked = {"count": 2, "parameters": {"words": 20}, "model": "endpoint:far"}
    assert any("written consent" in b for b in workspace.plan.draft(corpus.id, "public", **asked).blockers)
    with pytest.raises(UserError, match="written consent"):
        workspace.jobs.synthesize(corpus.id, "public", **asked)
    with pytest.raises(UserError, match="consent"):
        workspace.models.test("endpoint:far")
    for text, host, said in (("yes", "192.0.2.7:443", "characters"), (WHY, "example.org:443", "typed as 192.0.2.7")):
        with pytest.raises(UserError, match=said):
            workspace.models.give_consent(corpus.id, "far", text, host)

    given = workspace.models.give_consent(corpus.id, "far", WHY, "192.0.2.7:443")
    assert (given.who, given.text, given.host, given.corpus_id) == ("tester", WHY, "192.0.2.7:443", corpus.id)
    line = workspace.audit.lines(limit=1).iloc[0]
    assert line["action"] == "consent to an endpoint given"
    assert line["subject"] == corpus.id
    assert json.loads(line["detail"]) == {"endpoint": "far", "host": "192.0.2.7:443", "model": "big", "text": WHY}
    assert workspace.audit.verify()["ok"]
    other = workspace.corpora.import_sample("support_tickets")
    assert any("written consent" in b for b in workspace.plan.draft(other.id, "public", **asked).blockers)

    assert workspace.plan.draft(corpus.id, "public", **asked).blockers == []
    assert log.read_text() == ""  # until now nothing looked beyond this machine
    run_id = workspace.jobs.synthesize(corpus.id, "public", **asked)
    assert "connection broke" in wait(workspace, workspace.runs.get(run_id).job_id).error
    assert "192.0.2.7" in log.read_text()  # with the consent the worker tries, so the guard does look

    workspace.models.withdraw_consent(corpus.id, "far")
    log.write_text("")
    assert workspace.models.consents() == []
    with pytest.raises(UserError, match="written consent"):
        workspace.jobs.resume(run_id)
    assert log.read_text() == ""


def test_a_worker_refuses_a_run_whose_consent_ended_while_it_waited(workspace, corpus, monkeypatch):
    workspace.models.add_endpoint({**FAR, "tries": 1})
    workspace.models.give_consent(corpus.id, "far", WHY, "192.0.2.7:443")
    monkeypatch.setattr(workspace.session, "wake", lambda: None)
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=2, model="endpoint:far")
    with workspace.session.db.write() as connection:  # as a withdrawal that found the run between two states
        workspace.session.write_audit(connection, "consent to an endpoint withdrawn", corpus.id, endpoint="far")
    workspace.jobs.ensure_worker()
    monkeypatch.undo()
    job = wait(workspace, workspace.runs.get(run_id).job_id)
    assert job.state == "failed"
    assert "written consent" in job.error


def test_another_host_ends_consents_and_wants_the_key_again(workspace, corpus):
    workspace.models.add_endpoint(FAR, KEY)
    workspace.models.give_consent(corpus.id, "far", WHY, "192.0.2.7:443")
    moved = {**FAR, "url": "https://192.0.2.8/v1", "key_source": "file"}
    with pytest.raises(UserError, match="key: give it again"):
        workspace.models.add_endpoint(moved)
    workspace.models.add_endpoint(moved, "sk-other")
    assert workspace.models.consents() == []
    workspace.models.remove("endpoint:far")
    assert list((workspace.folder.path / "keys").iterdir()) == []
    with pytest.raises(UserError, match="not known"):
        workspace.models.info("endpoint:far")


def test_a_method_that_needs_more_is_refused_with_the_reason(shared, letters):
    workspace, corpus = shared, letters
    workspace.models.add_endpoint({**FAR, "url": "http://127.0.0.1:9/v1"})
    blockers = workspace.plan.draft(corpus.id, "rpsg", model="endpoint:far").blockers
    assert any("can be trained" in blocker for blocker in blockers)
    with pytest.raises(UserError, match="can be trained"):
        workspace.jobs.synthesize(corpus.id, "rpsg", model="endpoint:far")
    assert workspace.plan.draft(corpus.id, "rpsg").blockers == []
    assert workspace.plan.draft(corpus.id, "surrogate", model="endpoint:far").blockers == []  # needs no model at all


def test_an_imported_folder_runs_and_is_tested_by_the_worker(shared, letters, tmp_path):
    workspace, corpus = shared, letters
    folder = make_chat(tmp_path / "chat")
    facts = workspace.models.inspect(folder)
    info = workspace.models.import_folder(folder, "tiny")
    assert (info.bytes, info.id) == (facts.bytes, "folder:tiny")
    shutil.rmtree(folder)
    assert wait(workspace, workspace.models.test("folder:tiny")).error is None
    found = workspace.models.last_test("folder:tiny")
    assert found["state"] == "done"
    assert [check["name"] for check in found["result"]["checks"]] == [
        "opens", "answers", "writes a line", "scores a line", "keeps given words out", "can be steered",
    ]  # fmt: skip
    assert found["result"]["ok"], found
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=2, parameters={"words": 10}, model="folder:tiny")
    workspace.jobs.cancel(run_id)  # random weights write nothing that a method keeps
    wait(workspace, workspace.runs.get(run_id).job_id)
    with workspace.session.db.read() as connection:
        row = connection.exec_driver_sql("SELECT manifest FROM runs WHERE id = ?", (run_id,)).one()
    assert json.loads(row.manifest)["model"]["revision"] == info.revision
    workspace.models.remove("folder:tiny")
    assert "folder:tiny" not in [m.id for m in workspace.models.all()]
    assert workspace.models.last_test("folder:tiny") == {"state": "none", "result": None}


def test_self_tests_of_the_built_in_model_and_a_server(shared, served):
    workspace = shared
    assert wait(workspace, workspace.models.test("builtin")).error is None
    result = workspace.models.last_test("builtin")["result"]
    assert result["ok"], result
    assert result["line"].strip()
    workspace.models.add_endpoint(near(served), KEY)
    assert "logprobs" not in workspace.models.info("endpoint:near").capabilities
    assert wait(workspace, workspace.models.test("endpoint:near")).error is None
    result = workspace.models.last_test("endpoint:near")["result"]
    assert result["ok"], result
    assert {c["name"] for c in result["checks"]} >= {"the server lists it", "scores a line", "keeps given words out"}
    assert "logprobs" in workspace.models.info("endpoint:near").capabilities  # found by the test, kept
    workspace.models.add_endpoint(EndpointSettings("dead", "http://127.0.0.1:9/v1", "m", tries=1))
    assert wait(workspace, workspace.models.test("endpoint:dead")).state == "done"
    result = workspace.models.last_test("endpoint:dead")["result"]
    assert not result["ok"]
    assert "connection broke" in result["checks"][-1]["detail"]


def test_cancelling_a_run_does_not_wait_for_a_server(shared, letters, served):
    workspace, corpus = shared, letters
    workspace.models.add_endpoint(near(served, tries=9), KEY)
    served.faults(*[{"status": 503, "retry_after": 120}] * 8)
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=4, parameters={"words": 20}, model="endpoint:near")
    job_id = workspace.runs.get(run_id).job_id
    wait(workspace, job_id, states=("running",))
    workspace.jobs.cancel(run_id)
    assert wait(workspace, job_id, seconds=20).state == "cancelled"
    assert workspace.runs.get(run_id).state == "cancelled"
