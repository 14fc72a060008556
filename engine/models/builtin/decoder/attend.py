"""Attention of single tokens over a cache of sequences of different lengths: each token reads its own sequence only.

A padded batch makes every row read as far as the longest one; decoding is bound by that reading. On a processor
this runs as machine code made by numba in about a second (no compiler is needed); where numba is not at hand, and
on a GPU, torch does the same on padded slices.
Source: Kwon et al. 2023, section 4 (attention over per-sequence caches); Su et al. 2021 (rotary positions).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional as F

from engine.models.builtin.decoder.causal_net import NetSizes
from engine.models.builtin.decoder.llama_net import rotate

Held = TypeVar("Held", np.uint16, np.float32)  # a cache's numbers: bfloat16 by its bits, or float32
Floats: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.int64]
Cached: TypeAlias = NDArray[np.uint16] | NDArray[np.float32]
Kernel: TypeAlias = Callable[[Floats, Floats, Floats, Places, Places, Cached, Cached, Floats], None]


class Slots:
    """Keys and values of sequences under way: two tensors (layers, slots, heads, room, head_dim).

    Args:
        config: Sizes of the network.
        slots: Sequences that can be held.
        room: Tokens a sequence may reach, prompt included.

    Raises:
        torch.OutOfMemoryError, RuntimeError: there is no memory for them.
    """

    def __init__(self, config: NetSizes, slots: int, room: int, dtype: torch.dtype, device: torch.device) -> None:
        shape = (config.layers, slots, config.heads, room, config.head_size)
        # Zeros: a masked place still enters a sum with weight 0, and 0 × NaN of memory never written is NaN.
        self.keys, self.values = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` tokens of one slot to another."""
        for held in (self.keys, self.values):
            held[:, target, :, :length] = held[:, source, :, :length]

    def load(self, target: int, keys: Tensor, values: Tensor) -> None:
        """Write keys and values (layers, heads, T, head_dim) at the start of a slot."""
        self.keys[:, target, :, : keys.shape[2]] = keys
        self.values[:, target, :, : values.shape[2]] = values


class Attention:
    """Attends packed tokens: each belongs to a slot and has a position in it.

    Tokens of one slot stand together in ascending positions; earlier positions are in the cache.

    Args:
        config: Sizes of the network.
        cos: float32 (context, head_dim) of the rotary positions. sin: likewise.
        compiled: Whether to use machine code on a processor where it can be made.
    """

    def __init__(self, config: NetSizes, cos: Tensor, sin: Tensor, compiled: bool = True) -> None:
        self.config, self.cos, self.sin = config, cos.float(), sin.float()
        self._kernel = None
        if compiled and cos.device.type == "cpu":
            self._kernel = kernel(config.head_size)

    def __call__(self, layer: int, qkv: Tensor, place: Place, store: Slots) -> Tensor:
        """Write the tokens' keys and values and return what their queries read, (N, C) in the type of `qkv`.

        Args:
            layer: Which layer's cache.
            qkv: (N, 3 C): queries, keys and values before rotation.
            place: Where the tokens stand.
            store: The cache.
        """
        keys, values = store.keys[layer], store.values[layer]
        if self._kernel is None:
            return self._torch(qkv, place, keys, values)
        out = torch.empty(len(place.slots), self.config.hidden_size)
        narrow = keys.dtype == torch.bfloat16
        past: tuple[Cached, Cached] = (_bits(keys), _bits(values)) if narrow else (keys.numpy(), values.numpy())
        cos, sin = self.cos.numpy(), self.sin.numpy()
        self._kernel(qkv.float().numpy(), cos, sin, place.slots, place.positions, *past, out.numpy())
        return out.to(qkv.dtype)

    def _torch(self, qkv: Tensor, place: Place, keys: Tensor, values: Tensor) -> Tensor:
        tokens, heads = qkv.shape[0], self.config.heads
        slots, positions = place.tensors(qkv.device)
        q, k, v = qkv.view(tokens, 3, heads, -1).unbind(1)  # (N, nh, hs)
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        q, k = rotate(q, cos, sin).to(qkv.dtype), rotate(k, cos, sin)
        keys[slots, :, positions], values[slots, :, positions] = k.to(keys.dtype), v.to(values.dtype)
        runs = place.runs()
        y = torch.empty(tokens, heads, q.shape[-1], dtype=q.dtype, device=q.device)
        ends = torch.tensor([end - 1 for _, _, end, _ in runs], device=q.device)
        y[ends] = _last(q[ends], [slot for slot, *_ in runs], positions[ends], keys, values)
        for slot, begin, end, first in runs:
            if end - begin > 1:
                last = first + end - begin
                mask = torch.ones(end - begin, last, dtype=torch.bool, device=q.device).tril(first) if first else None
                past = keys[slot, :, :last], values[slot, :, :last]
                own = F.scaled_dot_product_attention(q[begin:end].transpose(0, 1), *past, mask, is_causal=mask is None)
                y[begin:end] = own.transpose(0, 1)
        return y.reshape(tokens, -1)


def _last(q: Tensor, slots: list[int], positions: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Return what one query a slot (B, nh, hs) reads: all of them at once, shorter ones masked."""
    most = int(positions.max()) + 1
    whole = slots == list(range(len(slots)))
    chosen: slice | list[int] = slice(len(slots)) if whole else slots  # a slice copies nothing
    seen = torch.arange(most, device=q.device) <= positions[:, None]
    bias = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill_(~seen, -torch.inf)[:, None, None]
    past = keys[chosen][:, :, :most], values[chosen][:, :, :most]
    return F.scaled_dot_product_attention(q[:, :, None], *past, attn_mask=bias)[:, :, 0]


class Place:
    """Slots and positions of packed tokens, int64 (N,) each."""

    def __init__(self, slots: ArrayLike, positions: ArrayLike) -> None:
        self.slots = np.ascontiguousarray(slots, dtype=np.int64)
        self.positions = np.ascontiguousarray(positions, dtype=np.int64)
        self._held: tuple[Tensor, Tensor] | None = None

    def tensors(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return both as tensors, moved once."""
        if self._held is None:
            self._held = (torch.from_numpy(self.slots).to(device), torch.from_numpy(self.positions).to(device))
        return self._held

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Return slot, begin, end and first position of each slot's tokens."""
        edges = [0, *(np.flatnonzero(np.diff(self.slots)) + 1).tolist(), len(self.slots)]
        return [(int(self.slots[a]), a, b, int(self.positions[a])) for a, b in pairwise(edges) if a < b]


def _bits(held: Tensor) -> NDArray[np.uint16]:
    bits: NDArray[np.uint16] = held.view(torch.uint16).numpy()
    return bits


@lru_cache(maxsize=4)
def kernel(head_dim: int) -> Kernel | None:
    """Return the compiled attention for heads of this size, or None where numba cannot make it."""
    try:
        return _compiled(head_dim)
    except Exception:  # noqa: BLE001 - any fault of a compiler means: do without
        return None


def _compiled(size: int) -> Kernel:
    from numba import njit

    half, scale = size // 2, np.float32(size**-0.5)
    fast = njit(fastmath=True, nogil=True, inline="always")

    @fast
    def widen(bits: np.uint16) -> np.float32:  # bfloat16 as float32
        return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)

    @fast
    def narrow(value: np.float32) -> np.uint16:  # float32 to the nearest bfloat16, ties to even
        bits = np.float32(value).view(np.uint32)
        return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))

    @fast
    def same(value: np.float32) -> np.float32:
        return value

    @fast
    def power(
        x: np.float32,
    ) -> np.float32:  # e**x for x <= 0, relative error under 2e-6, vectorised
        y = max(x * np.float32(1.44269504), np.float32(-126))
        whole = np.floor(y)
        f = y - whole
        p = np.float32(1.8775767e-3) * f + np.float32(8.9893397e-3)  # minimax for 2**f on [0, 1)
        p = (p * f + np.float32(5.5826318e-2)) * f + np.float32(2.4015361e-1)
        p = (p * f + np.float32(6.9315308e-1)) * f + np.float32(9.9999994e-1)
        return p * np.uint32(np.uint32(np.int32(whole) + np.int32(127)) << np.uint32(23)).view(np.float32)

    def build(read: Callable[[Held], np.float32], write: Callable[[np.float32], Held]) -> Callable[..., None]:
        @njit(fastmath=True, nogil=True)
        def attend(
            qkv: Floats, cos: Floats, sin: Floats, slots: Places, positions: Places,
            keys: NDArray[Held], values: NDArray[Held], out: Floats,
        ) -> None:  # fmt: skip
            heads = keys.shape[1]
            width = heads * size
            query, total = np.empty(size, np.float32), np.empty(size, np.float32)
            weights = np.empty(keys.shape[2] + 4, np.float32)
            for n in range(len(slots)):
                s, p = slots[n], positions[n]
                for h in range(heads):
                    at = width + h * size
                    for d in range(half):
                        a, b = qkv[n, at + d], qkv[n, at + half + d]
                        keys[s, h, p, d] = write(a * cos[p, d] - b * sin[p, d])
                        keys[s, h, p, half + d] = write(b * cos[p, d] + a * sin[p, d])
                    at += width
                    for d in range(size):
                        values[s, h, p, d] = write(qkv[n, at + d])
            for n in range(len(slots)):
                s, p = slots[n], positions[n]
                for h in range(heads):
                    at = h * size
                    for d in range(half):
                        a, b = qkv[n, at + d], qkv[n, at + half + d]
                        query[d] = (a * cos[p, d] - b * sin[p, d]) * scale
                        query[half + d] = (b * cos[p, d] + a * sin[p, d]) * scale
                    held, given = keys[s, h], values[s, h]
                    most = np.float32(-3e38)  # fast arithmetic knows no infinity
                    even = (p + 1) // 4 * 4  # four at a time hide the latency of each
                    for t in range(0, even, 4):
                        w0, w1, w2, w3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
                        for d in range(size):
                            x = query[d]
                            w0 += x * read(held[t, d])
                            w1 += x * read(held[t + 1, d])
                            w2 += x * read(held[t + 2, d])
                            w3 += x * read(held[t + 3, d])
                        weights[t], weights[t + 1], weights[t + 2], weights[t + 3] = w0, w1, w2, w3
                        most = max(most, max(max(w0, w1), max(w2, w3)))
                    for t in range(even, p + 1):
                        w0 = np.float32(0)
                        for d in range(size):
                            w0 += query[d] * read(held[t, d])
                        weights[t] = w0
                        most = max(most, w0)
                    mass = np.float32(0)
                    for t in range(p + 1):
                        weights[t] = power(weights[t] - most)
                        mass += weights[t]
                    for d in range(size):
                        total[d] = 0
                    for t in range(0, even, 4):
                        w0, w1, w2, w3 = weights[t], weights[t + 1], weights[t + 2], weights[t + 3]
                        for d in range(size):
                            total[d] += w0 * read(given[t, d]) + w1 * read(given[t + 1, d])
                            total[d] += w2 * read(given[t + 2, d]) + w3 * read(given[t + 3, d])
                    for t in range(even, p + 1):
                        for d in range(size):
                            total[d] += weights[t] * read(given[t, d])
                    for d in range(size):
                        out[n, at + d] = total[d] / mass

        return attend

    exact, narrow_cache = build(same, same), build(widen, narrow)

    def run(
        qkv: Floats, cos: Floats, sin: Floats, slots: Places, positions: Places, keys: Cached, values: Cached,
        out: Floats,
    ) -> None:  # fmt: skip
        attend = exact if keys.dtype == np.float32 else narrow_cache
        attend(qkv, cos, sin, slots, positions, keys, values, out)

    return run
