"""A causal language model with the architecture and the first weights of the sentence encoder all-MiniLM-L6-v2.

Six post-norm layers of width 384 with learned positions; attention looks back only; the output layer is the embedding
table. Positions beyond the encoder's 512 begin as a repetition of them. Its interface is `LlamaNet`'s where training
needs it: `hidden`, `embed_tokens`, `config.context`.
Source: Devlin et al. 2019 (BERT); Wang et al. 2020 (MiniLM); Rothe et al. 2020 (an encoder's weights start a decoder).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class CausalConfig:
    """Sizes of the network; the defaults are the encoder's, but for vocabulary and context."""

    vocab_size: int = 12_288
    hidden_size: int = 384
    layers: int = 6
    heads: int = 12
    intermediate_size: int = 1536
    context: int = 1024
    norm_eps: float = 1e-12


class Layer(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self, config: CausalConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.heads = config.heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, config.norm_eps)
        self.up = nn.Linear(size, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, size)
        self.norm = nn.LayerNorm(size, config.norm_eps)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return the stream (B, T, C) after this layer; `mask` is bool (B, 1, T, T), None = causal."""
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # 3 × (B, nh, T, hs)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        x = self.attention_norm(x + self.out(y.transpose(1, 2).reshape(batch, length, size)))
        return self.norm(x + self.down(F.gelu(self.up(x))))


class CausalMiniLM(nn.Module):
    """The network; logits are hidden states times the embedding table."""

    def __init__(self, config: CausalConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.embed_positions = nn.Embedding(config.context, config.hidden_size)
        self.embed_norm = nn.LayerNorm(config.hidden_size, config.norm_eps)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        # The last layer's normalisation leaves every position at the same length; a transform before the
        # output, as in the encoder's own pre-training head, lets the net set how sure it is.
        self.transform = nn.Linear(config.hidden_size, config.hidden_size)
        nn.init.eye_(self.transform.weight)
        nn.init.zeros_(self.transform.bias)

    def hidden(self, ids: Tensor, mask: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        """Return what the output layer multiplies (B, T, C).

        Args:
            ids: int64 (B, T).
            mask: bool (B, 1, T, T), true = may attend; None = causal.
            positions: int64 (B, T), defaults to 0..T-1.
        """
        if positions is None:
            positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.embed_norm(self.embed_tokens(ids) + self.embed_positions(positions))
        for layer in self.layers:
            x = layer(x, mask)
        return self.transform(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits (..., V) of hidden states (..., C)."""
        return F.linear(hidden, self.embed_tokens.weight.to(hidden.dtype))

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V)."""
        return self.logits(self.hidden(ids, mask))


def from_encoder(config: CausalConfig, encoder: Path, embeddings: Tensor) -> CausalMiniLM:
    """Return the network with the encoder's layers and positions and the given token embeddings (V, C)."""
    from safetensors.torch import load_file

    net = CausalMiniLM(config)
    old = {k.removeprefix("bert."): v.float() for k, v in load_file(encoder / "model.safetensors").items()}
    new: dict[str, Tensor] = {}
    base = old["embeddings.position_embeddings.weight"]
    kind = old["embeddings.token_type_embeddings.weight"][0]  # the one kind every position of a text has
    new["embed_positions.weight"] = base.repeat(-(-config.context // len(base)), 1)[: config.context] + kind
    new["embed_norm.weight"], new["embed_norm.bias"] = (old[f"embeddings.LayerNorm.{x}"] for x in ("weight", "bias"))
    names = {
        "out": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
        "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm",
    }  # fmt: skip
    for i in range(config.layers):
        at = f"encoder.layer.{i}."
        for part in ("weight", "bias"):
            new[f"layers.{i}.qkv.{part}"] = torch.cat(
                [old[f"{at}attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            )
            for ours, theirs in names.items():
                new[f"layers.{i}.{ours}.{part}"] = old[f"{at}{theirs}.{part}"]
    new["embed_tokens.weight"] = embeddings
    missing = net.load_state_dict(new, strict=False)
    assert not missing.unexpected_keys
    assert set(missing.missing_keys) == {"transform.weight", "transform.bias"}
    return net


def save_net(net: CausalMiniLM, folder: Path) -> None:
    """Write config.json and model.safetensors in bfloat16; each file appears whole."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {k: v.detach().to("cpu", torch.bfloat16).contiguous().clone() for k, v in net.state_dict().items()}
    save_file(tensors, folder / "model.safetensors.tmp", metadata={"format": "pt"})
    (folder / "model.safetensors.tmp").replace(folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(asdict(net.config), indent=1) + "\n", encoding="utf-8")


def load_net(folder: Path) -> CausalMiniLM:
    """Return the network saved in `folder`, float32, in evaluation mode."""
    from safetensors.torch import load_file

    net = CausalMiniLM(CausalConfig(**json.loads((folder / "config.json").read_text(encoding="utf-8"))))
    net.load_state_dict({k: v.float() for k, v in load_file(folder / "model.safetensors").items()})
    return net.eval()
