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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import UserError
from engine.models.tune.fit import Fit, half_pays, restore, state_of, steps_of

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

    bos: int | None
    eos: int
    context: int

    @property
    def module(self) -> nn.Module:
        """The network as it is trained."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids a text, without special tokens."""
        ...

    def forward(self, ids: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states (B, T, C) and logits (B, T, V); `real` (B, T) is false on padding."""
        ...


Pass = tuple[list[int], Tensor, Tensor, Tensor, Tensor]  # rows, ids, targets, hidden states, logits


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

    def _passes(self, rows: list[list[int]], batch_size: int) -> Iterator[Pass]:
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
    fit = Fit(_Epochs(model, rows, s, cancelled, on_batch), s.epochs, _fingerprint(rows, s), folder, _CHECKPOINT)
    for epoch in range(fit.step, s.epochs):
        fit.advance(epoch + 1)
    return TunedModel(model, s.tokens, fit.losses)


class _Epochs:
    """Takes an epoch as one step: order and dropout follow from its number."""

    def __init__(
        self,
        model: CausalModel,
        rows: list[list[int]],
        settings: FinetuneSettings,
        cancelled: Callable[[], bool],
        on_batch: Callable[[int, int], None],
    ) -> None:
        self._model, self._rows, self._settings = model, rows, settings
        self._cancelled, self._on_batch = cancelled, on_batch
        trained = [p for p in model.module.parameters() if p.requires_grad]
        self._optimiser = torch.optim.AdamW(trained, lr=settings.rate, weight_decay=settings.weight_decay)

    def take(self, step: int) -> float:
        """Pass over the texts once; return the mean loss a text in nats a token."""
        s, rows = self._settings, self._rows
        batches = steps_of(len(rows), 1, s.batch_size)
        order = np.random.default_rng((s.seed, step)).permutation(len(rows))
        total = 0.0
        self._model.module.train()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(s.seed * 1009 + step)
            for number in range(batches):
                if self._cancelled():
                    raise Cancelled
                for group in self._optimiser.param_groups:
                    group["lr"] = s.rate * (1.0 - (step * batches + number) / (s.epochs * batches))
                batch = [rows[i] for i in order[number * s.batch_size : (number + 1) * s.batch_size]]
                total += self._update(batch) * len(batch)
                self._on_batch(step * batches + number + 1, s.epochs * batches)
        return total / len(rows)

    def _update(self, batch: list[list[int]]) -> float:
        """Follow one batch and return its mean loss in nats a token."""
        ids, targets = _collate(self._model, batch)
        device = ids.device.type
        with torch.autocast(device, torch.bfloat16, enabled=half_pays(device)):
            _, logits = self._model.forward(ids, _real(targets))
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=_IGNORED)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.module.parameters(), 1.0)
        self._optimiser.step()
        return float(loss.detach())

    def state(self) -> dict[str, Tensor]:
        return state_of("net", self._model.module.named_parameters(), self._optimiser)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        restore("net", self._model.module.named_parameters(), self._optimiser, state)


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
