"""Weights in 8 and 4 bit: refused with a reason where no library is there, real where one is."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.catalogue import Catalogue
from engine.models.contracts import Sampling
from engine.models.folder import precision
from engine.models.folder.imports import import_folder, set_precision
from engine.models.folder.logits import logit_source
from tests.models.families import SIZES, TOKENIZERS, make_family


@pytest.fixture
def here(monkeypatch):
    """Say which libraries are installed."""

    def say(*names: str) -> None:
        monkeypatch.setattr(precision, "find_spec", lambda name: object() if name in names else None)

    return say


def test_the_library_is_named_and_a_missing_one_is_said(here):
    here()
    assert "bitsandbytes or torchao" in precision.missing("8 bit")
    assert "package bitsandbytes:" in precision.missing("4 bit")
    assert precision.missing("") == ""
    with pytest.raises(UserError, match="install one"):
        precision.quantised("8 bit", None)
    here("torchao")
    assert (precision.library_for("8 bit"), precision.library_for("4 bit")) == ("torchao", "")
    here("torchao", "bitsandbytes")
    assert precision.library_for("8 bit") == "bitsandbytes"
    with pytest.raises(UserError, match="precision"):
        precision.checked_precision("2 bit")


def test_a_precision_is_kept_with_the_model_and_said(here, tmp_path):
    known = Catalogue(tmp_path / "models", {})
    full = import_folder(make_family("qwen", tmp_path / "q"), known.folder, "q")
    here()
    info = set_precision(known.folder, "q", "4 bit")
    assert "needs the package bitsandbytes" in info.problem
    with pytest.raises(UserError, match="needs the package bitsandbytes"):
        known.load("folder:q")
    here("bitsandbytes")
    info = known.info("folder:q")
    assert (info.precision, info.problem, info.revision) == ("4 bit", "", full.revision)
    assert info.as_manifest()["precision"] == "4 bit"
    assert info.capabilities == full.capabilities - {"logits"}
    assert info.memory_bytes[1] < 0.3 * full.memory_bytes[0]
    set_precision(known.folder, "q", "")
    assert known.info("folder:q") == full
    assert "precision" not in full.as_manifest()
    assert sorted(path.name for path in known.folder.iterdir()) == ["q", "q.json"]
    with pytest.raises(UserError, match="no imported model"):
        set_precision(known.folder, "none", "8 bit")
    with pytest.raises(UserError, match="precision"):
        import_folder(tmp_path / "q", known.folder, "other", precision="3 bit")


@pytest.fixture
def folder(tmp_path):
    """Write a Qwen wide enough for blocks of 64 numbers."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    path = tmp_path / "wide"
    path.mkdir()
    size = TOKENIZERS["bytes"](path, "", ())
    torch.manual_seed(0)
    sizes = SIZES | {"hidden_size": 128, "intermediate_size": 256, "num_key_value_heads": 2, "vocab_size": size}
    Qwen2ForCausalLM(Qwen2Config(**sizes, tie_word_embeddings=True)).save_pretrained(path)
    return path


@pytest.mark.parametrize(
    ("library", "bits", "near"),
    [("bitsandbytes", "8 bit", 0.03), ("torchao", "8 bit", 0.03), ("bitsandbytes", "4 bit", 0.3)],
)
def test_a_model_in_fewer_bits_writes_and_scores_nearly_as_in_full(library, bits, near, folder, here):
    pytest.importorskip(library, reason=f"the package {library} is not installed")
    import torch

    from engine.models.folder.transformers_local import TransformersGenerator

    here(library)
    full = TransformersGenerator(folder, "folder:x", dtype=torch.float32)
    less = TransformersGenerator(folder, "folder:x", dtype=torch.float32, precision=bits)
    text = "Anna Berg from Bergen was glad about it."
    if library == "bitsandbytes":
        assert less.model.get_memory_footprint() < full.model.get_memory_footprint()
    else:  # a tensor of torchao's own, whose memory the library does not count
        assert "torchao" in type(less.model.model.layers[0].mlp.up_proj.weight).__module__
    assert less.score([text])[0] == pytest.approx(full.score([text])[0], abs=near)
    assert not np.array_equal(less.score([text])[0], full.score([text])[0])
    made = less.generate(["The letter", "b"], Sampling(max_new_tokens=8, min_new_tokens=4))
    assert all(4 <= one.tokens <= 8 for one in made)
    assert "logits" not in less.capabilities
    with pytest.raises(UserError, match="full numbers"):
        logit_source(less)
