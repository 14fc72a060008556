"""The built-in network laid out for generation: packed tokens, fused matrices, a narrow type where it is fast.

Tokens of many sequences go through in one call, whether they are whole prompts or one token a sequence. The
network itself is left as it is; this holds a copy of its weights, made anew when they change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias, TypeGuard

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import InternalError
from engine.models.builtin.decoder.attend import Attention, Place, Slots
from engine.models.builtin.decoder.bert_net import BertBlock, BertNet
from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.builtin.decoder.llama_net import Block, LlamaNet


@lru_cache(maxsize=1)
def fast_type() -> torch.dtype:
    """Return bfloat16 where this machine multiplies in it natively, else float32."""
    if torch.cuda.is_available():
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    can = torch.cpu.get_capabilities()
    return torch.bfloat16 if can.get("avx512_bf16") or can.get("amx_bf16") else torch.float32


def side_by_side(net: CausalNet, dtype: torch.dtype) -> int:
    """Return how many sequences to run at once: 128, or what a cache of 1 GiB holds; 512 and 8 GiB on a GPU."""
    most, held = (512, 8 << 30) if net.embed_tokens.weight.is_cuda else (128, 1 << 30)
    config = net.config
    return max(1, min(most, held // (2 * config.layers * config.hidden_size * config.context * dtype.itemsize)))


class DecodeNet:
    """Runs packed tokens through a copy of the network's weights.

    The residual stream and the norms stay in float32; matrices and the cache are of the type given. `moves` (layer ->
    float32 (C,)) is added behind its layer to the state of every token whose logits are asked for.

    Args:
        net: The network. dtype: Type of matrices and cache.
        compiled: Whether attention may use machine code.

    Raises:
        InternalError: a projection is wrapped, so that its weight alone is not what the network computes.
    """

    def __init__(self, net: CausalNet, dtype: torch.dtype, compiled: bool = True) -> None:
        self.config, self.dtype = net.config, dtype
        self.device = net.embed_tokens.weight.device
        self.weights: _LlamaWeights | _BertWeights
        if isinstance(net, LlamaNet):
            self.weights, cos, sin = _LlamaWeights(net, dtype), net.cos, net.sin
        elif isinstance(net, BertNet):  # its positions are in what goes in: nothing is rotated
            still = torch.ones(net.config.context, net.config.head_size, device=self.device)
            self.weights, cos, sin = _BertWeights(net, dtype), still, torch.zeros_like(still)
        else:
            raise InternalError(f"a network of the kind {type(net).__name__} cannot be laid out")
        self.attention = Attention(net.config, cos, sin, compiled)
        self.moves: dict[int, Tensor] = {}

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
        state = self._hidden(ids, place, store, slice(None) if wanted is None else wanted)
        return self.weights.logits(state if wanted is None else state[wanted]).float()

    def fill(self, ids: Tensor, place: Place, store: Slots) -> None:
        """Extend the cache and return nothing."""
        self._hidden(ids, place, store)

    def _hidden(self, ids: Tensor, place: Place, store: Slots, newest: Tensor | slice | None = None) -> Tensor:
        def attend(layer: int, qkv: Tensor) -> Tensor:
            return self.attention(layer, qkv, place, store)

        def move(layer: int, state: Tensor) -> None:
            if newest is not None and layer in self.moves:
                state[newest] += self.moves[layer]

        return self.weights.hidden(ids.to(self.device), place, attend, move)


Attend: TypeAlias = Callable[[int, Tensor], Tensor]
"""Layer and (N, 3 C) queries, keys and values -> (N, C)."""

Move: TypeAlias = Callable[[int, Tensor], None]
"""Is given each layer and its float32 state (N, C), and may change that."""


class _LlamaWeights:
    def __init__(self, net: LlamaNet, dtype: torch.dtype) -> None:
        self.dtype, self.eps = dtype, net.config.norm_eps
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
        return (*(w.to(self.dtype) for w, _ in joined), *(w.detach().float() for w in norms))

    def hidden(self, ids: Tensor, place: Place, attend: Attend, move: Move) -> Tensor:
        x = F.embedding(ids, self.embedding).float()  # (N, C)
        for i, (qkv, out, gate_up, down, before, after) in enumerate(self.layers):
            x += F.linear(attend(i, F.linear(self._normed(x, before), qkv)), out)
            gate, up = F.linear(self._normed(x, after), gate_up).chunk(2, dim=-1)
            x += F.linear(F.silu(gate).mul_(up), down)
            move(i, x)
        return x

    def logits(self, state: Tensor) -> Tensor:
        return F.linear(self._normed(state, self.norm), self.embedding)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.eps).to(self.dtype)


class _BertWeights:
    def __init__(self, net: BertNet, dtype: torch.dtype) -> None:
        self.dtype, self.eps, self.width = dtype, net.config.norm_eps, net.config.hidden_size
        self.embedding, self.positions = net.embed_tokens.weight.detach(), net.embed_positions.weight.detach()
        self.norm = _norm(net.embed_norm)
        self.output = [w.to(dtype) for w in net.output()]
        self.layers = [self._layer(layer) for layer in net.layers]

    def _layer(self, layer: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        if not isinstance(layer, BertBlock):
            raise InternalError(f"a layer of the network is a {type(layer).__name__}")
        attention, mlp = layer.self_attn, layer.mlp
        joined = [
            _joined(attention.q_proj, attention.k_proj, attention.v_proj),
            _joined(attention.o_proj),
            _joined(mlp.up_proj),
            _joined(mlp.down_proj),
        ]
        matrices = [(weight.to(self.dtype), bias.to(self.dtype)) for weight, bias in joined if bias is not None]
        if len(matrices) < len(joined):
            raise InternalError("a projection of the network has no bias")
        return (*matrices, _norm(layer.attention_norm), _norm(layer.norm))

    def hidden(self, ids: Tensor, place: Place, attend: Attend, move: Move) -> Tensor:
        _, positions = place.tensors(ids.device)
        x = self._normed(F.embedding(ids, self.embedding) + F.embedding(positions, self.positions), self.norm)
        for i, (qkv, out, up, down, between, after) in enumerate(self.layers):
            y = F.linear(attend(i, F.linear(x.to(self.dtype), *qkv)), *out)
            x = self._normed(x + y, between)
            y = F.linear(F.gelu(F.linear(x.to(self.dtype), *up)), *down)
            x = self._normed(x + y, after)
            move(i, x)
        return x

    def logits(self, state: Tensor) -> Tensor:
        return F.linear(state.to(self.dtype), *self.output)

    def _normed(self, x: Tensor, norm: tuple[Tensor, Tensor]) -> Tensor:
        return F.layer_norm(x.float(), (self.width,), *norm, self.eps)


def _norm(layer: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    return layer.weight.detach().float(), layer.bias.detach().float()


def _joined(*layers: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Return the weights of linear layers below one another, and their biases where they have some."""
    plain = [layer for layer in layers if _plain(layer)]
    if len(plain) < len(layers):
        kinds = ", ".join(sorted({type(layer).__name__ for layer in layers}))
        raise InternalError(f"projections must be plain linear layers, are {kinds}: merge adapters before generating")
    biases = [layer.bias.detach() for layer in plain if layer.bias is not None]
    return torch.cat([layer.weight.detach() for layer in plain]), torch.cat(biases) if biases else None


def version(net: CausalNet) -> tuple[int, ...]:
    """Return what changes when a weight of the network is replaced or altered in place."""
    return tuple(number for p in net.parameters() for number in (id(p), 0 if p.is_inference() else p._version))


def _plain(layer: nn.Module) -> TypeGuard[nn.Linear]:
    """Say whether a layer is its weight and nothing else."""
    return type(layer) is nn.Linear
