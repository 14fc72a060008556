"""Low-rank adapters on the built-in network, laid out so that each weight's gradient can be told a text.

An adapter adds scale · B A to a linear layer W that stays as it is (Hu et al. 2022, LoRA, section 4.1): A starts at
random, B at nothing, so that training begins at the model as it was. `merged` gives back a plain network, which is
what generation reads.

Privacy posture: adapters fitted to private text are private text. They stay in memory or in a run's own folder.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from engine.errors import UserError
from engine.models.builtin.decoder.causal_net import CausalNet

LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class LoraLinear(nn.Module):
    """A frozen linear layer with a low-rank addition.

    Args:
        base: the layer; it is frozen. rank: inner size. alpha: scale times rank. seed: of A's start values.
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float, seed: int) -> None:
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        place = {"device": base.weight.device, "dtype": torch.float32}
        self.lora_a = nn.Linear(base.in_features, rank, bias=False, **place)
        self.lora_b = nn.Linear(rank, base.out_features, bias=False, **place)
        start = torch.empty(rank, base.in_features)
        # Kaiming uniform with a = √5, as in the authors' code: ±1/√in.
        bound = 1.0 / math.sqrt(base.in_features)
        start.uniform_(-bound, bound, generator=torch.Generator().manual_seed(seed))
        self.lora_a.weight.data.copy_(start)
        nn.init.zeros_(self.lora_b.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return W x + scale · B A x."""
        out: Tensor = self.base(x) + self.lora_b(self.lora_a(x)) * self.scale
        return out

    def weight(self) -> Tensor:
        """Return W + scale · B A, detached, of W's shape."""
        added = self.lora_b.weight.detach() @ self.lora_a.weight.detach()
        return self.base.weight.detach() + added * self.scale


def tunable_net(net: CausalNet) -> CausalNet:
    """Return a copy of a network in float32 whose output layer is a layer of its own that shares the embedding."""
    own = copy.deepcopy(net).float()
    table = own.embed_tokens.weight
    own.head = nn.Linear(table.shape[1], table.shape[0], bias=False, device="meta")
    own.head.weight = table
    return own


def add_lora(net: CausalNet, rank: int, alpha: float, layers: Sequence[str] = LAYERS, seed: int = 0) -> None:
    """Freeze the network and put an adapter on each layer named.

    Args:
        rank: inner size, >= 1. alpha: weight of the addition. layers: names of `LAYERS`. seed: of the start values.

    Raises:
        UserError: a layer does not exist.
    """
    unknown = [name for name in layers if name not in LAYERS]
    if unknown or not layers:
        raise UserError(f"layers: must be among {', '.join(LAYERS)}, got {', '.join(unknown) or 'none'}")
    net.requires_grad_(False)
    for number, layer in enumerate(net.layers):
        for part in (layer.self_attn, layer.mlp):
            for name in layers:
                if hasattr(part, name):
                    place = (seed * 1009 + number) * len(LAYERS) + LAYERS.index(name)
                    setattr(part, name, LoraLinear(getattr(part, name), rank, alpha, place))


def merged(net: CausalNet) -> CausalNet:
    """Return a plain network with the adapters added in, in evaluation mode."""
    plain = copy.deepcopy(net)
    plain.head = None
    for module in list(plain.modules()):
        for name, layer in list(module.named_children()):
            if isinstance(layer, LoraLinear):
                layer.base.weight = nn.Parameter(layer.weight())
                setattr(module, name, layer.base)
    return plain.requires_grad_(True).eval()
