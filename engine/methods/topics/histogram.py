"""Cells of the joint histogram: which are asked for next, and what the noisy counts make of them.

Everything here reads noisy counts and public quantities, so it costs nothing.

The first question has a cell for each label and each of the topics next to the root. Where the noisy count of a cell
passes a public threshold, the next question has its topic's children in its place, and so on; the last question
splits such cells by length. A corpus of one kind thus pays for the few topics it has, not for a thousand.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise.cells import ANY_LENGTH, Cell
from engine.methods.topics.public import Node, PublicTopics

CLASSES = ((0, 21), (21, 51), (51, 111), (111, 2**31))
"""Lengths in words that a cell is split by, and words that stand for each."""
STAND_FOR = ((6, 20), (21, 50), (51, 110), (111, 180))
COARSE, MIDDLE = 16, 128  # most topics that one and two steps from the root are for


class Stored(TypedDict):
    """A cell as a run's state holds it."""

    label: str | None
    node: list[int]
    words: list[int]
    weight: float


@dataclass(frozen=True)
class Part:
    """A label, a node of the tree and a class of lengths, with its share of the records."""

    label: str | None
    node: Node
    words: tuple[int, int] = ANY_LENGTH
    weight: float = 0.0

    def cell(self, topics: PublicTopics) -> Cell:
        """Return what is counted."""
        return Cell(self.label, topics.below(self.node), self.words)

    def stored(self) -> Stored:
        """Return the part as JSON."""
        return {"label": self.label, "node": list(self.node), "words": list(self.words), "weight": self.weight}


def part_of(stored: Stored) -> Part:
    """Return the part that `stored` made."""
    low, high = stored["words"]
    return Part(stored["label"], tuple(stored["node"]), (int(low), int(high)), float(stored["weight"]))


def steps_of(units: int, epsilon: float) -> int:
    """Return how far from the root topics are counted: K = N ε / 10 topics at most, from public quantities."""
    most = units * epsilon / 10.0
    return 1 if most <= COARSE else 2 if most <= MIDDLE else 3


def first(topics: PublicTopics, labels: Sequence[str]) -> list[Part]:
    """Return the cells of the first question."""
    known: Sequence[str | None] = labels or (None,)
    return [Part(label, node) for label in known for node in topics.children(())]


def by_topic(part: Part, topics: PublicTopics) -> list[Part]:
    """Return what a cell becomes one step further from the root; nothing at a leaf."""
    return [replace(part, node=node, weight=0.0) for node in topics.children(part.node)]


def by_length(part: Part) -> list[Part]:
    """Return what a cell becomes by length."""
    return [replace(part, words=words, weight=0.0) for words in CLASSES]


def weighed(parts: Sequence[Part], counts: NDArray[np.float64], least: float) -> list[Part]:
    """Return the cells with their noisy counts as weights; counts below `least` count as nothing.

    Where none reaches it, all that noise left above nothing stay: the budget was too small to say more.
    """
    kept = np.where(counts >= least, counts, 0.0)
    if not kept.any():
        kept = np.maximum(counts, 0.0)
    if not kept.any():
        kept = np.ones(len(parts))
    return [replace(part, weight=float(weight)) for part, weight in zip(parts, kept, strict=True) if weight > 0.0]


def refined(
    parts: Sequence[Part], split: Mapping[int, list[Part]], counts: NDArray[np.float64], least: float
) -> list[Part]:
    """Return the cells with those that were split in the place of what they were split from.

    A cell's own weight is divided by its parts' noisy counts, those below `least` left out; one of which no part
    reaches it stays as it was.

    Args:
        split: a cell's place among `parts` to its parts. counts: of all parts, in that order.
    """
    found, at = [], 0
    for place, part in enumerate(parts):
        own = split.get(place, [])
        seen = counts[at : at + len(own)]
        at += len(own)
        kept = np.where(seen >= least, seen, 0.0)
        if kept.sum() <= 0.0:
            found.append(part)
            continue
        found += [
            replace(one, weight=part.weight * float(share))
            for one, share in zip(own, kept / kept.sum(), strict=True) if share > 0.0
        ]  # fmt: skip
    return found


def to_shares(parts: Sequence[Part], shares: Mapping[str | None, float]) -> list[Part]:
    """Return the cells with weights in proportion to declared shares of labels, as far as a label has cells."""
    totals: dict[str | None, float] = {}
    for part in parts:
        totals[part.label] = totals.get(part.label, 0.0) + part.weight
    return [
        replace(part, weight=part.weight / totals[part.label] * max(0.0, shares.get(part.label, 0.0)))
        for part in parts if totals[part.label] > 0.0
    ]  # fmt: skip


def drawn(parts: Sequence[Part], count: int, rng: random.Random) -> list[int]:
    """Return a cell's place an output, in proportion to weights: a systematic draw, in an order the seed fixes."""
    order = rng.sample(range(len(parts)), len(parts))
    edges = list(accumulate(parts[i].weight for i in order))
    start, found, at = rng.random(), [], 0
    for turn in range(count):
        wanted = (turn + start) / count * edges[-1]
        while at < len(order) - 1 and edges[at] < wanted:
            at += 1
        found.append(order[at])
    rng.shuffle(found)
    return found


def words_of(part: Part, parts: Sequence[Part], asked: int, rng: random.Random) -> int:
    """Return a length in words for a cell: one of its class; else of a class drawn from all cells that have one.

    Args:
        parts: all cells. asked: the length where no cell has a class.
    """
    words = part.words
    if words == ANY_LENGTH:
        known = [one for one in parts if one.words != ANY_LENGTH]
        if not known:
            return asked
        words = rng.choices(known, weights=[one.weight for one in known])[0].words
    return rng.randint(*STAND_FOR[CLASSES.index(words)])
