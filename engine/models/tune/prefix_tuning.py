"""Prefix tuning: learn a few virtual tokens in front of a frozen model, with an objective that spares private tokens.

Sources: Li and Liang 2021 (prefix tuning: keys and values of virtual tokens in every layer); Zhao and Field 2025,
section 2.3, equations 2 to 5 (masked objective). Its equation 3 as printed falls as the tuned model's probability of
a private token rises, so it teaches what it means to hide: `contrastive="paper"` is that equation, and
`contrastive="suppress"`, the default, its mirror image. The KL term counts non-private tokens only (equation 4).

Privacy posture: a trained prefix is fitted to private text. It stays in memory or in the folder given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from engine.errors import InternalError, UserError
from engine.models.tune.fit import Fit, batch_of, half_pays, restore, state_of, steps_of

Contrastive = Literal["suppress", "paper"]
_CHECKPOINT = "prefix.safetensors"
_IGNORED = -100


@dataclass(frozen=True)
class Objective:
    """What is minimised.

    Args:
        masked: whether private tokens are told from others; else plain language modelling on all tokens.
        contrastive: direction of the contrast on private tokens.
        lm, contrast, kl: weights λ of equation 5.
    """

    masked: bool = False
    contrastive: Contrastive = "suppress"
    lm: float = 1.0
    contrast: float = 1.0
    kl: float = 1.0


@dataclass(frozen=True)
class PrefixSettings:
    """How a prefix is trained; defaults are those of section 3.2.

    Args:
        virtual_tokens: length of the prefix. epochs: passes over the pairs. rate: AdamW's learning rate.
        batch_size: pairs a step. seed: fixes the order.
    """

    virtual_tokens: int = 20
    epochs: int = 3
    rate: float = 5e-5
    batch_size: int = 4
    seed: int = 0
    objective: Objective = field(default_factory=Objective)


@dataclass(frozen=True)
class Pair:
    """A control code's prompt and the text it stands for; `private` are code-point ranges of the text."""

    prompt: str
    text: str
    private: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Row:
    """A pair in tokens: all ids, where the text begins, and which ids are private (same length as `ids`)."""

    ids: tuple[int, ...]
    begin: int
    private: tuple[bool, ...]


class PrefixBase(Protocol):
    """A frozen model with room for a prefix."""

    module: Any
    device: torch.device

    def start(self, virtual_tokens: int, seed: int) -> list[tuple[str, torch.nn.Parameter]]:
        """Return the prefix's parameters, named, at their start values."""
        ...

    def rows(self, pairs: Sequence[Pair], virtual_tokens: int) -> list[Row]:
        """Return the pairs in tokens, cut to what the model reads."""
        ...

    def logits(self, ids: Tensor, real: Tensor, prefix: bool) -> Tensor:
        """Return next-token logits (B, T, V) with the prefix or without; padding stands behind the text."""
        ...


@dataclass(frozen=True)
class Losses:
    """Parts of the objective, each a mean over the batch's text tokens, and their weighted sum."""

    total: Tensor
    lm: Tensor
    contrast: Tensor
    kl: Tensor


def losses(logits: Tensor, base: Tensor | None, targets: Tensor, private: Tensor, objective: Objective) -> Losses:
    """Return the objective of a batch.

    Args:
        logits: (B, T, V) of the tuned model. base: the same of the frozen model; needed where masked.
        targets: int64 (B, T), -100 where nothing is to be predicted. private: bool (B, T), M = 0 of the paper.
        objective: which parts count, and how much.
    """
    real = targets != _IGNORED
    aims, hidden = targets[real], private[real]  # (N,): prompts and padding cost nothing from here on
    count = max(1, len(aims))
    ours = logits[real].float().log_softmax(-1)  # (N, V)
    picked = ours.gather(1, aims[:, None])[:, 0]
    zero = ours.new_zeros(())
    if not objective.masked:
        lm = -picked.sum() / count
        return Losses(objective.lm * lm, lm, zero, zero)
    if base is None:
        raise InternalError("the masked objective needs the frozen model's logits")
    theirs = base[real].float().log_softmax(-1)
    known = theirs.gather(1, aims[:, None])[:, 0]
    # -log(Pbase / (P + Pbase)) = softplus(log P - log Pbase), and the paper's with P and Pbase changed round.
    ahead = picked - known if objective.contrastive == "suppress" else known - picked
    contrast = F.softplus(ahead)[hidden].sum() / count
    lm = -(picked[~hidden] if objective.contrastive == "suppress" else picked).sum() / count
    kl = (theirs[~hidden].exp() * (theirs[~hidden] - ours[~hidden])).sum() / count
    total = objective.lm * lm + objective.contrast * contrast + objective.kl * kl
    return Losses(total, lm, contrast, kl)


class PrefixLearner:
    """A prefix in training.

    Args:
        base: the frozen model.
        pairs: what to learn from.
        settings: how.

    Raises:
        UserError: no pair has a token to learn.
    """

    def __init__(self, base: PrefixBase, pairs: Sequence[Pair], settings: PrefixSettings) -> None:
        self.base, self.settings = base, settings
        self.rows = [row for row in base.rows(pairs, settings.virtual_tokens) if len(row.ids) > row.begin]
        if not self.rows:
            raise UserError("prefix tuning needs at least one text that is not empty; none was given")
        for parameter in base.module.parameters():
            parameter.requires_grad_(False)
        self.named = base.start(settings.virtual_tokens, settings.seed)
        self._frozen = _fingerprint(base, self.named)
        self._start = [p.detach().clone() for _, p in self.named]
        self._optimiser = torch.optim.AdamW([p for _, p in self.named], lr=settings.rate, weight_decay=0.0)

    def fit(self, folder: Path | None = None) -> Fit[dict[str, float]]:
        """Return the training of the prefix; it is kept in the folder between steps, or nowhere."""
        s = self.settings
        return Fit(self, steps_of(len(self.rows), s.epochs, s.batch_size), _digest(self.rows, s), folder, _CHECKPOINT)

    def check(self) -> None:
        """Assert that the prefix moved, where there was a step to take, and the model under it did not.

        Raises:
            InternalError: one of the two does not hold.
        """
        if _fingerprint(self.base, self.named) != self._frozen:
            raise InternalError("prefix tuning changed the frozen model")
        moved = [not torch.equal(p.detach(), s) for (_, p), s in zip(self.named, self._start, strict=True)]
        if self.settings.epochs and not all(moved):
            raise InternalError("prefix tuning left the prefix as it was")

    def take(self, step: int) -> dict[str, float]:
        """Take one step and return the parts of its loss."""
        s, device = self.settings, self.base.device
        chosen = batch_of(step, [len(row.ids) for row in self.rows], s.batch_size, s.seed)
        ids, targets, private = collate([self.rows[i] for i in chosen], device)
        real = ids != _IGNORED
        ids = ids.clamp(min=0)
        self.base.module.eval()
        base = None
        with torch.autocast(device.type, torch.bfloat16, enabled=half_pays(device.type)):
            if s.objective.masked:
                with torch.no_grad():
                    base = self.base.logits(ids, real, prefix=False)
            ours = self.base.logits(ids, real, prefix=True)
        parts = losses(ours, base, targets, private, s.objective)
        self._optimiser.zero_grad(set_to_none=True)
        parts.total.backward()
        torch.nn.utils.clip_grad_norm_([p for _, p in self.named], 1.0)
        self._optimiser.step()
        return {k: round(float(getattr(parts, k).detach()), 5) for k in ("total", "lm", "contrast", "kl")}

    def state(self) -> dict[str, Tensor]:
        """Return the prefix and its optimiser as named tensors."""
        return state_of("prefix", self.named, self._optimiser)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` returned."""
        restore("prefix", self.named, self._optimiser, state)


def collate(rows: Sequence[Row], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, targets and private marks (B, T) of the rows, shifted by one; -100 is padding or prompt."""
    width = max(len(row.ids) for row in rows) - 1
    ids = torch.full((len(rows), width), _IGNORED, dtype=torch.long)
    targets, private = torch.full_like(ids, _IGNORED), torch.zeros(ids.shape, dtype=torch.bool)
    for i, row in enumerate(rows):
        length = len(row.ids) - 1
        ids[i, :length] = torch.tensor(row.ids[:-1])
        targets[i, row.begin - 1 : length] = torch.tensor(row.ids[row.begin :])
        private[i, :length] = torch.tensor(row.private[1:])
    return ids.to(device), targets.to(device), private.to(device)


def private_tokens(offsets: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]]) -> list[bool]:
    """Return, for each token's code-point range, whether it overlaps a private range."""
    return [any(low < stop and high > start for start, stop in ranges) for low, high in offsets]


def _fingerprint(base: PrefixBase, own: Sequence[tuple[str, Tensor]]) -> tuple[tuple[str, float], ...]:
    """Return a sum of each of the model's weights, the prefix left out."""
    mine = {id(p) for _, p in own}
    return tuple((n, float(p.detach().double().sum())) for n, p in base.module.named_parameters() if id(p) not in mine)


def _digest(rows: Sequence[Row], settings: PrefixSettings) -> str:
    content = json.dumps([asdict(settings), [asdict(r) for r in rows]], separators=(",", ":")).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()
