"""Weights in training on prompted records, with the gradient of each document by itself where privacy needs it.

Gradients a document come from Opacus (Yousefpour et al. 2021): hooks keep what went into a layer and what came back,
and their product over a document's tokens is that document's gradient; layers without a rule go through
`torch.func`. A weight used twice (embedding and output layer) gets the sum of both. Whether that is right for an
architecture is tried out on two made-up documents before anything else; where it is not, each document goes through
the network by itself, which is slower and right for every architecture.

Privacy posture: weights and optimiser fitted to private text are private text; they stay in memory or in a run's own
folder.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.dp.noise.train import Document
from engine.errors import InternalError
from engine.models.tune.fit import half_pays, restore, state_of
from engine.models.tune.tunable import Tunable
from engine.models.tune.tuning_rows import Goldfish, Prompt, collate, document_losses, rows

if TYPE_CHECKING:
    from opacus.grad_sample import GradSampleModule


_ROOM = 2**28  # bytes of gradients a document that may be held side by side
_MOST = 16
_TRIED = (
    Document("The first of two letters came late.", None),
    Document("No, thank you: the other one arrived on the same day, and nobody here had asked for it.", None),
)
_BESIDE = 0.01
_APART = 0.02  # how far the gradient of a weight may be from what one document alone gives, against its own length


@dataclass(frozen=True)
class LearnerSettings:
    """How weights follow gradients.

    Args:
        rate: AdamW's peak learning rate, falling in a line to nothing over `steps`. steps: in all.
        weight_decay: AdamW's. tokens: longest text; the rest is cut. goldfish: tokens left out of the loss.
        half: whether to multiply in bfloat16; None where it is fast, and never where gradients are asked for apart.
    """

    rate: float
    steps: int
    weight_decay: float = 0.0
    tokens: int = 256
    goldfish: Goldfish = field(default_factory=Goldfish)
    half: bool | None = None


class NetLearner:
    """Trains a network's chosen weights.

    Args:
        net: the network. prompt: what stands in front of a record, from its label and length.
        apart: whether gradients are asked for one a document. They are then computed in float32 unless the settings say
            otherwise: in bfloat16 a document's gradient depends by up to a hundredth on the others beside it
            (`engine.dp.noise.train`).
    """

    def __init__(self, net: Tunable, prompt: Prompt, settings: LearnerSettings, *, apart: bool) -> None:
        self.net, self._prompt, self.settings = net, prompt, settings
        self._named = net.trained()
        self._weights = [parameter for _, parameter in self._named]
        self._device = self._weights[0].device
        self._start = [p.detach().clone() for p in self._weights]
        self._frozen = self._fingerprint()
        self._optimiser = torch.optim.AdamW(self._weights, lr=settings.rate, weight_decay=settings.weight_decay)
        self.size = sum(p.numel() for p in self._weights)
        self.side_by_side = max(1, min(_MOST, _ROOM // (4 * self.size)))
        self._hooks: GradSampleModule | None = None
        self._half = half_pays(self._device.type) and not apart if settings.half is None else settings.half
        if apart and not self._hooked():
            self._unhook()

    def shapes(self) -> list[tuple[int, ...]]:
        """Return the weights' shapes."""
        return [tuple(p.shape) for p in self._weights]

    def gradients(self, documents: Sequence[Document]) -> tuple[list[Tensor], Tensor]:
        """Return each weight's gradients, one a document (n, *shape), and the documents' losses (n,)."""
        if self._hooks is None:
            return self._alone(documents)
        found, losses = self._together(documents)
        if found is None:
            raise InternalError("hooks that told documents apart do so no longer")
        return found, losses

    @property
    def one_by_one(self) -> bool:
        """Say whether each document goes through the network by itself."""
        return self._hooks is None

    def _hooked(self) -> bool:
        """Put hooks on and say whether what they give is each document's own gradient.

        It is tried a little beside the start, where adapters have a gradient on both halves.
        """
        draw = torch.Generator().manual_seed(0)
        try:
            with torch.no_grad():
                for p in self._weights:
                    p.add_(_BESIDE * torch.randn(p.shape, generator=draw).to(p.device, p.dtype))
            self._hooks = _with_hooks(self.net.module)
            together, _ = self._together(_TRIED, half=False)
            alone, _ = self._alone(_TRIED, half=False)
        except (RuntimeError, ValueError, TypeError, KeyError, AttributeError, IndexError, NotImplementedError):
            return False  # an architecture that hooks cannot follow
        finally:
            with torch.no_grad():
                for p, start in zip(self._weights, self._start, strict=True):
                    p.copy_(start)
        if together is None:
            return False
        least = 1e-6 * float(sum(float(own.norm()) ** 2 for own in alone)) ** 0.5
        return all(
            float((one - own).norm()) <= _APART * float(own.norm()) + least
            for one, own in zip(together, alone, strict=True)
        )

    def _unhook(self) -> None:
        if self._hooks is not None:
            self._hooks.to_standard_module()
            self._hooks = None
        self._clear()

    def _together(self, documents: Sequence[Document], half: bool | None = None) -> tuple[list[Tensor] | None, Tensor]:
        """Return what hooks give, or None where it is not one gradient a document."""
        losses = self._losses(documents, half)
        _backward(losses)
        found: list[Tensor] = []
        for parameter in self._weights:
            apart: Tensor | None = getattr(parameter, "grad_sample", None)
            if isinstance(apart, Tensor) and apart.shape == (len(documents), *parameter.shape):
                found.append(apart.detach().float())
        self._clear()
        return found if len(found) == len(self._weights) else None, losses.detach()

    def _alone(self, documents: Sequence[Document], half: bool | None = None) -> tuple[list[Tensor], Tensor]:
        """Return the gradients of documents that go through the network one after another."""
        found = [torch.zeros((len(documents), *p.shape), device=self._device) for p in self._weights]
        losses = torch.zeros(len(documents), device=self._device)
        for i, document in enumerate(documents):
            loss = self._losses([document], half)
            _backward(loss)
            losses[i] = loss.detach()[0]
            for total, parameter in zip(found, self._weights, strict=True):
                if parameter.grad is not None:
                    total[i] = parameter.grad.detach().float()
            self._clear()
        return found, losses

    def mean_gradient(self, documents: Sequence[Document]) -> tuple[list[Tensor], float]:
        """Return the gradient of the mean of the documents' losses, and that mean."""
        mean = 0.0
        for at in range(0, len(documents), _MOST):
            losses = self._losses(documents[at : at + _MOST])
            (losses.sum() / len(documents)).backward()
            mean += float(losses.detach().sum()) / len(documents)
        total = [torch.zeros_like(p) if p.grad is None else p.grad.detach().float().clone() for p in self._weights]
        self._clear()
        return total, mean

    def update(self, step: int, gradient: Sequence[Tensor]) -> None:
        """Take one step along a gradient, at this step's rate."""
        for group in self._optimiser.param_groups:
            group["lr"] = self.settings.rate * (1.0 - step / self.settings.steps)
        for parameter, own in zip(self._weights, gradient, strict=True):
            parameter.grad = own.to(parameter.device, parameter.dtype)
        self._optimiser.step()
        self._clear()

    def state(self) -> dict[str, Tensor]:
        """Return weights and optimiser as named tensors."""
        return state_of("net", self._named, self._optimiser)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` returned."""
        restore("net", self._named, self._optimiser, state)

    def finish(self) -> None:
        """Take the network out of its hooks, and assert that the weights in training moved and no other weight did.

        Raises:
            InternalError: one of the two does not hold.
        """
        self._unhook()
        self.net.module.eval()
        if self._fingerprint() != self._frozen:
            raise InternalError("training changed weights that were to stay as they are")
        still = [n for (n, p), s in zip(self._named, self._start, strict=True) if torch.equal(p.detach(), s)]
        if len(still) == len(self._named):
            raise InternalError("training left every weight as it was")
        if not all(bool(torch.isfinite(p).all()) for p in self._weights):
            raise InternalError("training made weights that are not finite")

    def digest(self) -> str:
        """Return a digest of the start weights, frozen ones included: what a schedule is bound to."""
        found = hashlib.blake2b(digest_size=16)
        for name, start in zip([name for name, _ in self._named], self._start, strict=True):
            found.update(name.encode() + _bytes(start))
        found.update(self._frozen.encode())
        return found.hexdigest()

    def losses(self, documents: Sequence[Document]) -> list[float]:
        """Return each document's mean loss in nats a token; nothing is learned."""
        self.net.module.eval()
        with torch.no_grad():
            found: list[float] = []
            for at in range(0, len(documents), _MOST):
                found += self._forward(documents[at : at + _MOST]).tolist()
        return found

    def _losses(self, documents: Sequence[Document], half: bool | None = None) -> Tensor:
        self.net.module.eval()  # no dropout: a document's gradient is its own
        for part in self.net.module.modules() if self._hooks is not None else ():
            part.training = any(p.requires_grad for p in part.parameters(recurse=False))  # what hooks listen to
        return self._forward(documents, half)

    def _forward(self, documents: Sequence[Document], half: bool | None = None) -> Tensor:
        s = self.settings
        made = rows(self.net, documents, self._prompt, s.tokens, s.goldfish)
        ids, targets = collate(made, self.net.eos, self._device)
        real = torch.zeros_like(ids, dtype=torch.bool)
        for i, row in enumerate(made):
            real[i, : len(row.ids) - 1] = True
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half if half is None else half):
            logits = self.net.logits(ids, real)
        return document_losses(logits, targets)

    def _clear(self) -> None:
        for parameter in self._weights:
            parameter.grad = None
            if hasattr(parameter, "grad_sample"):
                parameter.grad_sample = None

    def _fingerprint(self) -> str:
        """Return a digest of every weight that is not trained."""
        mine, found = {id(p) for p in self._weights}, hashlib.blake2b(digest_size=16)
        for name, parameter in self.net.module.named_parameters():
            if id(parameter) not in mine:
                found.update(name.encode())
                found.update(_bytes(parameter))
        return found.hexdigest()


def _backward(losses: Tensor) -> None:
    with warnings.catch_warnings():  # tokens need no gradient, which hooks on the first layer remark on
        warnings.simplefilter("ignore", UserWarning)
        losses.sum().backward()


def _bytes(values: Tensor) -> bytes:
    return values.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _with_hooks(module: nn.Module) -> GradSampleModule:
    """Have every trained layer keep gradients a document; losses are added up, so none is divided by their number."""
    from opacus.grad_sample import GradSampleModule

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GradSampleModule(module, batch_first=True, loss_reduction="sum", strict=False)
