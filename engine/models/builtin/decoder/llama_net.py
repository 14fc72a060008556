"""Llama's architecture in plain torch, with a key-value cache.

Weights carry transformers' names, so the saved folder opens as a `LlamaForCausalLM` too.
Source: Touvron et al. 2023 (Llama); Su et al. 2021 (rotary positions, half-rotation layout as in transformers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.json_types import JSON
from engine.models.builtin.decoder.causal_net import Cache, CausalNet, NetSizes


class TransformersSizes(TypedDict):
    """What is read of a `config.json`: sizes under the names that transformers gives them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    rope_theta: float
    rms_norm_eps: float


@dataclass(frozen=True)
class NetConfig(NetSizes):
    """Sizes of the network and the base of its rotary positions."""

    rope_theta: float = 10000.0

    def to_transformers(self) -> dict[str, JSON]:
        """Return the `config.json` that transformers reads."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocab_size,
            "hidden_size": self.hidden_size,
            "intermediate_size": self.intermediate_size,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "head_dim": self.head_size,
            "hidden_act": "silu",
            "max_position_embeddings": self.context,
            "rms_norm_eps": self.norm_eps,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta},
            "tie_word_embeddings": True,
            "attention_bias": False,
            "mlp_bias": False,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "torch_dtype": "bfloat16",
        }

    @staticmethod
    def from_transformers(values: TransformersSizes) -> NetConfig:
        """Return the sizes named by a `config.json`."""
        return NetConfig(
            vocab_size=values["vocab_size"],
            hidden_size=values["hidden_size"],
            layers=values["num_hidden_layers"],
            heads=values["num_attention_heads"],
            intermediate_size=values["intermediate_size"],
            context=values["max_position_embeddings"],
            rope_theta=values["rope_theta"],
            norm_eps=values["rms_norm_eps"],
        )


class RMSNorm(nn.Module):
    """Root-mean-square normalisation (Zhang and Sennrich 2019), computed in float32."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Return x scaled to unit root mean square, same shape and dtype."""
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return (y * self.weight).to(x.dtype)


class Attention(nn.Module):
    """Multi-head causal self-attention with rotary positions."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.heads, size = config.heads, config.hidden_size
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(size, size, bias=False) for _ in range(4))

    def forward(
        self, x: Tensor, rope: tuple[Tensor, Tensor], mask: Tensor | None, cache: Cache | None, layer: int
    ) -> Tensor:
        """Return the layer's output (B, T, C)."""
        batch, length, size = x.shape
        q, k, v = (
            p(x).view(batch, length, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)
        )  # (B, nh, T, hs)
        q, k = rotate(q, *rope), rotate(k, *rope)
        if cache is not None:
            k, v = cache.extend(layer, k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, size))


class MLP(nn.Module):
    """SwiGLU feed-forward layer (Shazeer 2020)."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return down(silu(gate(x)) * up(x)), same shape."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    """One pre-norm transformer layer."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.norm_eps)
        self.mlp = MLP(config)

    def forward(
        self, x: Tensor, rope: tuple[Tensor, Tensor], mask: Tensor | None, cache: Cache | None, layer: int
    ) -> Tensor:
        """Return the residual stream (B, T, C) after this layer."""
        x = x + self.self_attn(self.input_layernorm(x), rope, mask, cache, layer)
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaNet(CausalNet):
    """Llama's network with tied embeddings."""

    config: NetConfig
    cos: Tensor
    sin: Tensor

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.hidden_size, config.norm_eps)
        half = config.head_size // 2
        inverse = config.rope_theta ** (-torch.arange(half, dtype=torch.float32) / half)
        angle = torch.outer(torch.arange(config.context, dtype=torch.float32), inverse).repeat(1, 2)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        self.apply(self._init)

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)

    def hidden(
        self, ids: Tensor, mask: Tensor | None = None, positions: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Return normalised hidden states (B, T, C), as `CausalNet.hidden` says."""
        if positions is None:
            cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        else:
            cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]  # (B, 1, T, hs)
        x = self.embed_tokens(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, (cos, sin), mask, cache, i)
        if cache is not None:
            cache.length += ids.shape[1]
        return self.norm(x)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return x (B, nh, T, hs) with rotary positions applied, half-rotation layout."""
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return (x * cos + turned * sin).to(x.dtype)


def to_folder(net: LlamaNet) -> dict[str, Tensor]:
    """Return the weights under transformers' names."""
    return {f"model.{k}": v for k, v in net.state_dict().items()}


def from_folder(values: TransformersSizes, tensors: Mapping[str, Tensor]) -> LlamaNet:
    """Return the network of a `config.json` and its tensors, float32."""
    net = LlamaNet(NetConfig.from_transformers(values))
    net.load_state_dict({k.removeprefix("model."): v.float() for k, v in tensors.items()})
    return net
