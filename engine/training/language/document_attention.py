"""Causal attention of packed rows on a processor: each document alone, in bf16, while it still lies in the cache.

The library's fused attention reads a mask over whole rows and spends most of a training step there; documents of a
hundred or two hundred tokens need a fraction of that (`tests/benchmarks/training_attention.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import BackwardCFunction, FunctionCtx
from torch.nn import functional as F

from engine.errors import InternalError
from engine.models.builtin.decoder.bert_net import BertBlock, BertNet
from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.builtin.decoder.llama_net import Block, LlamaNet, rotate


class Span(NamedTuple):
    """Where one document stands: row of the batch, first position, position after its last."""

    row: int
    start: int
    stop: int


def document_spans(documents: NDArray[np.int64]) -> list[Span]:
    """Return the documents of packed rows; `documents` is int (B, T), a number each, -1 = none, rising in a row."""
    spans = []
    for row, numbers in enumerate(documents):
        edges = np.flatnonzero(np.diff(numbers, prepend=-2, append=-2))
        spans += [Span(row, int(a), int(b)) for a, b in itertools.pairwise(edges) if numbers[a] >= 0]
    return spans


def within(documents: NDArray[np.int64], spans: Sequence[Span]) -> NDArray[np.int64]:
    """Return each position's number within its document (B, T), zero outside of documents."""
    found = np.zeros_like(documents)
    for row, start, stop in spans:
        found[row, start:stop] = np.arange(stop - start)
    return found


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, qkv: Tensor, heads: int, spans: Sequence[Span]) -> Tensor:
        batch, length, width = qkv.shape
        size = width // 3 // heads
        out = qkv.new_zeros(batch, length, heads, size)
        longest = max((s.stop - s.start for s in spans), default=0)
        bias = torch.full((longest, longest), float("-inf"), dtype=qkv.dtype).triu_(1)
        shares = []
        view = qkv.view(batch, length, 3, heads, size)
        for row, start, stop in spans:
            q, k, v = view[row, start:stop].permute(1, 2, 0, 3).unbind(0)  # 3 × (heads, L, size)
            n = stop - start
            score = torch.baddbmm(bias[:n, :n].expand(heads, n, n), q, k.transpose(1, 2), alpha=size**-0.5)
            share = torch.softmax(score, -1)
            out[row, start:stop] = torch.bmm(share, v).transpose(0, 1)
            shares.append(share)
        out = out.view(batch, length, heads * size)
        ctx.save_for_backward(qkv, out, *shares)
        ctx.heads, ctx.spans = heads, spans  # type: ignore[attr-defined]
        return out

    @staticmethod
    def backward(ctx: BackwardCFunction, *grads: Tensor) -> tuple[Tensor, None, None]:
        qkv, out, *shares = ctx.saved_tensors  # type: ignore[misc]  # torch says an empty tuple
        heads, spans = ctx.heads, ctx.spans  # type: ignore[attr-defined]
        batch, length, width = qkv.shape
        size = width // 3 // heads
        view, result = qkv.view(batch, length, 3, heads, size), torch.zeros_like(qkv)
        into = result.view(batch, length, 3, heads, size)
        grad = grads[0].to(qkv.dtype).view(batch, length, heads, size)
        # Of each position and head, the inner product of output and its gradient.
        inner = torch.linalg.vecdot(grad, out.view(batch, length, heads, size))
        for (row, start, stop), share in zip(spans, shares, strict=True):
            q, k, v = view[row, start:stop].permute(1, 2, 0, 3).unbind(0)
            g = grad[row, start:stop].transpose(0, 1)  # (heads, L, size)
            slope = torch.bmm(g, v.transpose(1, 2))
            slope.sub_(inner[row, start:stop].T[:, :, None]).mul_(share).mul_(size**-0.5)
            own = into[row, start:stop]  # (L, 3, heads, size)
            own[:, 0] = torch.bmm(slope, k).transpose(0, 1)
            own[:, 1] = torch.bmm(slope.transpose(1, 2), q).transpose(0, 1)
            own[:, 2] = torch.bmm(share.transpose(1, 2), g).transpose(0, 1)
        return result, None, None


def document_attention(qkv: Tensor, heads: int, spans: Sequence[Span]) -> Tensor:
    """Return causal attention within documents, zero outside of them.

    Args:
        qkv: float (B, T, 3 × heads × size): queries, keys, values of every position.
        heads: of the layer.
        spans: the documents, none over another.

    Returns:
        float (B, T, heads × size), in the type of `qkv`.
    """
    return _Attention.apply(qkv, heads, spans)


def packed_hidden(net: CausalNet, ids: Tensor, positions: Tensor, spans: Sequence[Span]) -> Tensor:
    """Return what the output layer multiplies (B, T, C), each document read alone.

    Args:
        net: the network, without adapters. ids, positions: int64 (B, T). spans: the documents.
    """
    if isinstance(net, BertNet):
        return _bert_hidden(net, ids, positions, spans)
    if isinstance(net, LlamaNet):
        return _llama_hidden(net, ids, positions, spans)
    raise InternalError(f"a network of the kind {type(net).__name__} has no packed form")


def _bert_hidden(net: BertNet, ids: Tensor, positions: Tensor, spans: Sequence[Span]) -> Tensor:
    x = net.embedded(ids, positions)
    for layer in net.layers:
        if not isinstance(layer, BertBlock):
            raise InternalError(f"a layer of the network is a {type(layer).__name__}")
        own = layer.self_attn
        parts = (own.q_proj, own.k_proj, own.v_proj)
        # One product for all three: their inputs are read once.
        qkv = F.linear(x, torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts]))
        x = layer.behind(x, own.o_proj(document_attention(qkv, own.heads, spans)))
    out: Tensor = net.transform(x)
    return out


def _llama_hidden(net: LlamaNet, ids: Tensor, positions: Tensor, spans: Sequence[Span]) -> Tensor:
    cos, sin = (table[positions][:, :, None, None] for table in (net.cos, net.sin))  # (B, T, 1, 1, size)
    x = net.embed_tokens(ids)
    for layer in net.layers:
        if not isinstance(layer, Block):
            raise InternalError(f"a layer of the network is a {type(layer).__name__}")
        own = layer.self_attn
        weight = torch.cat([p.weight for p in (own.q_proj, own.k_proj, own.v_proj)])
        qkv = F.linear(layer.input_layernorm(x), weight).view(*ids.shape, 3, own.heads, -1)
        turned = torch.cat([rotate(qkv[:, :, :2], cos, sin), qkv[:, :, 2:]], 2).flatten(2)
        x = x + own.o_proj(document_attention(turned, own.heads, spans))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    return net.norm(x)
