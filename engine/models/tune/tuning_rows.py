"""Records as a network is fitted to them: a public prompt in front, and which of the text's tokens the loss counts.

The goldfish loss leaves out tokens by a hash of the tokens before them, so that the same passage always leaves out
the same ones, wherever it stands, and cannot be learned whole (Hans et al. 2024, section 3, k = 4, h = 13).

Privacy posture: rows are private text in tokens; they stay in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from engine.dp.noise.train import Document
from engine.models.tune.tunable import Tunable

IGNORED = -100
Prompt = Callable[..., str]
"""A record's label, its length in words and, where it carries one, its public topic to the prompt in front of it."""


@dataclass(frozen=True)
class Goldfish:
    """Every k-th token on average is left out of the loss, by a hash of the h tokens before it; k = 0: none is."""

    k: int = 0
    context: int = 13


@dataclass(frozen=True)
class Row:
    """A prompt and a text in tokens; `begin` is where the text starts, `counted` which of its tokens the loss has."""

    ids: tuple[int, ...]
    begin: int
    counted: tuple[bool, ...]


def rows(
    net: Tunable, documents: Sequence[Document], prompt: Prompt, tokens: int, goldfish: Goldfish | None = None
) -> list[Row]:
    """Return documents as rows, the text cut to `tokens` and to what the network reads, its end token last."""
    found = []
    for document, ids in zip(documents, net.text_ids([one.text for one in documents]), strict=True):
        about = (document.label, len(document.text.split()))
        head = net.prompt_ids(prompt(*about) if document.topic is None else prompt(*about, document.topic))
        room = max(0, min(tokens, net.context - len(head)) - 1)
        # A text that was cut has no end here: the network must not learn to stop in the middle.
        text = [*ids, net.eos] if len(ids) <= room else ids[: room + 1]
        found.append(Row((*head, *text), len(head), tuple(counted(text, goldfish or Goldfish()))))
    return found


def counted(ids: Sequence[int], goldfish: Goldfish) -> list[bool]:
    """Return which tokens of a text the loss counts; a text keeps its first token."""
    if goldfish.k < 1:
        return [True] * len(ids)
    found = []
    for place in range(len(ids)):
        before = ids[max(0, place - goldfish.context) : place]
        body = b"".join(token.to_bytes(4, "little") for token in before)
        value = int.from_bytes(hashlib.blake2b(body, digest_size=8).digest(), "little")
        found.append(place == 0 or value % goldfish.k != 0)
    return found


def collate(batch: Sequence[Row], eos: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return inputs and targets (B, T); targets are -100 on prompts, on padding and where the loss does not count."""
    width = max(1, *(len(row.ids) - 1 for row in batch))
    ids = torch.full((len(batch), width), eos, dtype=torch.long)
    targets = torch.full_like(ids, IGNORED)
    for i, row in enumerate(batch):
        ids[i, : len(row.ids) - 1] = torch.tensor(row.ids[:-1], dtype=torch.long)
        aims = [token if kept else IGNORED for token, kept in zip(row.ids[row.begin :], row.counted, strict=True)]
        first = max(0, row.begin - 1)
        aims = aims[first + 1 - row.begin :]  # without a prompt nothing predicts the first token
        targets[i, first : first + len(aims)] = torch.tensor(aims, dtype=torch.long)
    return ids.to(device), targets.to(device)


def document_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Return each document's mean loss over its counted tokens in nats, (B,); nothing counted is 0."""
    each = F.cross_entropy(logits.float().transpose(1, 2), targets, ignore_index=IGNORED, reduction="none")  # (B, T)
    return each.sum(dim=1) / (targets != IGNORED).sum(dim=1).clamp(min=1)
