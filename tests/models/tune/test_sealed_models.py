"""Tuned models in an encrypted workspace: nothing plain of them is on the disk, and they open again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.at_rest import files, keys, sealed
from engine.at_rest.keys import DataKey
from engine.models.builtin.language_model import BuiltinGenerator, load_builtin_generator
from engine.models.marks import Mark, read_marks, weight_digests, write_marks
from engine.models.tune.tunable import Adapter, BuiltinTunable, FolderTunable
from tests.models.tiny_models import make_chat

MARK = Mark("run", "r-1", "none")


@pytest.fixture
def workspace(tmp_path: Path):
    """Return the place of an unlocked workspace, and write models there as they are plain elsewhere."""
    path = tmp_path / "w"
    keys.hold(path, DataKey.new())
    yield path
    keys.drop(path)


def checked(plain: Path, folder: Path) -> None:
    """Hold a folder's files against those that were written outside the workspace."""
    assert all(sealed.is_sealed(file.read_bytes()) for file in folder.iterdir())
    assert weight_digests(folder) == weight_digests(plain)
    write_marks(folder, [MARK])
    assert read_marks(folder) == (MARK,)
    assert all(sealed.is_sealed(file.read_bytes()) for file in folder.iterdir())


def test_the_built_in_model(workspace, tmp_path):
    net = BuiltinTunable(load_builtin_generator(), Adapter(rank=2))
    plain, part, folder = tmp_path / "plain", workspace / "runs/r/scratch/tuned.part", workspace / "runs/r/tuned"
    for place in (plain, part):
        place.mkdir(parents=True)
        net.save(place)
    part.rename(folder)
    checked(plain, folder)
    one, other = BuiltinGenerator(folder), BuiltinGenerator(plain)
    assert one.tokenizer.to_str() == other.tokenizer.to_str()
    for name, value in other.net.state_dict().items():
        assert torch.equal(one.net.state_dict()[name], value), name


@pytest.mark.parametrize("rank", [0, 2])
def test_a_model_of_the_library(workspace, tmp_path, rank):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    net = FolderTunable(make_chat(tmp_path / "model"), Adapter(rank=rank))
    plain, folder, out = tmp_path / "plain", workspace / "runs/r/tuned", tmp_path / "out"
    for place in (plain, folder):
        place.mkdir(parents=True)
        net.save(place)
    checked(plain, folder)
    out.mkdir()
    for file in folder.iterdir():  # as `decrypt` leaves it
        (out / file.name).write_bytes(files.read_bytes(file))
    one, other = (AutoModelForCausalLM.from_pretrained(place, local_files_only=True) for place in (out, plain))
    for name, value in other.state_dict().items():
        assert torch.equal(one.state_dict()[name], value), name
    assert AutoTokenizer.from_pretrained(out)("a letter") == AutoTokenizer.from_pretrained(plain)("a letter")
