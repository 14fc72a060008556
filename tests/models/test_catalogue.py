"""Names of models, what is told of each, and imports of folders."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.models.builtin.shipped import LM_CAPABILITIES, lm_folder
from engine.models.catalogue import Catalogue, lacks
from engine.models.contracts import Sampling
from engine.models.folder.imports import import_folder, remove_folder
from engine.models.folder.inspection import inspect_folder
from engine.models.remote.endpoint_settings import EndpointSettings
from tests.models.tiny_models import make_chat

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def chat_folder(tmp_path_factory) -> Path:
    return make_chat(tmp_path_factory.mktemp("models") / "chat")


@pytest.fixture
def known(tmp_path) -> Catalogue:
    far = EndpointSettings("far", "https://models.example.com/v1", "big", licence="MIT")
    near = EndpointSettings("near", "http://127.0.0.1:9/v1", "small", api="completions", scores=True)
    return Catalogue(tmp_path / "models", {"far": far, "near": near})


def test_the_built_in_model_tells_what_its_back_end_can(known):
    from engine.models.builtin.language_model import BuiltinGenerator

    info = known.info("builtin")
    assert info.capabilities == LM_CAPABILITIES == BuiltinGenerator.capabilities
    assert (info.context, info.problem, info.local) == (1024, "", True)
    assert info.memory_bytes[0] * 2 == info.memory_bytes[1] > 4 * info.parameters
    assert len(info.revision) == 64


def test_every_model_is_listed(known, chat_folder):
    import_folder(chat_folder, known.folder, "tiny")
    assert [info.id for info in known.all()] == ["builtin", "folder:tiny", "endpoint:far", "endpoint:near"]
    tiny, far, near = known.all()[1:]
    assert tiny.capabilities >= {"instruct", "logprobs", "block_tokens"}
    assert (tiny.licence, tiny.prompts, tiny.architecture) == ("apache-2.0", "instruct", "GPT2LMHeadModel")
    assert (far.local, far.where, far.capabilities) == (False, "models.example.com:443", {"instruct", "block_tokens"})
    assert (near.local, near.prompts, near.capabilities) == (True, "plain", {"logprobs", "block_tokens"})
    assert far.as_manifest()["revision"] == "known to the server alone"
    assert tiny.as_manifest()["revision"] == tiny.revision != ""
    assert str(known.folder) not in json.dumps(tiny.as_manifest())  # a manifest names no path


@pytest.mark.parametrize("name", ["none", "folder:none", "endpoint:none", "folder:../x", "endpoint:", "", "a/b/c"])
def test_an_unknown_name_is_refused(known, name):
    with pytest.raises(UserError, match="choose one of"):
        known.info(name)


def test_an_imported_model_works_and_its_files_are_private(known, chat_folder):
    info = import_folder(chat_folder, known.folder, "tiny")
    copied = Path(info.where)
    assert {p.name for p in copied.iterdir()} == set(inspect_folder(chat_folder).files)
    if os.name == "posix":
        assert {p.stat().st_mode & 0o777 for p in copied.iterdir()} == {0o600}
    one = known.load("folder:tiny")
    assert one.capabilities == info.capabilities  # told without loading as after it
    assert one.generate(["hello"], Sampling(max_new_tokens=5))[0].tokens <= 5
    assert type(known.operators("folder:tiny")).__name__ == "InstructOperators"
    assert type(known.operators("endpoint:near")).__name__ == "PlainOperators"
    assert type(known.operators("builtin")).__name__ == "BuiltinOperators"
    (copied / "config.json").write_text((copied / "config.json").read_text() + " ")
    with pytest.raises(UserError, match="changed since it was imported"):
        known.load("folder:tiny")


def test_a_folder_of_the_built_in_kind_opens_as_that(known):
    import_folder(lm_folder(), known.folder, "own")
    one = known.load("folder:own")
    assert one.id == "folder:own"
    assert one.capabilities == known.info("folder:own").capabilities == LM_CAPABILITIES


def test_a_refused_import_leaves_nothing_behind(known, chat_folder, tmp_path):
    bad = Path(shutil.copytree(chat_folder, tmp_path / "bad"))
    (bad / "custom.py").write_text("print()")
    with pytest.raises(UserError, match=r"custom\.py"):
        import_folder(bad, known.folder, "bad")
    cut = Path(shutil.copytree(chat_folder, tmp_path / "cut"))
    os.truncate(cut / "model.safetensors", 5000)
    with pytest.raises(UserError, match="cut off"):
        import_folder(cut, known.folder, "cut")
    assert not known.folder.exists() or not list(known.folder.iterdir())
    with pytest.raises(UserError, match="name:"):
        import_folder(chat_folder, known.folder, "../outside")


def test_files_that_are_not_needed_stay_out_and_links_inside_become_files(known, chat_folder, tmp_path):
    source = Path(shutil.copytree(chat_folder, tmp_path / "source"))
    (source / "picture.png").write_bytes(b"png")
    (source / "model.safetensors").rename(source / "weights.safetensors")
    (source / "model.safetensors").symlink_to("weights.safetensors")
    info = import_folder(source, known.folder, "linked")
    copied = Path(info.where)
    assert not (copied / "picture.png").exists()
    assert not (copied / "model.safetensors").is_symlink()
    assert (copied / "model.safetensors").read_bytes() == (chat_folder / "model.safetensors").read_bytes()


def test_a_name_is_used_once_and_can_be_freed(known, chat_folder):
    import_folder(chat_folder, known.folder, "tiny")
    with pytest.raises(UserError, match="here already"):
        import_folder(chat_folder, known.folder, "tiny")
    remove_folder(known.folder, "tiny")
    assert not list(known.folder.iterdir())
    with pytest.raises(UserError, match="no imported model"):
        remove_folder(known.folder, "tiny")


def test_a_damaged_import_says_so(known, chat_folder):
    info = import_folder(chat_folder, known.folder, "tiny")
    (Path(info.where) / "model.safetensors").unlink()
    found = known.info("folder:tiny")
    assert "model.safetensors" in found.problem
    with pytest.raises(UserError, match=r"model\.safetensors"):
        known.load("folder:tiny")


def test_hub_ids_come_from_the_local_cache_alone(known, chat_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(UserError, match="nothing is downloaded without your written consent"):
        known.info("someone/tiny")
    cache = tmp_path / "hub" / "models--someone--tiny"
    for folder in ("blobs", "refs", f"snapshots/{COMMIT}"):
        (cache / folder).mkdir(parents=True)
    (cache / "refs" / "main").write_text(COMMIT)
    for i, file in enumerate(sorted(chat_folder.iterdir())):  # the layout of the hub library: links to blobs
        shutil.copy(file, cache / "blobs" / f"b{i}")
        (cache / "snapshots" / COMMIT / file.name).symlink_to(f"../../blobs/b{i}")
    info = known.info("someone/tiny")
    assert (info.back_end, info.revision) == ("hub", COMMIT)
    assert known.load("someone/tiny").generate(["hello"], Sampling(max_new_tokens=3))[0].tokens <= 3
    (cache / "snapshots" / COMMIT / "more.json").symlink_to("/etc/hostname")
    with pytest.raises(UserError, match="leads out"):
        known.info("someone/tiny")


def test_what_a_model_lacks_is_said(known):
    found = lacks(known.info("endpoint:far"), "RPSG", ("generator", "operators", "train", "spans", "logits"))
    assert len(found) == 2
    assert found[0] == "RPSG needs a model that can be trained; endpoint:far does not (train)."
    assert lacks(known.info("builtin"), "RPSG", ("generator", "train", "spans")) == []


def test_plain_prompts_are_written_on_and_read_up_to_the_next_heading():
    from engine.models.prompts.operators_plain import PlainOperators

    one = PlainOperators()
    assert one.prompt("invent", domain="clinical", words=30).endswith("\n\nText:\n")
    assert one.parse("invent", "A letter.\nSecond line.\n\nText:\nAnother") == "A letter.\nSecond line."
    assert one.parse("judge", " Yes, because") == "yes"
