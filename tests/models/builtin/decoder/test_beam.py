"""Beam search: the likeliest continuations, against trying every one of them, and the same as transformers finds."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from engine.models.builtin.decoder.beam import EOS, beam_search
from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.contracts import Beams, Sampling
from tests.models.small_lm import opened_by_transformers

PROMPT = "<|bos|><|op:abstract|><|dom:clinical|><|kind|>narrative<|text|>pt had a sore arm and fever for 2 days<|out|>"


@pytest.fixture(scope="module")
def small() -> LlamaNet:
    torch.manual_seed(3)
    net = LlamaNet(NetConfig(vocab_size=7, hidden_size=16, layers=2, heads=2, intermediate_size=24, context=32))
    for parameter in net.parameters():
        parameter.data *= 12  # far from uniform, so that the order is clear
    return net.eval()


def mean_score(net: LlamaNet, prompt: list[int], tokens: tuple[int, ...], ended: bool) -> float:
    whole = [*prompt, *tokens, *([EOS] if ended else [])]
    with torch.inference_mode():
        logp = net(torch.tensor([whole]))[0].log_softmax(-1)
    steps = range(len(prompt), len(whole))
    return float(sum(logp[i - 1, whole[i]] for i in steps)) / (len(tokens) + 1)


def test_wide_beams_find_the_best_of_all_continuations(small: LlamaNet) -> None:
    prompts = [[1, 3, 4], [1, 5], [1, 6, 6, 3, 4]]
    found = beam_search(small, prompts, 60, longest=3)
    for prompt, lists in zip(prompts, found, strict=True):
        words = [w for w in range(7) if w != EOS]
        every = {
            tokens: mean_score(small, prompt, tokens, ended=len(tokens) < 3)
            for n in range(4)
            for tokens in itertools.product(words, repeat=n)
        }
        best = sorted(every, key=lambda tokens: -every[tokens])[:5]
        assert [tuple(tokens) for tokens in lists[:5]] == best


def test_limits_and_banned_tokens_hold_and_beams_differ(small: LlamaNet) -> None:
    (lists,) = beam_search(small, [[1, 3]], 5, longest=6, shortest=4, banned=[5])
    assert len({tuple(tokens) for tokens in lists}) == len(lists) == 5
    assert all(4 <= len(tokens) <= 6 and 5 not in tokens and EOS not in tokens for tokens in lists)


def test_other_prompts_beside_it_change_nothing(small: LlamaNet) -> None:
    prompts = [[1, 3, 4], [1, 5, 5, 5, 6, 3], [1, 6]]
    together = beam_search(small, prompts, 4, longest=6)
    assert together == [beam_search(small, [prompt], 4, longest=6)[0] for prompt in prompts]


def test_the_built_in_model_searches_as_transformers_does(tmp_path: Path) -> None:
    generator = load_builtin_generator()
    assert isinstance(generator, Beams)
    found = generator.search([PROMPT], Sampling(max_new_tokens=24), 4)[0]
    ids = generator.tokenizer.encode(PROMPT, add_special_tokens=False).ids
    model = opened_by_transformers(generator.net, tmp_path)
    with torch.inference_mode():
        output = model.generate(
            torch.tensor([ids]), num_beams=4, do_sample=False, max_new_tokens=24, suppress_tokens=generator._banned
        )
    theirs = generator.tokenizer.decode(output[0, len(ids) :].tolist(), skip_special_tokens=True)
    assert theirs in [generation.text for generation in found]
    assert len({generation.text for generation in found}) > 1
