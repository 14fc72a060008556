"""The shipped vocabulary under a network of a few thousand weights, so that training is cheap."""

from functools import cache

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
