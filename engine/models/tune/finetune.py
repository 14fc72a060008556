"""Fine-tune a local causal model on texts, epoch by epoch, and score with the result.

Used for a surrogate model that shows how well texts can be memorised (Ma and Rajtmajer, RPSG, section 3.4).
AdamW, linear decay, loss on the text's own tokens and its end. With a folder, each finished epoch is kept as
safetensors, and a later call with the same texts and settings goes on from it; the order of the texts depends
on the seed and the epoch alone, so that the result is the same.

Privacy posture: weights fitted to private text are private text. They stay in memory or in the folder given.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from engine.errors import UserError

_CHECKPOINT = "epoch.safetensors"
_IGNORED = -100


@dataclass(frozen=True)
class FinetuneSettings:
    """How a model is fine-tuned; defaults are RPSG's Table 8 for GPT-2-like models.

    Args:
        epochs: passes over the texts, >= 1. rate: peak learning rate. weight_decay: AdamW's.
        batch_size: texts a step. tokens: longest text in tokens; the rest is cut. seed: fixes order and dropout.
    """

    epochs: int = 5
    rate: float = 5e-4
    weight_decay: float = 0.01
    batch_size: int = 8
    tokens: int = 256
    seed: int = 0


class Cancelled(Exception):
    """Somebody asked to stop; finished epochs are kept."""


class CausalModel(Protocol):
    """A network with its vocabulary, as fine-tuning sees it."""

    module: Any
    bos: int | None
    eos: int
    context: int

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids a text, without special tokens."""
        ...

    def forward(self, ids: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states (B, T, C) and logits (B, T, V); `real` (B, T) is false on padding."""
        ...


class TunedModel:
    """A fine-tuned model that scores and embeds."""

    def __init__(self, model: CausalModel, tokens: int, losses: Sequence[float]) -> None:
        self.model, self.tokens, self.losses = model, tokens, tuple(losses)
        model.module.eval()

    def score(self, texts: Sequence[str], batch_size: int = 16) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats, end token last, cut at the model's length."""
        rows = _rows(self.model, texts, self.tokens)
        found: list[NDArray[np.float32]] = [np.zeros(0, dtype=np.float32)] * len(rows)
        for chosen, ids, targets, _, logits in self._passes(rows, batch_size):
            picked = logits.float().log_softmax(-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
            for i, index in enumerate(chosen):
                found[index] = picked[i][targets[i] != _IGNORED].cpu().numpy().astype(np.float32)
            del ids
        return found

    def nll(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return each text's mean negative log-likelihood a token, in nats, (n,); lower = better known."""
        return np.array([-float(row.mean()) if len(row) else math.inf for row in self.score(texts)])

    def embed(self, texts: Sequence[str], batch_size: int = 16) -> NDArray[np.float32]:
        """Return unit-norm mean hidden states (n, d) float32."""
        rows = _rows(self.model, texts, self.tokens)
        found: dict[int, NDArray[np.float32]] = {}
        for chosen, _, targets, hidden, _ in self._passes(rows, batch_size):
            real = (targets != _IGNORED)[..., None].float()
            mean = ((hidden.float() * real).sum(1) / real.sum(1).clamp(min=1)).cpu().numpy()  # (B, C)
            for i, index in enumerate(chosen):
                found[index] = mean[i] / max(float(np.linalg.norm(mean[i])), 1e-12)
        return np.stack([found[i] for i in range(len(rows))]) if rows else np.zeros((0, 1), dtype=np.float32)

    def _passes(self, rows: list[list[int]], batch_size: int) -> Any:
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i]), i))
        for at in range(0, len(order), batch_size):
            chosen = order[at : at + batch_size]
            ids, targets = _collate(self.model, [rows[i] for i in chosen])
            with torch.inference_mode():
                hidden, logits = self.model.forward(ids, _real(targets))
            yield chosen, ids, targets, hidden, logits


def finetune(
    model: CausalModel,
    texts: Sequence[str],
    settings: FinetuneSettings | None = None,
    folder: Path | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> TunedModel:
    """Fine-tune `model` in place and return it ready to score.

    Args:
        model: what to tune; hand in a copy if the original is still needed.
        texts: training texts, at least one that is not empty.
        folder: where finished epochs are kept, or None.
        cancelled: asked before each batch. on_batch: told batches done and in all.

    Raises:
        UserError: there is nothing to train on.
        Cancelled: `cancelled` said so.
    """
    s = settings or FinetuneSettings()
    rows = [row for row in _rows(model, texts, s.tokens) if len(row) > 1]
    if not rows:
        raise UserError("texts: fine-tuning needs at least one text that is not empty; none was given")
    optimiser = torch.optim.AdamW(
        [p for p in model.module.parameters() if p.requires_grad], lr=s.rate, weight_decay=s.weight_decay
    )
    name = _fingerprint(rows, s)
    start, losses = _resume(model, optimiser, folder, name)
    steps = -(-len(rows) // s.batch_size)
    model.module.train()
    for epoch in range(start, s.epochs):
        order = np.random.default_rng((s.seed, epoch)).permutation(len(rows))
        total = 0.0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(s.seed * 1009 + epoch)
            for step in range(steps):
                if cancelled():
                    raise Cancelled
                for group in optimiser.param_groups:
                    group["lr"] = s.rate * (1.0 - (epoch * steps + step) / (s.epochs * steps))
                batch = [rows[i] for i in order[step * s.batch_size : (step + 1) * s.batch_size]]
                total += _update(model, optimiser, batch) * len(batch)
                on_batch(epoch * steps + step + 1, s.epochs * steps)
        losses.append(total / len(rows))
        _keep(model, optimiser, folder, name, losses)
    return TunedModel(model, s.tokens, losses)


def _update(model: CausalModel, optimiser: torch.optim.Optimizer, batch: list[list[int]]) -> float:
    """Take one step and return the batch's mean loss in nats a token."""
    ids, targets = _collate(model, batch)
    device = ids.device.type
    with torch.autocast(device, torch.bfloat16, enabled=_half(device)):
        _, logits = model.forward(ids, _real(targets))
    loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=_IGNORED)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.module.parameters(), 1.0)
    optimiser.step()
    return float(loss.detach())


def _half(device: str) -> bool:
    from engine.models.builtin.embedder import bf16_pays

    return device == "cuda" or bf16_pays()


def _rows(model: CausalModel, texts: Sequence[str], tokens: int) -> list[list[int]]:
    """Return each text's tokens and its end, cut to what the model reads."""
    limit = min(tokens, model.context - 1)
    return [[*ids[: limit - 1], model.eos] for ids in model.encode(texts)]


def _collate(model: CausalModel, rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Return inputs and targets (B, T); targets are -100 where there is nothing to predict."""
    device = next(model.module.parameters()).device
    begun = [[model.bos, *row] if model.bos is not None else row for row in rows]
    width = max(len(row) for row in begun) - 1
    ids = torch.full((len(rows), max(width, 1)), model.eos, dtype=torch.long)
    targets = torch.full_like(ids, _IGNORED)
    for i, row in enumerate(begun):
        ids[i, : len(row) - 1] = torch.tensor(row[:-1])
        targets[i, : len(row) - 1] = torch.tensor(row[1:])
    return ids.to(device), targets.to(device)


def _real(targets: Tensor) -> Tensor:
    return targets != _IGNORED


def _fingerprint(rows: list[list[int]], settings: FinetuneSettings) -> str:
    """Return a digest of texts and settings: a kept epoch of others is never taken up."""
    content = json.dumps([asdict(settings), rows], separators=(",", ":")).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _keep(
    model: CausalModel, optimiser: torch.optim.Optimizer, folder: Path | None, name: str, losses: list[float]
) -> None:
    """Write the finished epoch whole, replacing the one before."""
    if folder is None:
        return
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"net.{n}": p.detach().cpu().contiguous().clone() for n, p in model.module.named_parameters()}
    for index, state in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{k}": torch.as_tensor(v).cpu().contiguous().clone() for k, v in state.items()}
    save_file(tensors, folder / f"{_CHECKPOINT}.tmp", metadata={"of": name, "losses": json.dumps(losses)})
    (folder / f"{_CHECKPOINT}.tmp").replace(folder / _CHECKPOINT)


def _resume(
    model: CausalModel, optimiser: torch.optim.Optimizer, folder: Path | None, name: str
) -> tuple[int, list[float]]:
    """Load the last finished epoch of the same texts and settings; return epochs done and their losses."""
    path = None if folder is None else folder / _CHECKPOINT
    if path is None or not path.is_file():
        return 0, []
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        about = file.metadata() or {}
        if about.get("of") != name:
            return 0, []
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    for key, parameter in model.module.named_parameters():
        parameter.data.copy_(tensors[f"net.{key}"])
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("adam."):
            _, index, field = key.split(".", 2)
            state.setdefault(int(index), {})[field] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    losses = [float(value) for value in json.loads(about["losses"])]
    return len(losses), losses
