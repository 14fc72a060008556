"""States of the built-in network: read as transformers reads them, and moved where the newest token stands."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.builtin.shipped import lm_folder
from engine.models.contracts import Sampling, Steerable
from tests.models.small_lm import opened_by_transformers, small_bert_generator

TEXTS = ["The patient came back with a cough.", "Two parcels were lost on the way to the depot in May.", ""]
LAYERS = (1, 3)


@pytest.fixture(scope="module")
def generator() -> BuiltinGenerator:
    return BuiltinGenerator(lm_folder(), dtype=torch.float32)


def moves(net: CausalNet, size: float) -> dict[int, np.ndarray]:
    rng = np.random.default_rng(0)
    return {layer: size * rng.standard_normal(net.config.hidden_size) for layer in (0, 1)}


def moved_by_hooks(net: CausalNet, prompt: list[int], vectors: dict[int, np.ndarray], tokens: int) -> list[int]:
    """Write greedily with the whole row read anew each time; positions from the prompt's last one on are moved."""

    def hook(vector: np.ndarray):
        def add(_module, _given, state):
            state = state.clone()
            state[:, len(prompt) - 1 :] += torch.tensor(vector, dtype=state.dtype)
            return state

        return add

    handles = [net.layers[layer].register_forward_hook(hook(vector)) for layer, vector in vectors.items()]
    row = list(prompt)
    try:
        with torch.inference_mode():
            for _ in range(tokens):
                row.append(int(net(torch.tensor([row]))[0, -1].argmax()))
    finally:
        for handle in handles:
            handle.remove()
    return row[len(prompt) :]


def written(generator: BuiltinGenerator, prompts: list[list[int]], vectors: dict[int, np.ndarray]) -> list[list[int]]:
    """Write greedily with the generator's own laid out network, all prompts in one batch."""
    from engine.models.builtin.decoder.attend import Place

    with generator.moved(vectors):
        net = generator._laid_out()
        store = net.slots(len(prompts), 64)
        rows = [list(prompt) for prompt in prompts]
        cached = [0] * len(rows)
        for _ in range(8):
            counts = [len(row) - at for row, at in zip(rows, cached, strict=True)]
            ids = torch.tensor([token for row, at in zip(rows, cached, strict=True) for token in row[at:]])
            place = Place(np.repeat(np.arange(len(rows)), counts),
                          [i for row, at in zip(rows, cached, strict=True) for i in range(at, len(row))])  # fmt: skip
            with torch.inference_mode():
                logits = net.logits(ids, place, store, torch.tensor(np.cumsum(counts) - 1))
            cached = [len(row) for row in rows]
            for row, values in zip(rows, logits, strict=True):
                row.append(int(values.argmax()))
    return [row[len(prompt) :] for row, prompt in zip(rows, prompts, strict=True)]


def test_states_are_those_that_transformers_reads(generator, tmp_path):
    other = opened_by_transformers(generator.net, tmp_path)
    found = generator.states(TEXTS, LAYERS, 8)
    assert found.shape == (3, 2, generator.net.config.hidden_size)
    assert not found[2].any()
    for text, own in zip(TEXTS[:2], found, strict=False):
        ids = generator.tokenizer.encode(text, add_special_tokens=False).ids[:8]
        with torch.inference_mode():
            states = other(torch.tensor([[generator._out, *ids]]), output_hidden_states=True).hidden_states
        theirs = np.stack([states[layer + 1][0, 1:].mean(0).numpy() for layer in LAYERS])
        assert own == pytest.approx(theirs, abs=2e-3)


def test_a_text_is_read_by_itself_and_cut(generator):
    together = generator.states(TEXTS, LAYERS, 100)
    alone = np.concatenate([generator.states([text], LAYERS, 100) for text in TEXTS])
    assert np.array_equal(together, alone)
    long = "word " * 2_000
    assert np.isfinite(generator.states([long], LAYERS, 10_000)).all()
    assert np.array_equal(generator.states(["a b c d"], (0,), 2), generator.states(["a b"], (0,), 9))


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_a_move_changes_what_is_written_as_hooks_on_the_layers_do(generator, kind):
    other = generator if kind == "llama" else generator.with_net(small_bert_generator().net, "bert")
    prompts = [[5, 9, 14, 20], [5, 7], [6, 30, 31, 32, 33, 34]]
    plain = written(other, prompts, {})
    vectors = moves(other.net, 3.0)
    moved = written(other, prompts, vectors)
    assert moved != plain
    assert moved == [moved_by_hooks(other.net, prompt, vectors, 8) for prompt in prompts]
    assert written(other, prompts, {}) == plain


def test_the_move_ends_with_its_block_even_by_an_error(generator):
    assert isinstance(generator, Steerable)
    sampling = Sampling(max_new_tokens=12, temperature=0.0)
    prompts = ["The patient"] * 3
    before = generator.generate(prompts, sampling)

    def fail() -> None:
        with generator.moved(moves(generator.net, 30.0)):
            assert generator.generate(prompts, sampling) != before
            assert generator.with_net(generator.net, "other").generate(prompts, sampling) == before
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert generator.generate(prompts, sampling) == before
