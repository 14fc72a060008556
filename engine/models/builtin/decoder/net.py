"""The built-in network laid out for generation: packed tokens, fused matrices, a narrow type where it is fast.

Tokens of many sequences go through in one call, whether they are whole prompts or one token a sequence. The
network itself is left as it is; this holds a copy of its weights, made anew when they change.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeGuard

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import InternalError
from engine.models.builtin.decoder.attend import Attention, Place, Slots
from engine.models.builtin.decoder.llama_net import Block, LlamaNet


@lru_cache(maxsize=1)
def fast_type() -> torch.dtype:
    """Return bfloat16 where this machine multiplies in it natively, else float32."""
    if torch.cuda.is_available():
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    can = torch.cpu.get_capabilities()
    return torch.bfloat16 if can.get("avx512_bf16") or can.get("amx_bf16") else torch.float32


def side_by_side(net: LlamaNet, dtype: torch.dtype) -> int:
    """Return how many sequences to run at once: 128, or what a cache of 1 GiB holds; 512 and 8 GiB on a GPU."""
    most, held = (512, 8 << 30) if net.embed_tokens.weight.is_cuda else (128, 1 << 30)
    config = net.config
    return max(1, min(most, held // (2 * config.layers * config.hidden_size * config.context * dtype.itemsize)))


class DecodeNet:
    """Runs packed tokens through a copy of the network's weights.

    The residual stream and the norms stay in float32; matrices and the cache are of the type given.

    Args:
        net: The network. dtype: Type of matrices and cache.
        compiled: Whether attention may use machine code.

    Raises:
        InternalError: a projection is wrapped, so that its weight alone is not what the network computes.
    """

    def __init__(self, net: LlamaNet, dtype: torch.dtype, compiled: bool = True) -> None:
        self.config, self.dtype = net.config, dtype
        self.device = net.embed_tokens.weight.device
        self.attention = Attention(net.config, net.cos, net.sin, compiled)
        self.embedding = net.embed_tokens.weight.detach().to(dtype)
        self.norm = net.norm.weight.detach().float()
        self.layers = [self._layer(layer) for layer in net.layers]

    def _layer(self, layer: nn.Module) -> tuple[Tensor, ...]:
        if not isinstance(layer, Block):
            raise InternalError(f"a layer of the network is a {type(layer).__name__}")
        attention, mlp = layer.self_attn, layer.mlp
        joined = [
            _joined(attention.q_proj, attention.k_proj, attention.v_proj),
            _joined(attention.o_proj),
            _joined(mlp.gate_proj, mlp.up_proj),
            _joined(mlp.down_proj),
        ]
        norms = [layer.input_layernorm.weight, layer.post_attention_layernorm.weight]
        return (*(w.to(self.dtype) for w in joined), *(w.detach().float() for w in norms))

    def slots(self, count: int, room: int) -> Slots:
        """Return an empty cache for `count` sequences of at most `room` tokens."""
        return Slots(self.config, count, room, self.dtype, self.device)

    def logits(self, ids: Tensor, place: Place, store: Slots, wanted: Tensor | None = None) -> Tensor:
        """Return float32 next-token logits (n, V), and extend the cache.

        Args:
            ids: int64 (N,) packed tokens. place: Where they stand.
            store: The cache.
            wanted: Which of the N tokens' logits to return; None = all.
        """
        state = self._hidden(ids, place, store)
        if wanted is not None:
            state = state[wanted]
        return F.linear(self._normed(state, self.norm), self.embedding).float()

    def fill(self, ids: Tensor, place: Place, store: Slots) -> None:
        """Extend the cache and return nothing."""
        self._hidden(ids, place, store)

    def _hidden(self, ids: Tensor, place: Place, store: Slots) -> Tensor:
        x = F.embedding(ids.to(self.device), self.embedding).float()  # (N, C)
        for i, (qkv, out, gate_up, down, before, after) in enumerate(self.layers):
            y = self.attention(i, F.linear(self._normed(x, before), qkv), place, store)
            x += F.linear(y, out)
            gate, up = F.linear(self._normed(x, after), gate_up).chunk(2, dim=-1)
            x += F.linear(F.silu(gate).mul_(up), down)
        return x

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.config.norm_eps).to(self.dtype)


def _joined(*layers: nn.Module) -> Tensor:
    weights = [layer.weight.detach() for layer in layers if _plain(layer)]
    if len(weights) < len(layers):
        kinds = ", ".join(sorted({type(layer).__name__ for layer in layers}))
        raise InternalError(f"projections must be plain linear layers, are {kinds}: merge adapters before generating")
    return torch.cat(weights)


def version(net: LlamaNet) -> tuple[int, ...]:
    """Return what changes when a weight of the network is replaced or altered in place."""
    return tuple(number for p in net.parameters() for number in (id(p), 0 if p.is_inference() else p._version))


def _plain(layer: nn.Module) -> TypeGuard[nn.Linear]:
    """Say whether a layer is its weight and nothing else."""
    return type(layer) is nn.Linear and layer.bias is None
