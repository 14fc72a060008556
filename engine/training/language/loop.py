"""Train the built-in model: one time-budgeted loop with checkpoints, resume and interim exports.

Hidden matrices are moved by Muon (Jordan et al. 2024), the rest by AdamW; the rate follows elapsed time, or the tokens
seen where a number of them is asked for: warm-up, constant, then 1 - sqrt decay to zero over the last quarter (Hägele
et al. 2024).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import BackwardCFunction, FunctionCtx

from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.builtin.decoder.folders import save_folder
from engine.models.tune.fit import half_pays
from engine.training.language.document_attention import document_spans, packed_hidden, within
from engine.training.language.pack import Batch, Packer, ShardReader

SHARES = {
    "narrative": 0.38, "clinic letter": 0.085, "support ticket": 0.08, "court decision": 0.085,
    "abstract": 0.13, "textbook": 0.12, "novel": 0.12,
}  # fmt: skip


@dataclass(frozen=True)
class TrainSettings:
    """What one training run does; rates are peak learning rates, times are minutes of wall clock.

    With `tokens`, the schedule runs over that many tokens, whatever time they take, and `minutes` bounds one call.
    """

    minutes: float = 95.0
    tokens: int = 0
    muon_rate: float = 4e-3
    adam_rate: float = 3e-3
    batch_tokens: int = 8192
    micro_tokens: int = 8192
    warmup: float = 0.02
    decay: float = 0.27
    device: str = "cpu"
    threads: int = 2
    seed: int = 0
    checkpoint_minutes: float = 5.0
    export_minutes: float = 15.0


def _multiplies_in(kind: str) -> torch.dtype:
    """Return bfloat16 where a kind of device is fast in it, else float32: emulated it takes some 50 times as long."""
    return torch.bfloat16 if half_pays(kind) else torch.float32


class _ChunkedLoss(torch.autograd.Function):
    """Cross-entropy of tied logits, gradient computed chunk by chunk so that all logits never exist at once."""

    @staticmethod
    def forward(ctx: FunctionCtx, hidden: Tensor, weight: Tensor, targets: Tensor, chunk: int) -> Tensor:
        """Return the summed loss in nats of hidden (N, C), weight (V, C), targets (N,)."""
        total = torch.zeros((), device=hidden.device)
        kind = _multiplies_in(hidden.device.type)
        low = weight.to(kind)
        hidden_grad = torch.empty_like(hidden)
        weight_grad = torch.zeros_like(weight, dtype=torch.float32)
        for at in range(0, len(hidden), chunk):
            h, t = hidden[at : at + chunk].to(kind), targets[at : at + chunk, None]
            logits = (h @ low.T).float()  # (chunk, V)
            top = logits.amax(-1, keepdim=True)
            picked = logits.gather(1, t)
            p = logits.sub_(top).exp_()
            norm = p.sum(-1, keepdim=True)
            total += (top + norm.log() - picked).sum()
            p.div_(norm)
            p.scatter_add_(1, t, torch.full_like(picked, -1.0))
            grad = p.to(kind)
            hidden_grad[at : at + chunk] = grad @ low
            weight_grad += (grad.T @ h).float()
        ctx.save_for_backward(hidden_grad, weight_grad)
        return total

    @staticmethod
    def backward(ctx: BackwardCFunction, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Return the stored gradients scaled by the incoming one."""
        hidden_grad, weight_grad = ctx.saved_tensors  # type: ignore[misc]  # torch says an empty tuple
        return hidden_grad * grads[0], weight_grad * grads[0], None, None


def chunked_loss(hidden: Tensor, weight: Tensor, targets: Tensor, chunk: int = 512) -> Tensor:
    """Return the summed next-token loss in nats of hidden (N, C) against targets (N,)."""
    return _ChunkedLoss.apply(hidden, weight, targets, chunk)


def rate_factor(progress: float, warmup: float, decay: float) -> float:
    """Return the learning-rate multiplier in [0, 1] at a share `progress` of the time budget."""
    if progress < warmup:
        return max(0.02, progress / warmup)
    if progress < 1.0 - decay:
        return 1.0
    return max(0.0, 1.0 - math.sqrt(min(1.0, (progress - 1.0 + decay) / decay)))


def batch_loss(net: CausalNet, batch: Batch, device: str) -> tuple[Tensor, int]:
    """Return (summed loss in nats, number of predicted tokens) of one micro-batch."""
    ids, targets = torch.from_numpy(batch.ids).to(device), torch.from_numpy(batch.targets).to(device)
    spans = document_spans(batch.documents)
    positions = torch.from_numpy(within(batch.documents, spans)).to(device)
    kind = device.split(":")[0]
    with torch.autocast(kind, torch.bfloat16, enabled=half_pays(kind)):
        if device == "cpu":
            hidden = packed_hidden(net, ids, positions, spans)
        else:
            hidden = net.hidden(ids, document_mask(batch.documents, device), positions)
    chosen = targets.view(-1) >= 0
    flat = hidden.reshape(-1, hidden.shape[-1])[chosen]
    return chunked_loss(flat, net.embed_tokens.weight, targets.view(-1)[chosen]), int(chosen.sum())


def document_mask(documents: NDArray[np.int64], device: str) -> Tensor:
    """Return what may be attended to, bool (B, 1, T, T): earlier positions of the same document."""
    own = torch.from_numpy(documents).to(device)
    return (own[:, :, None] == own[:, None, :]).tril()[:, None]


class Trainer:
    """Holds the network, its optimisers, the data and the clock of one run.

    Args:
        work: Work folder with `tokenizer.json` and `shards/`; checkpoints and the log go here.
        assets: Folder that interim and final weights are exported to.
        build: Makes the network, after the seed is set.
        settings: The run's settings.
        shares: Of the tokens seen, by group of the shards.
        write: Writes the network to a folder.
    """

    def __init__(
        self,
        work: Path,
        assets: Path,
        build: Callable[[], Any],
        settings: TrainSettings,
        shares: Mapping[str, float] = SHARES,
        write: Callable[[Any, Path], None] = save_folder,
    ) -> None:
        torch.manual_seed(settings.seed)
        torch.set_num_threads(settings.threads)
        self.work, self.assets, self.settings, self.shares, self.write = work, assets, settings, shares, write
        self.net = build().to(settings.device)
        matrices = [p for n, p in self.net.named_parameters() if p.ndim == 2 and "embed" not in n]
        others = [p for n, p in self.net.named_parameters() if p.ndim != 2 or "embed" in n]
        self.muon = torch.optim.Muon(
            matrices, lr=settings.muon_rate, weight_decay=0.03, momentum=0.95, adjust_lr_fn="match_rms_adamw"
        )
        self.adam = torch.optim.AdamW(others, lr=settings.adam_rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
        self.average = [p.detach().clone() for p in self.net.parameters()]
        self.step = self.tokens = 0
        self.elapsed = 0.0
        self._resume()

    def run(self) -> None:
        """Train until the time budget is spent, then export the final weights."""
        s = self.settings
        reader = ShardReader(self.work / "shards", self.shares, s.seed + self.step)
        batches = Packer(reader, s.micro_tokens, s.seed + self.step).batches()
        saved = exported = logged = started = time.monotonic()
        before, first_export = self.elapsed, True
        window: list[tuple[float, int, int]] = []
        while self.elapsed - (before if s.tokens else 0.0) < s.minutes * 60 and self._progress() < 1.0:
            window.append(self._update(batches))
            now = time.monotonic()
            self.elapsed = before + now - started
            if now - logged > 30:
                self._log(window, now - logged, reader)
                window, logged = [], now
                reader.refresh()
            if now - saved > s.checkpoint_minutes * 60:
                self.save()
                saved = now
            if now - exported > (120 if first_export else s.export_minutes * 60):
                self.export(averaged=rate_factor(self._progress(), s.warmup, s.decay) == 1.0)
                exported, first_export = now, False
        self.save()
        self.export(averaged=self._progress() < 1.0)

    def _progress(self) -> float:
        """Return the share of the schedule that is behind, in [0, 1]."""
        s = self.settings
        return min(1.0, self.tokens / s.tokens if s.tokens else self.elapsed / (s.minutes * 60))

    def _update(self, batches: Iterator[Batch]) -> tuple[float, int, int]:
        factor = rate_factor(self._progress(), self.settings.warmup, self.settings.decay)
        for optimiser, peak in ((self.muon, self.settings.muon_rate), (self.adam, self.settings.adam_rate)):
            for group in optimiser.param_groups:
                group["lr"] = peak * factor
        total, predicted, seen = 0.0, 0, 0
        while seen < self.settings.batch_tokens:
            batch = next(batches)
            loss, count = batch_loss(self.net, batch, self.settings.device)
            (loss / max(count, 1)).backward()
            total, predicted, seen = total + float(loss.detach()), predicted + count, seen + batch.ids.size
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.muon.step()
        self.adam.step()
        self.net.zero_grad(set_to_none=True)
        self.step, self.tokens = self.step + 1, self.tokens + seen
        if self.step % 8 == 0:
            weight = min(0.03, 8.0 / (self.step + 8.0) * 4)
            torch._foreach_lerp_(self.average, [p.detach() for p in self.net.parameters()], weight)
        return total, predicted, seen

    def _log(self, window: list[tuple[float, int, int]], seconds: float, reader: ShardReader) -> None:
        loss = sum(w[0] for w in window) / max(1, sum(w[1] for w in window))
        line = {
            "minutes": round(self.elapsed / 60, 2),
            "step": self.step,
            "tokens": self.tokens,
            "loss_nats": round(loss, 4),
            "tokens_per_second": round(sum(w[2] for w in window) / seconds),
            "groups": {n: round(g.passes + g.cursor / len(g.ends), 2) for n, g in reader.groups.items()},
        }
        with (self.work / "training_log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def export(self, averaged: bool) -> None:
        """Write the current (or averaged) weights and the vocabulary as a model folder."""
        held = [p.detach().clone() for p in self.net.parameters()]
        if averaged:
            for p, a in zip(self.net.parameters(), self.average, strict=True):
                p.data.copy_(a)
        self.assets.mkdir(parents=True, exist_ok=True)
        (self.assets / "tokenizer.json").write_bytes((self.work / "tokenizer.json").read_bytes())
        self.write(self.net, self.assets)
        for p, h in zip(self.net.parameters(), held, strict=True):
            p.data.copy_(h)

    def save(self) -> None:
        """Write a checkpoint that `_resume` continues from; the old one stays until the new one is whole."""
        from safetensors.torch import save_file

        tensors = {f"net.{n}": p.detach().clone() for n, p in self.net.named_parameters()}
        tensors |= {f"average.{i}": a for i, a in enumerate(self.average)}
        for name, optimiser in (("muon", self.muon), ("adam", self.adam)):
            for index, state in optimiser.state_dict()["state"].items():
                tensors |= {
                    f"{name}.{index}.{k}": torch.as_tensor(v).clone().contiguous()
                    for k, v in state.items()
                    if v is not None
                }
        counters = {"step": self.step, "tokens": self.tokens, "elapsed": self.elapsed}
        temporary = self.work / "checkpoint.tmp"
        save_file(tensors, temporary, metadata={"counters": json.dumps(counters)})
        temporary.replace(self.work / "checkpoint.safetensors")

    def _resume(self) -> None:
        path = self.work / "checkpoint.safetensors"
        if not path.exists():
            return
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            counters = json.loads(file.metadata()["counters"])
            tensors = {k: file.get_tensor(k) for k in file.keys()}  # noqa: SIM118
        for name, parameter in self.net.named_parameters():
            parameter.data.copy_(tensors[f"net.{name}"])
        for i, average in enumerate(self.average):
            average.copy_(tensors[f"average.{i}"])
        for prefix, optimiser in (("muon", self.muon), ("adam", self.adam)):
            state: dict[int, dict[str, Tensor]] = {}
            for key, value in tensors.items():
                if key.startswith(prefix + "."):
                    _, index, field = key.split(".")
                    state.setdefault(int(index), {})[field] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
        self.step, self.tokens, self.elapsed = counters["step"], counters["tokens"], counters["elapsed"]
