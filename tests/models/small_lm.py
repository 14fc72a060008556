"""The shipped vocabulary under a network of a few thousand weights, so that training is cheap."""

from functools import cache
from pathlib import Path
from typing import Any

import torch

from engine.models.builtin.decoder.bert_net import BertConfig, BertNet
from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.builtin.decoder.folders import save_folder
from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.builtin.shipped import lm_folder


def opened_by_transformers(net: CausalNet, folder: Path) -> Any:
    """Return the network as transformers opens it from a folder, with every number as it is."""
    from transformers import AutoModelForCausalLM

    save_folder(net, folder, torch.float32)
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()


@cache
def small_generator() -> BuiltinGenerator:
    """Return a generator of random words."""
    shipped = BuiltinGenerator(lm_folder())
    torch.manual_seed(0)
    sizes = NetConfig(
        shipped.tokenizer.get_vocab_size(), hidden_size=32, layers=2, heads=2, intermediate_size=48, context=128
    )
    return shipped.with_net(LlamaNet(sizes).eval(), "small")


@cache
def small_bert_generator() -> BuiltinGenerator:
    """Return a generator of random words whose network has an encoder's architecture."""
    shipped = BuiltinGenerator(lm_folder())
    torch.manual_seed(1)
    sizes = BertConfig(
        shipped.tokenizer.get_vocab_size(), hidden_size=32, layers=2, heads=2, intermediate_size=48, context=128
    )
    small = BertNet(sizes).eval()
    with torch.no_grad():  # nothing at its start value, so that a weight left out is noticed
        for weight in small.parameters():
            weight.add_(0.2 * torch.randn(weight.shape))
    return shipped.with_net(small, "small-bert")
