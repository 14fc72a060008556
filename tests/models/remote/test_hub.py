"""Models of the hub over a real socket: what is fetched and what is not, digests, redirects, refusals, no network."""

from __future__ import annotations

import shutil

import pytest

from engine.errors import UserError
from engine.models.folder.inspection import inspect_folder
from engine.models.remote import consent
from engine.models.remote.consent import Download
from engine.models.remote.hub import PUBLIC, Hub, address, host
from tests.models.hub_server import COMMIT, hub
from tests.models.tiny_models import make_chat


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = make_chat(tmp_path_factory.mktemp("models") / "chat", shards="20KB")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    (folder / "custom.py").write_text("print()")
    (folder / "model.fp16.safetensors").write_bytes(b"another edition")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "config.json").write_text("{}")
    return folder


@pytest.fixture
def served(source, monkeypatch):
    with hub(source) as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url + "/")
        yield found


def test_what_is_needed_is_fetched_and_nothing_else(served, source, tmp_path):
    told = []
    one = Hub(told.append)
    listed = one.listing("someone/tiny")
    assert listed.commit == COMMIT
    names = {file.name for file in listed.files}
    assert "config.json" in names
    assert sum(name.startswith("model-") for name in names) > 1
    assert not names & {"pytorch_model.bin", "custom.py", "model.fp16.safetensors", "onnx/config.json"}
    one.fetch(listed, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == names
    for name in names:
        assert (tmp_path / name).read_bytes() == (source / name).read_bytes()
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert told[-1] == listed.bytes
    assert told == sorted(told)
    assert inspect_folder(tmp_path).licence == "apache-2.0"


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model-00001-of-"])
def test_a_file_that_is_not_what_was_listed_is_refused(served, source, tmp_path, name):
    served.spoiled = next(path.name for path in sorted(source.iterdir()) if path.name.startswith(name))
    one = Hub()
    with pytest.raises(UserError, match="size or digest differ"):
        one.fetch(one.listing("someone/tiny"), tmp_path)


def test_a_redirect_may_not_leave_https(served, tmp_path):
    one, served.leads = Hub(), "http://files.example.com"
    listed = one.listing("someone/tiny")
    with pytest.raises(UserError, match="not https"):
        one.fetch(listed, tmp_path)


@pytest.mark.parametrize(("status", "words"), [(401, "not open to everyone"), (404, "not on the hub"), (503, "status")])
def test_refusals_are_told_apart(served, status, words):
    served.status = status
    with pytest.raises(UserError, match=words):
        Hub().listing("someone/tiny")


def test_another_model_or_revision_is_not_there(served):
    with pytest.raises(UserError, match="not on the hub"):
        Hub().listing("someone/else")
    with pytest.raises(UserError, match="not on the hub"):
        Hub().listing("someone/tiny", "v2")
    with pytest.raises(UserError, match="revision"):
        Hub().listing("someone/tiny", "../../secret")
    assert not any("secret" in path for path in served.asked)


def test_a_model_without_safetensors_is_refused(source, tmp_path, monkeypatch):
    folder = shutil.copytree(source, tmp_path / "source")
    for path in folder.glob("*.safetensors"):
        path.unlink()
    with hub(folder) as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        with pytest.raises(UserError, match="no weights in the safetensors format"):
            Hub().listing("someone/tiny")


def test_a_hub_that_cannot_be_reached_is_said_clearly(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"127\.0\.0\.1 could not be reached \(ConnectError\).*import it"):
        Hub().listing("someone/tiny")


def test_the_address_is_the_public_hubs_unless_another_is_named(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert (address(), host()) == (PUBLIC, "huggingface.co:443")
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example.org:8443/hub/")
    assert (address(), host()) == ("https://mirror.example.org:8443/hub", "mirror.example.org:8443")
    for wrong in ("http://mirror.example.org", "ftp://127.0.0.1", "https://user:word@example.org", "mirror"):
        monkeypatch.setenv("HF_ENDPOINT", wrong)
        with pytest.raises(UserError, match="HF_ENDPOINT"):
            address()


def test_a_consent_covers_one_model_one_revision_and_one_host():
    given = Download("someone/tiny", "main", "huggingface.co:443", "A", "2026-01-01", "why", 3)
    consent.require_download("someone/tiny", "main", "huggingface.co:443", given)
    for other in (
        ("someone/else", "main", given.host),
        ("someone/tiny", "v2", given.host),
        ("someone/tiny", "main", "x"),
    ):
        with pytest.raises(UserError, match="no written consent"):
            consent.require_download(*other, given)
    with pytest.raises(UserError, match="no written consent"):
        consent.require_download("someone/tiny", "main", given.host, None)
    said = consent.download_statement("someone/tiny", given.host)
    assert given.host in said
    assert "no record" in said
