"""The shipped vocabulary under a network of a few thousand weights, so that training is cheap."""

import zlib
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import numpy as np
import torch

from engine.models.builtin.decoder.bert_net import BertConfig, BertNet
from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.builtin.shipped import lm_folder


@cache
def small_generator() -> BuiltinGenerator:
    """Return a generator of random words."""
    torch.manual_seed(0)
    small = LlamaNet(NetConfig(hidden_size=32, layers=2, heads=2, intermediate_size=48, context=128)).eval()
    return BuiltinGenerator(lm_folder()).with_net(small, "small")


class Steered(BuiltinGenerator):
    """A writer of words with states to move: they follow from a text's letters, and where it is moved, so does a text.

    The shipped decoder has no place to move states at; real ones are moved in `tests/models/folder/test_families.py`.
    """

    depth, moves = 4, 0

    def states(self, texts, layers, tokens):
        """Return five numbers a layer, (n, layers, 5); zeros for no text."""
        rows = [np.random.default_rng(zlib.crc32(t.encode())).normal(size=5 * len(layers)) * bool(t) for t in texts]
        return np.stack(rows).reshape(len(texts), len(layers), 5).astype(np.float32)

    @contextmanager
    def moved(self, vectors):
        """Draw other tokens for other vectors while the block runs."""
        self.moves = zlib.crc32(repr([np.round(v, 9).tolist() for v in vectors.values()]).encode())
        yield
        self.moves = 0

    def generate(self, prompts, sampling, constraints=None):
        """Return texts that follow from the vectors as well."""
        return super().generate(prompts, replace(sampling, seed=sampling.seed ^ self.moves), constraints)


@cache
def steered_generator() -> Steered:
    """Return a generator of random words that can be moved."""
    torch.manual_seed(0)
    small = LlamaNet(NetConfig(hidden_size=32, layers=2, heads=2, intermediate_size=48, context=128)).eval()
    return Steered(lm_folder()).with_net(small, "small-steered")


@cache
def small_bert_generator() -> BuiltinGenerator:
    """Return a generator of random words whose network has an encoder's architecture."""
    torch.manual_seed(1)
    sizes = BertConfig(vocab_size=8000, hidden_size=32, layers=2, heads=2, intermediate_size=48, context=128)
    small = BertNet(sizes).eval()
    with torch.no_grad():  # nothing at its start value, so that a weight left out is noticed
        for weight in small.parameters():
            weight.add_(0.2 * torch.randn(weight.shape))
    return BuiltinGenerator(lm_folder()).with_net(small, "small-bert")
