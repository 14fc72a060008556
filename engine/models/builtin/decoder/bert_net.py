"""BERT's architecture as a causal language model: what a sentence encoder's weights can start.

Post-norm layers with learned positions and biases; attention looks back only. The output layer is the embedding table
behind a linear transform. In a folder, embedding table and transform are also written as one output layer, so that
transformers opens it as a `BertGenerationDecoder`.
Source: Devlin et al. 2019 (BERT); Rothe et al. 2020 (an encoder's weights start a decoder).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import InternalError
from engine.json_types import JSON
from engine.models.builtin.decoder.causal_net import Cache, CausalNet, NetSizes

MODEL_TYPE = "bert-generation"


class BertFileSizes(TypedDict):
    """What is read of a `config.json`: sizes under the names that transformers gives them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    layer_norm_eps: float


@dataclass(frozen=True)
class BertConfig(NetSizes):
    """Sizes of the network; the defaults are all-MiniLM-L6-v2's, but for vocabulary and context."""

    vocab_size: int = 12_288
    hidden_size: int = 384
    layers: int = 6
    heads: int = 12
    intermediate_size: int = 1536
    context: int = 1024
    norm_eps: float = 1e-12

    def to_transformers(self) -> dict[str, JSON]:
        """Return the `config.json` that transformers reads."""
        return {
            "architectures": ["BertGenerationDecoder"],
            "model_type": MODEL_TYPE,
            "is_decoder": True,
            "vocab_size": self.vocab_size,
            "hidden_size": self.hidden_size,
            "intermediate_size": self.intermediate_size,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "hidden_act": "gelu",
            "max_position_embeddings": self.context,
            "layer_norm_eps": self.norm_eps,
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
            "tie_word_embeddings": False,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "torch_dtype": "bfloat16",
        }

    @staticmethod
    def from_transformers(values: BertFileSizes) -> BertConfig:
        """Return the sizes named by a `config.json`."""
        return BertConfig(
            vocab_size=values["vocab_size"],
            hidden_size=values["hidden_size"],
            layers=values["num_hidden_layers"],
            heads=values["num_attention_heads"],
            intermediate_size=values["intermediate_size"],
            context=values["max_position_embeddings"],
            norm_eps=values["layer_norm_eps"],
        )


class BertAttention(nn.Module):
    """Multi-head causal self-attention with biases."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.heads, size = config.heads, config.hidden_size
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(size, size) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None, cache: Cache | None, layer: int) -> Tensor:
        """Return the layer's output (B, T, C)."""
        batch, length, size = x.shape
        q, k, v = (
            p(x).view(batch, length, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)
        )  # (B, nh, T, hs)
        if cache is not None:
            k, v = cache.extend(layer, k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        out: Tensor = self.o_proj(y.transpose(1, 2).reshape(batch, length, size))
        return out


class BertMLP(nn.Module):
    """GELU feed-forward layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        """Return down(gelu(up(x))), same shape."""
        out: Tensor = self.down_proj(F.gelu(self.up_proj(x)))
        return out


class BertBlock(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self_attn = BertAttention(config)
        self.attention_norm = nn.LayerNorm(config.hidden_size, config.norm_eps)
        self.mlp = BertMLP(config)
        self.norm = nn.LayerNorm(config.hidden_size, config.norm_eps)

    def forward(self, x: Tensor, mask: Tensor | None, cache: Cache | None, layer: int) -> Tensor:
        """Return the stream (B, T, C) after this layer."""
        return self.behind(x, self.self_attn(x, mask, cache, layer))

    def behind(self, x: Tensor, attended: Tensor) -> Tensor:
        """Return the stream after this layer of the stream before it and what attention made of it, both (B, T, C)."""
        x = self.attention_norm(x + attended)
        out: Tensor = self.norm(x + self.mlp(x))
        return out


class BertNet(CausalNet):
    """The network; logits are transformed hidden states times the embedding table."""

    config: BertConfig

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.embed_positions = nn.Embedding(config.context, config.hidden_size)
        self.embed_norm = nn.LayerNorm(config.hidden_size, config.norm_eps)
        self.layers = nn.ModuleList(BertBlock(config) for _ in range(config.layers))
        # The last layer's normalisation leaves every position at the same length; a transform before the
        # output, as in the encoder's own pre-training head, lets the net set how sure it is.
        self.transform = nn.Linear(config.hidden_size, config.hidden_size)
        self.apply(self._init)
        nn.init.eye_(self.transform.weight)

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def embedded(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Return the stream (B, T, C) before the first layer; `ids` and `positions` are int64 (B, T)."""
        out: Tensor = self.embed_norm(self.embed_tokens(ids) + self.embed_positions(positions))
        return out

    def hidden(
        self, ids: Tensor, mask: Tensor | None = None, positions: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Return transformed hidden states (B, T, C), as `CausalNet.hidden` says."""
        if positions is None:
            positions = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
        x = self.embedded(ids, positions)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, cache, i)
        if cache is not None:
            cache.length += ids.shape[1]
        out: Tensor = self.transform(x)
        return out

    def output(self) -> tuple[Tensor, Tensor]:
        """Return transform and embedding table as one output layer: weight (V, C) and bias (V,), detached."""
        table = self.embed_tokens.weight.detach()
        return table @ self.transform.weight.detach(), table @ self.transform.bias.detach()


_LAYER = {
    "self_attn.q_proj": "attention.self.query", "self_attn.k_proj": "attention.self.key",
    "self_attn.v_proj": "attention.self.value", "self_attn.o_proj": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm", "mlp.up_proj": "intermediate.dense",
    "mlp.down_proj": "output.dense", "norm": "output.LayerNorm",
}  # fmt: skip
_REST = {
    "embed_tokens": "bert.embeddings.word_embeddings", "embed_positions": "bert.embeddings.position_embeddings",
    "embed_norm": "bert.embeddings.LayerNorm", "transform": "transform",
}  # fmt: skip


def file_name(own: str) -> str:
    """Return the name in a folder of a weight of the network."""
    module, _, kind = own.rpartition(".")
    if module.startswith("layers."):
        number, _, part = module.removeprefix("layers.").partition(".")
        return f"bert.encoder.layer.{number}.{_LAYER[part]}.{kind}"
    return f"{_REST[module]}.{kind}"


def from_folder(values: BertFileSizes, tensors: Mapping[str, Tensor]) -> BertNet:
    """Return the network of a `config.json` and its tensors, float32.

    Raises:
        InternalError: a tensor is missing.
    """
    net = BertNet(BertConfig.from_transformers(values))
    names = {name: file_name(name) for name in net.state_dict()}
    missing = sorted(set(names.values()) - set(tensors))
    if missing:
        raise InternalError(f"the network's folder lacks {', '.join(missing)}")
    net.load_state_dict({name: tensors[theirs].float() for name, theirs in names.items()})
    return net


def to_folder(net: BertNet, with_output: bool) -> dict[str, Tensor]:
    """Return the weights under transformers' names; `with_output` adds the output layer that it reads."""
    tensors = {file_name(name): value for name, value in net.state_dict().items()}
    if with_output:
        weight, bias = net.output()
        tensors |= {"lm_head.decoder.weight": weight, "lm_head.decoder.bias": bias, "lm_head.bias": bias}
    return tensors
