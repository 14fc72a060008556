"""The verb `models`: JSON on stdout, refusals on stderr with exit status 1, keys never printed."""

from __future__ import annotations

import io
import json
import sys

import pytest

from engine.__main__ import main
from engine.jobs.worker import launch
from engine.workspace import open_workspace
from tests.models.hub_server import hub
from tests.models.tiny_models import make_chat

KEY = "sk-command-314159"
WHY = "Agreed in contract 7 with the computing centre."


@pytest.fixture
def verb(workspace_path, capsys):
    def do(*arguments: str, expect: int = 0):
        assert main(["--workspace", str(workspace_path), "models", *arguments]) == expect
        shown = capsys.readouterr()
        assert KEY not in shown.out + shown.err
        return json.loads(shown.out) if expect == 0 else shown.err

    yield do
    opened = open_workspace(workspace_path)
    launch.stop_worker(opened.folder, 1.0)  # nobody goes on with its work
    opened.close()


def test_list_inspect_import_remove(verb, tmp_path):
    folder = make_chat(tmp_path / "Tiny")
    assert [model["id"] for model in verb()["models"]] == ["builtin"]
    assert verb("inspect", str(folder))["licence"] == "apache-2.0"
    assert verb("import", str(folder))["id"] == "folder:tiny"
    assert {"block_tokens", "instruct", "logprobs"} <= set(verb("list")["models"][1]["capabilities"])
    assert "not a safetensors" in verb("import", str(_broken(folder)), "--as", "other", expect=1)
    assert verb("precision", "folder:tiny", "--bits", "4")["precision"] == "4 bit"
    assert verb("precision", "folder:tiny")["precision"] == ""
    assert "was not imported" in verb("precision", "builtin", "--bits", "8", expect=1)
    assert verb("remove", "folder:tiny") == {"removed": "folder:tiny"}
    assert "cannot be removed" in verb("remove", "builtin", expect=1)


def _broken(folder):
    (folder / "model.safetensors").write_bytes(b"\x80\x04")
    return folder


def test_endpoint_and_consent(verb, workspace_path, monkeypatch):
    corpus = open_workspace(workspace_path).corpora.import_sample("support_tickets").id
    assert "--set model=" in verb("endpoint", "far", "--set", "url=https://models.example.com/v1", expect=1)
    monkeypatch.setattr(sys, "stdin", io.StringIO(KEY + "\n"))
    asked = ("--set", "url=https://models.example.com/v1", "--set", "model=big", "--set", "concurrency=2")
    assert verb("endpoint", "far", *asked, "--key-stdin")["local"] is False
    assert open_workspace(workspace_path).models.endpoints()["far"].key_source == "file"
    assert "will be sent over the network to models.example.com:443" in verb(
        "consent", "far", "--corpus", corpus, expect=1
    )
    given = ("consent", "far", "--corpus", corpus, "--text", WHY, "--host")
    assert "typed as" in verb(*given, "example.com", expect=1)
    assert verb(*given, "models.example.com:443")["who"] == "command line"
    assert verb("withdraw", "far", "--corpus", corpus) == {"cancelled": 0}
    assert "no consent" in verb("withdraw", "far", "--corpus", corpus, expect=1)
    assert main(["--workspace", str(workspace_path), "plan", corpus, "--method", "public", "--model", "nothing"]) == 0


def test_fetch_asks_for_a_consent_and_keeps_the_model(verb, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    with hub(make_chat(tmp_path / "Tiny")) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        assert f"The host is {served.host}" in verb("fetch", "someone/tiny", expect=1)
        assert served.asked == []
        shown = verb("fetch", "someone/tiny", "--text", WHY, "--host", served.host, "--as", "small")
    assert (shown["id"], shown["back_end"], shown["source"].partition("@")[0]) == (
        "folder:small",
        "folder",
        "someone/tiny",
    )


def test_suggest_names_what_suits_this_machine(verb):
    found = verb("suggest", "--language", "en")
    assert found["machine"]["memory_bytes"] > 0
    assert len(found["models"]) == 10
    assert found.get("best") in {one["hub"] for one in found["models"]} | {None}
    plain, chatty = found["models"][0], found["models"][1]
    assert "dp-finetune" in plain["serves"]
    assert plain["lacks"] == ["rewrite"]
    assert chatty["lacks"] == []
    estonian = verb("suggest", "--language", "et")
    assert estonian["language"] == "et"
    (meaning,) = estonian["sentence_models"]
    assert meaning["hub"] == "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
    assert "about 118 million numbers, 0.47 GB, 384 dimensions, 128 tokens" in meaning["for"]
    assert "sentence_models" not in found
