"""Fetching a model with consent, in a real worker: kept and usable, refused without, from the cache, unreachable."""

from __future__ import annotations

import json
import shutil

import pytest

from engine.errors import UserError
from engine.store import queue
from engine.workspace import open_workspace
from tests.jobs.conftest import wait
from tests.models.hub_server import COMMIT, hub
from tests.models.tiny_models import make_chat

WHY = "Apache licence; agreed by the data board on 3 May."


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return make_chat(tmp_path_factory.mktemp("models") / "chat")


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


def lines(workspace):
    log = workspace.audit.lines()
    return [(row["action"], row["subject"], json.loads(row["detail"])) for _, row in log.iterrows()]


def leftovers(workspace):
    folder = workspace.folder.path / "models"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_consented_model_is_fetched_kept_and_known_by_its_hub_id(workspace, source, monkeypatch):
    with hub(source) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        with pytest.raises(UserError, match="without your written consent"):
            workspace.models.info("someone/tiny")
        for text, host, words in ((WHY, "huggingface.co:443", "host"), ("yes", served.host, "text")):
            with pytest.raises(UserError, match=words):
                workspace.hub.fetch("someone/tiny", "tiny", text, host)
        with pytest.raises(UserError, match="hub id"):
            workspace.hub.fetch("../tiny", "tiny", WHY, served.host)
        assert served.asked == []
        assert lines(workspace) == [] or "consent" not in lines(workspace)[0][0]
        job = workspace.hub.fetch("someone/tiny", "tiny", WHY, served.host)
        done = wait(workspace, job, seconds=120)
        assert (done.state, done.error) == ("done", None)
    info = workspace.models.info("folder:tiny")
    assert (info.source, info.problem, info.licence) == (f"someone/tiny@{COMMIT}", "", "apache-2.0")
    assert workspace.models.info("someone/tiny") == info
    assert info.as_manifest()["source"] == info.source
    assert leftovers(workspace) == ["tiny", "tiny.json"]
    (given,) = workspace.hub.consents()
    assert (given.model, given.host, given.text, given.who) == ("someone/tiny", served.host, WHY, "tester")
    found = {action: detail for action, _, detail in lines(workspace)}
    assert found["consent to a download given"]["text"] == WHY
    assert found["model imported"]["consent"] == given.line
    assert workspace.audit.verify()["ok"]
    with pytest.raises(UserError, match="here already"):
        workspace.hub.fetch("someone/tiny", "tiny", WHY, served.host)


def test_a_job_without_its_consent_connects_to_nothing(workspace, source, monkeypatch):
    with hub(source) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        arguments = {"model": "someone/tiny", "name": "tiny", "revision": "main", "prompts": None, "consent": 1}
        with workspace.session.db.write() as connection:
            job = queue.enqueue(connection, "fetch", arguments=arguments)
        workspace.session.wake()
        done = wait(workspace, job, seconds=120)
        assert served.asked == []
    assert done.state == "failed"
    assert "no written consent" in done.error
    assert leftovers(workspace) == []


def test_without_a_network_the_cache_is_taken_and_else_it_is_said(workspace, source, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    job = workspace.hub.fetch("someone/tiny", "tiny", WHY, "127.0.0.1:9")
    done = wait(workspace, job, seconds=120)
    assert done.state == "failed"
    assert "could not be reached" in done.error
    assert leftovers(workspace) == []
    cache = tmp_path / "hub" / "models--someone--tiny"
    for folder in ("blobs", "refs", f"snapshots/{COMMIT}"):
        (cache / folder).mkdir(parents=True)
    (cache / "refs" / "main").write_text(COMMIT)
    for i, file in enumerate(sorted(source.iterdir())):
        shutil.copy(file, cache / "blobs" / f"b{i}")
        (cache / "snapshots" / COMMIT / file.name).symlink_to(f"../../blobs/b{i}")
    job = workspace.hub.fetch("someone/tiny", "tiny", WHY, "127.0.0.1:9")
    done = wait(workspace, job, seconds=120)
    assert (done.state, done.error) == ("done", None)
    assert workspace.models.info("folder:tiny").source == f"someone/tiny@{COMMIT}"
