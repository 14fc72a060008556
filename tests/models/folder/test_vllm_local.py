"""Writing with vLLM, up to its boundary: what it is asked, what is read of its answers, and when it is asked at all.

vLLM needs a graphics card, so a stand-in of its two classes answers here by the transformers library: seeds, limits,
end tokens, log-probabilities and blocked words are real, its own engine is not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Sampling
from engine.models.folder import vllm_local
from engine.models.folder.inspection import inspect_folder
from engine.models.folder.transformers_local import TransformersGenerator
from engine.models.folder.vllm_local import VllmGenerator, vllm_serves
from tests.models.families import make_family

OPENED: list[dict[str, Any]] = []


@dataclass
class Params:
    """What vLLM's SamplingParams takes; an unknown name is an error there too."""

    max_tokens: int = 16
    min_tokens: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    stop_token_ids: list[int] = field(default_factory=list)
    skip_special_tokens: bool = True
    prompt_logprobs: int | None = None
    detokenize: bool = True


class StandIn:
    """Answers as vLLM's LLM does, one prompt after another."""

    def __init__(self, **given: Any) -> None:
        OPENED.append(given)
        self.one = TransformersGenerator(Path(given["model"]), "folder:x", dtype=torch.float32)

    def generate(self, prompts: list[Any], params: Any, use_tqdm: bool = True) -> list[Any]:
        each = params if isinstance(params, list) else [params] * len(prompts)
        return [self._answer(p["prompt_token_ids"], asked) for p, asked in zip(prompts, each, strict=True)]

    def _answer(self, ids: list[int], asked: Params) -> Any:
        if asked.prompt_logprobs is not None:
            with torch.inference_mode():
                table = self.one.model(input_ids=torch.tensor([ids])).logits[0].float().log_softmax(-1)
            told = [{t: SimpleNamespace(logprob=float(table[i, t]))} for i, t in enumerate(ids[1:])]
            return SimpleNamespace(prompt_logprobs=[None, *told], outputs=[])
        draw = torch.Generator().manual_seed(asked.seed)
        row = list(ids)
        for step in range(asked.max_tokens):
            with torch.no_grad():
                scores = self.one.model(input_ids=torch.tensor([row])).logits[0, -1].float().clone()
            if step < asked.min_tokens:
                scores[asked.stop_token_ids] = -torch.inf
            row.append(int(torch.multinomial((scores / asked.temperature).softmax(-1), 1, generator=draw)))
            if row[-1] in asked.stop_token_ids:
                break
        ended = row[-1] in asked.stop_token_ids
        one = SimpleNamespace(token_ids=row[len(ids) :], finish_reason="stop" if ended else "length")
        return SimpleNamespace(outputs=[one], prompt_logprobs=None)


@pytest.fixture
def held(tmp_path, monkeypatch):
    stand_in: Any = ModuleType("vllm")
    stand_in.LLM, stand_in.SamplingParams = StandIn, Params
    stand_in.TokensPrompt = lambda prompt_token_ids: {"prompt_token_ids": prompt_token_ids}
    monkeypatch.setitem(sys.modules, "vllm", stand_in)
    for name in vllm_local.QUIET:
        monkeypatch.delenv(name, raising=False)
    folder = make_family("qwen", tmp_path / "qwen")
    OPENED.clear()
    return VllmGenerator(folder, "folder:q", prompts="instruct")


def test_it_is_opened_without_code_statistics_or_a_network(held, monkeypatch):
    (given,) = OPENED
    assert (given["trust_remote_code"], given["load_format"], given["max_model_len"]) == (False, "safetensors", 256)
    import os

    assert (os.environ["VLLM_NO_USAGE_STATS"], os.environ["HF_HUB_OFFLINE"]) == ("1", "1")
    assert os.environ["VLLM_HOST_IP"] == "127.0.0.1"


def test_texts_come_in_order_and_by_prompt_seed_and_place(held):
    prompts, asked = ["The letter", "hello " * 500, "The letter"], Sampling(max_new_tokens=12, min_new_tokens=4, seed=3)
    made = held.generate(prompts, asked)
    assert [one.text for one in held.generate(prompts, asked)] == [one.text for one in made]
    assert made[0].text != made[2].text
    assert all(4 <= one.tokens <= 12 for one in made)
    assert all("<|im_end|>" not in one.text for one in made)
    assert [m.text for m in held.generate(prompts, Sampling(max_new_tokens=12, seed=4))] != [m.text for m in made]


def test_scores_are_those_of_the_transformers_library(held):
    texts = ["Anna Berg from Bergen", "", "glad " * 300]
    other = TransformersGenerator(held.facts.folder, "folder:q", dtype=torch.float32)
    own, theirs = held.score(texts), other.score(texts)
    assert own[0] == pytest.approx(theirs[0], abs=1e-4)
    assert len(own[1]) == 0
    assert len(own[2]) > 256


def test_a_blocked_word_is_asked_for_anew_then_cut(held):
    free = held.generate(["The letter"] * 6, Sampling(max_new_tokens=24, temperature=2.0))
    words = sorted({word for one in free for word in one.text.split() if word.isalnum()})[:6]
    assert words
    made = held.generate(["The letter"] * 6, Sampling(max_new_tokens=24, temperature=2.0), Constraints(tuple(words)))
    assert not any(Blocklist(words).contains(one.text) for one in made)


def test_it_stops_when_it_is_told_to(held):
    held.watch(lambda: True)
    with pytest.raises(Cancelled):
        held.generate(["a"], Sampling(max_new_tokens=4))
    with pytest.raises(Cancelled):
        held.score(["a text"])


def test_it_is_asked_only_for_text_by_a_causal_model_on_a_card(tmp_path, monkeypatch):
    causal, seq2seq = (inspect_folder(make_family(name, tmp_path / name)) for name in ("qwen", "t5"))
    text = {"generator", "operators", "embedder"}
    assert not vllm_serves(causal, text, "")  # not installed
    monkeypatch.setattr(vllm_local, "installed", lambda: True)
    assert not vllm_serves(causal, text, "")  # no card
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert vllm_serves(causal, text, "")
    assert not vllm_serves(seq2seq, text, "")
    assert not vllm_serves(causal, text, "8 bit")
    for need in ("logits", "train", "hidden states"):  # what is not known to be text alone is not served
        assert not vllm_serves(causal, {*text, need}, "")
