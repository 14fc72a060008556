"""Folders whose tokenizer is not one tokenizer.json: sentencepiece alone, and vocabulary with merges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from engine.errors import UserError
from engine.models.contracts import Sampling
from engine.models.folder import inspection
from engine.models.folder.inspection import inspect_folder
from engine.models.folder.transformers_local import TransformersGenerator
from engine.models.tune.finetune_nets import FolderNet
from tests.models.families import SIZES, TEXT, make_family


def test_a_sentencepiece_tokenizer_without_the_library_is_refused_at_once(tmp_path, monkeypatch):
    folder = make_family("llama", tmp_path / "llama")
    (folder / "tokenizer.json").rename(folder / "tokenizer.model")
    monkeypatch.setattr(inspection, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="needs the package sentencepiece"):
        inspect_folder(folder)
    monkeypatch.setattr(inspection, "find_spec", lambda name: object())
    assert inspect_folder(folder).kind == "causal"


def test_a_sentencepiece_tokenizer_is_read(tmp_path):
    spm = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    from transformers import LlamaConfig, LlamaForCausalLM

    (tmp_path / "text.txt").write_text("\n".join(TEXT * 20), "utf-8")
    folder = tmp_path / "model"
    folder.mkdir()
    spm.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_prefix=str(folder / "tokenizer"), vocab_size=330, model_type="bpe",
        byte_fallback=True, minloglevel=2,
    )  # fmt: skip
    sizes = SIZES | {"pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2}
    LlamaForCausalLM(LlamaConfig(vocab_size=330, **sizes)).save_pretrained(folder)
    named = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "bos_token": "<s>", "eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
    written_and_read(folder)


def test_a_vocabulary_with_merges_is_read(tmp_path):
    folder = make_family("gpt2", tmp_path / "gpt2")
    model = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]), "utf-8")
    lines = (" ".join(pair) if isinstance(pair, list) else pair for pair in model["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(lines), "utf-8")
    (folder / "tokenizer.json").unlink()
    named = {"tokenizer_class": "GPT2Tokenizer", "eos_token": "</s>", "bos_token": "<s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
    written_and_read(folder)


def written_and_read(folder: Path) -> None:
    one = TransformersGenerator(folder, "folder:x", dtype=torch.float32)
    for text in TEXT:
        assert one.tokenizer.decode(one.tokenizer.encode(text, add_special_tokens=False)) == text
    assert one.generate(["Anna Berg"], Sampling(max_new_tokens=5))[0].tokens <= 5
    assert len(one.score([TEXT[0]])[0]) == len(one.tokenizer.encode(TEXT[0], add_special_tokens=False))
    assert FolderNet(folder).encode([TEXT[0]])[0] == one.tokenizer.encode(TEXT[0], add_special_tokens=False)
