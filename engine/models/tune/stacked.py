"""Many small causal language models of one shape, trained together: each weight is one tensor (models, ...).

A step of all models is one batched product a layer, so small models keep all cores (or a GPU) busy. Gradients do not
mix: each model has its own start weights, order of records, clipping, rate and optimiser state, all fixed by its own
seed, so a model comes out the same (up to rounding) whether it is trained alone or beside others. On a processor the
same call gives the same weights; a GPU may add in another order, so last digits may differ.
Architecture: pre-norm transformer with rotary positions, tied embeddings (Vaswani et al. 2017; Su et al. 2021;
Zhang and Sennrich 2019). Optimiser: Adam with decoupled decay (Kingma and Ba 2015; Loshchilov and Hutter 2019).

Privacy posture: weights fitted to text are that text's secret; they stay in memory and are dropped after scoring.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from engine.errors import InternalError
from engine.models.builtin.decoder.llama_net import rotate

IGNORED = -100
Rows = Sequence[NDArray[np.int64]]
Report = Callable[[int, int], None]


def quiet(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Shape:
    """Sizes of each model: token types, width (a multiple of 2 * heads), layers, heads, longest row in tokens."""

    vocabulary: int
    width: int = 64
    layers: int = 2
    heads: int = 4
    context: int = 128


@dataclass(frozen=True)
class Training:
    """How weights follow gradients.

    Args:
        epochs: passes over a model's records. batch: records a step. rate: peak rate, reached after a tenth of the
            steps, then falling in a line to nothing. decay: decoupled weight decay. clip: longest gradient a model.
    """

    epochs: int = 5
    batch: int = 4
    rate: float = 5e-3
    decay: float = 0.01
    clip: float = 1.0


class Stack:
    """Models side by side.

    Args:
        shape: sizes, the same for all. seeds: one a model; fixes its start weights and its order of records.
    """

    def __init__(self, shape: Shape, seeds: Sequence[int], device: torch.device | None = None) -> None:
        self.shape, self.seeds = shape, tuple(seeds)
        self.device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        made = [_start(shape, seed) for seed in self.seeds]
        self.weights = {
            name: torch.stack([one[name] for one in made]).to(self.device).requires_grad_() for name in made[0]
        }
        half = shape.width // shape.heads // 2
        inverse = 10_000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
        angle = torch.outer(torch.arange(shape.context + 1, dtype=torch.float32), inverse).repeat(1, 2)
        self._cos, self._sin = angle.cos().to(self.device), angle.sin().to(self.device)

    def __len__(self) -> int:
        return len(self.seeds)

    def logits(self, ids: Tensor) -> Tensor:
        """Return logits (models, B, T, V) of tokens, int64 (models, B, T)."""
        w, s = self.weights, self.shape
        models, batch, length = ids.shape
        offset = torch.arange(models, device=self.device).view(-1, 1, 1) * s.vocabulary
        x = F.embedding(ids + offset, w["embed"].view(-1, s.width)).view(models, batch * length, s.width)
        rope = self._cos[:length], self._sin[:length]
        for layer in range(s.layers):
            qkv = torch.bmm(_norm(x, w[f"{layer}.norm1"]), w[f"{layer}.qkv"])  # (M, B * T, 3 C)
            q, k, v = (
                part.reshape(models * batch, length, s.heads, -1).transpose(1, 2) for part in qkv.chunk(3, dim=2)
            )  # (M * B, nh, T, hs)
            y = F.scaled_dot_product_attention(rotate(q, *rope), rotate(k, *rope), v, is_causal=True)
            y = y.transpose(1, 2).reshape(models, batch * length, s.width)
            x = x + torch.bmm(y, w[f"{layer}.out"])
            up = F.gelu(torch.bmm(_norm(x, w[f"{layer}.norm2"]), w[f"{layer}.up"]))
            x = x + torch.bmm(up, w[f"{layer}.down"])
        out = torch.bmm(_norm(x, w["norm"]), w["embed"].transpose(1, 2))
        return out.view(models, batch, length, s.vocabulary)


def _start(shape: Shape, seed: int) -> dict[str, Tensor]:
    """Return one model's start weights."""
    c, generator = shape.width, torch.Generator().manual_seed(seed)

    def drawn(*size: int, std: float = 0.02) -> Tensor:
        return torch.randn(*size, generator=generator) * std

    weights = {"embed": drawn(shape.vocabulary, c), "norm": torch.ones(1, c)}
    inner = 0.02 / math.sqrt(2 * shape.layers)
    for layer in range(shape.layers):
        weights[f"{layer}.norm1"], weights[f"{layer}.norm2"] = torch.ones(1, c), torch.ones(1, c)
        weights[f"{layer}.qkv"], weights[f"{layer}.out"] = drawn(c, 3 * c, std=c**-0.5), drawn(c, c, std=inner)
        weights[f"{layer}.up"], weights[f"{layer}.down"] = drawn(c, 4 * c, std=c**-0.5), drawn(4 * c, c, std=inner)
    return weights


def _norm(x: Tensor, gain: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * gain


def collate(rows: Rows, pick: Sequence[NDArray[np.int64]], start: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return inputs and targets, int64 (models, B, T), of the rows each model picks; targets are -100 where none is.

    Args:
        rows: token ids a record. pick: row numbers a model, fewer or none where a model is done.
        start: the token in front of every row.
    """
    height = max(len(one) for one in pick)
    width = max(len(rows[i]) for one in pick for i in one)
    targets = np.full((len(pick), height, width), IGNORED, np.int64)
    for model, one in enumerate(pick):
        for at, i in enumerate(one):
            targets[model, at, : len(rows[i])] = rows[i]
    ids = np.full_like(targets, start)
    ids[:, :, 1:] = np.where(targets[:, :, :-1] == IGNORED, start, targets[:, :, :-1])
    return torch.from_numpy(ids).to(device), torch.from_numpy(targets).to(device)


def schedule(count: NDArray[np.int64], seed: int, training: Training) -> list[NDArray[np.int64]]:
    """Return the rows of each step of one model: its own rows, shuffled anew each epoch."""
    rng = np.random.default_rng(seed)
    orders = (rng.permutation(count) for _ in range(training.epochs))
    return [order[at : at + training.batch] for order in orders for at in range(0, len(order), training.batch)]


def train(
    stack: Stack, rows: Rows, members: NDArray[np.bool_], start: int, training: Training, report: Report = quiet
) -> NDArray[np.float64]:
    """Fit each model to its own rows; return each model's mean loss over its last epoch, nats a token (models,).

    Args:
        rows: token ids, at most `context` a row. members: bool (models, rows). start: token in front of a row.
        report: told (step, steps) at every step; it may raise to stop.
    """
    if members.shape != (len(stack), len(rows)) or not members.any(axis=1).all():
        raise InternalError(f"members: expected a row for each of {len(stack)} models with at least one member")
    plans = [schedule(np.flatnonzero(own), seed, training) for own, seed in zip(members, stack.seeds, strict=True)]
    steps = np.array([len(plan) for plan in plans])
    optimiser = _Adam(stack, steps, training)
    none = np.zeros(0, np.int64)
    spent, seen = (torch.zeros(len(stack), device=stack.device) for _ in range(2))
    last = steps - steps // training.epochs
    for step in range(int(steps.max())):
        report(step, int(steps.max()))
        picks = [plan[step] if step < len(plan) else none for plan in plans]
        ids, targets = collate(rows, picks, start, stack.device)
        losses = F.cross_entropy(
            stack.logits(ids).flatten(0, 2), targets.flatten(), ignore_index=IGNORED, reduction="none"
        )
        total = losses.view(len(stack), -1).sum(1)
        tokens = (targets != IGNORED).flatten(1).sum(1)
        (total / tokens.clamp(min=1)).sum().backward()
        optimiser.step(step)
        counted = torch.from_numpy((step >= last) & (step < steps)).to(stack.device)
        spent += total.detach() * counted
        seen += tokens * counted
    found: NDArray[np.float64] = (spent / seen.clamp(min=1)).double().cpu().numpy()
    if not np.isfinite(found).all():
        raise InternalError("training together: a model's loss is not finite")
    return found


class _Adam:
    """Adam with decoupled decay, clipping and a rate for each model by itself."""

    def __init__(self, stack: Stack, steps: NDArray[np.int64], training: Training) -> None:
        self._weights = list(stack.weights.values())
        self._moments = [(torch.zeros_like(w), torch.zeros_like(w)) for w in self._weights]
        self._steps, self._training, self._device = steps, training, stack.device

    def _column(self, values: NDArray[np.float64]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32, device=self._device).view(-1, 1, 1)

    def step(self, step: int) -> None:
        """Take one step; a model whose records are used up stays as it is."""
        t = self._training
        warm = np.maximum(1, self._steps // 10)
        rate = t.rate * np.minimum((step + 1) / warm, np.maximum(0.0, 1 - step / self._steps))
        with torch.no_grad():
            gradients = [torch.zeros_like(w) if w.grad is None else w.grad for w in self._weights]
            length = torch.stack([g.flatten(1).pow(2).sum(1) for g in gradients]).sum(0).sqrt()
            scale = (t.clip / length.clamp(min=t.clip)).view(-1, 1, 1)
            rates = self._column(rate)
            one, two = 1 - 0.9 ** (step + 1), 1 - 0.95 ** (step + 1)
            for weight, gradient, (mean, square) in zip(self._weights, gradients, self._moments, strict=True):
                own = gradient * scale
                mean.lerp_(own, 0.1)
                square.mul_(0.95).addcmul_(own, own, value=0.05)
                weight.mul_(1 - rates * t.decay)
                weight.sub_(rates * (mean / one) / ((square / two).sqrt() + 1e-8))
                weight.grad = None
