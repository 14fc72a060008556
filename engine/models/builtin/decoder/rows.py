"""Sequences under way: in which order they are taken, and the beginnings that they share.

Privacy posture: prompts hold redacted record text; nothing is logged or kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from engine.models.builtin.decoder.attend import Place, Slots
from engine.models.builtin.decoder.net import DecodeNet
from engine.models.builtin.decoder.steering import Steer
from engine.models.constraints import Tail

VIRTUAL = -1  # stands for each virtual token of a learned beginning
WORTH = 16  # tokens from which a shared beginning is worth a copy


@dataclass
class Row:
    """One sequence under way: its tokens, and how many of them are in the cache."""

    index: int
    tokens: list[int]
    prompt: int
    room: int
    random: np.random.Generator
    shared: int = 0
    cached: int = 0
    finish: str = ""
    tail: Tail = field(default_factory=Tail)
    refused: dict[int, set[int]] = field(default_factory=dict)  # by place: tokens that led into a blocked value
    backs: int = 0  # times a word was taken back
    steer: Steer | None = None

    @property
    def made(self) -> int:
        """Return the number of new tokens."""
        return len(self.tokens) - self.prompt


class SharedPrefix:
    """Holds the beginning that prompts share in a slot of its own, and copies it to those that have it."""

    def __init__(
        self, net: DecodeNet, store: Slots, slot: int, learned: tuple[torch.Tensor, torch.Tensor] | None
    ) -> None:
        self.net, self.store, self.slot = net, store, slot
        self.learned = 0 if learned is None else learned[0].shape[2]
        self.tokens = [VIRTUAL] * self.learned
        if learned is not None:
            store.load(slot, *learned)

    def give(self, row: Row, slot: int) -> None:
        """Fill the start of a slot as far as the row's beginning is known or shared with others."""
        if row.shared:
            self._compute(row.tokens[: row.shared])
        row.cached = min(alike(self.tokens, row.tokens), len(row.tokens) - 1)
        if row.cached < (self.learned or WORTH):
            row.cached = 0
            return
        self.store.copy(self.slot, slot, row.cached)

    def _compute(self, tokens: list[int]) -> None:
        known = alike(self.tokens, tokens)
        if known < len(tokens):
            positions = np.arange(known, len(tokens))
            place = Place(np.full(len(positions), self.slot), positions)
            self.net.fill(torch.tensor(tokens[known:]), place, self.store)
            self.tokens = tokens


def alike(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens both begin with in common."""
    most = min(len(a), len(b))
    return next((i for i in range(most) if a[i] != b[i]), most)


def ordered(rows: list[Row]) -> list[Row]:
    """Return rows longest first, those with a long common beginning side by side and marked."""
    groups: list[list[Row]] = []
    common: list[int] = []
    for row in sorted(rows, key=lambda row: (row.tokens, row.index)):
        here = min(alike(groups[-1][-1].tokens, row.tokens), common[-1]) if groups else 0
        if groups and here >= max(WORTH, len(row.tokens) // 2, max(len(r.tokens) for r in groups[-1]) // 2):
            groups[-1].append(row)
            common[-1] = here
        else:
            groups.append([row])
            common.append(len(row.tokens))
    whole = alike(groups[0][0].tokens, groups[-1][-1].tokens) if len(rows) > 1 else 0  # of all: they are sorted
    for group, same in zip(groups, common, strict=True):
        for row in group:
            row.shared = same if len(group) > 1 else whole if whole >= WORTH else 0
    groups.sort(key=lambda group: (-max(len(row.tokens) for row in group), group[0].index))
    return [row for group in groups for row in group]
