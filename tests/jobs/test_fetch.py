"""Fetching a model with consent, in a real worker: kept and usable, refused without, from the cache, unreachable."""

from __future__ import annotations

import json
import shutil

import pytest

from engine.corpus.description import Description
from engine.errors import UserError
from engine.store import model_settings, queue
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
        described = Description("discharge letter", "en", "clinical")
        job = workspace.hub.fetch("someone/tiny", "tiny", WHY, served.host, description=described)
        done = wait(workspace, job, seconds=120)
        assert (done.state, done.error) == ("done", None)
    info = workspace.models.info("folder:tiny")
    follow = {one.kind: one for one in workspace.jobs.all() if one.kind in ("selftest", "first texts")}
    assert set(follow) == {"selftest", "first texts"}  # asked with made-up and public text, before any record is
    for one in follow.values():
        workspace.jobs.cancel(one.id)
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


@pytest.mark.slow
def test_what_was_fetched_is_tested_and_writes_for_the_description_before_anything_private_is_read(
    workspace, source, monkeypatch
):
    with hub(source) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        described = Description("discharge letter", "en", "clinical")
        job = workspace.hub.fetch("someone/tiny", "tiny", WHY, served.host, description=described)
        assert wait(workspace, job, seconds=120).error is None
    follow = {one.kind: one.id for one in workspace.jobs.all() if one.kind in ("selftest", "first texts")}
    assert wait(workspace, follow["selftest"], seconds=120).error is None
    found = workspace.models.last_test("folder:tiny")["result"]
    assert [check["name"] for check in found["checks"]][-1] == "can be steered"
    wait(workspace, follow["first texts"], seconds=120)
    with workspace.session.db.read() as connection:
        texts = model_settings.first_texts(connection)["folder:tiny"]["texts"]
    assert len(texts) == 5
    actions = [action for action, _, _ in lines(workspace)]
    assert not {"corpus opened", "touch"} & set(actions)
