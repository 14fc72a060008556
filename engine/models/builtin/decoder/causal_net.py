"""What every built-in network offers: sizes, hidden states over a key-value cache, logits of a tied embedding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class NetSizes:
    """Sizes of a network; defaults are the shipped model's.

    `context` is in tokens; `hidden_size` is a multiple of `heads`.
    """

    vocab_size: int = 8000
    hidden_size: int = 256
    layers: int = 7
    heads: int = 4
    intermediate_size: int = 704
    context: int = 512
    norm_eps: float = 1e-5

    @property
    def head_size(self) -> int:
        """Return the width of one head."""
        return self.hidden_size // self.heads


class Cache:
    """Keys and values of every layer, preallocated: two tensors (layers, B, heads, room, head_dim).

    Args:
        config: Sizes of the network.
        rows: Sequences in the batch.
        room: Tokens a sequence may reach, prompt included.
    """

    def __init__(self, config: NetSizes, rows: int, room: int, dtype: torch.dtype, device: torch.device) -> None:
        shape = (config.layers, rows, config.heads, room, config.head_size)
        self.keys, self.values = (torch.empty(shape, dtype=dtype, device=device) for _ in range(2))
        self.length = 0

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write k and v (B, nh, T, hs) behind what the layer holds and return all of it."""
        end = self.length + k.shape[2]
        self.keys[layer, :, :, self.length : end] = k
        self.values[layer, :, :, self.length : end] = v
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def keep(self, rows: Tensor) -> None:
        """Drop every sequence but `rows` (int64 indices)."""
        for name in ("keys", "values"):
            old: Tensor = getattr(self, name)
            new = old.new_empty((old.shape[0], len(rows), *old.shape[2:]))
            new[:, :, :, : self.length] = old[:, rows, :, : self.length]
            setattr(self, name, new)


class CausalNet(nn.Module, ABC):
    """A causal language model with tied embeddings."""

    config: NetSizes
    embed_tokens: nn.Embedding
    layers: nn.ModuleList
    head: nn.Linear | None
    """The output layer as a layer of its own, which shares the embedding: what hooks on layers need."""

    def __init__(self) -> None:
        super().__init__()
        self.register_module("head", None)

    @abstractmethod
    def hidden(
        self, ids: Tensor, mask: Tensor | None = None, positions: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Return what the output layer multiplies (B, T, C); a cache is extended by T tokens.

        Args:
            ids: int64 (B, T).
            mask: bool, broadcastable to (B, heads, T, cached + T), true = may attend; None = causal.
            positions: int64 (B, T), defaults to 0..T-1.
            cache: keys and values of earlier calls, or None.
        """

    def logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits (..., V) of hidden states (..., C)."""
        if self.head is not None:
            out: Tensor = self.head(hidden)
            return out
        return F.linear(hidden, self.embed_tokens.weight.to(hidden.dtype))

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V)."""
        return self.logits(self.hidden(ids, mask))
