"""The shipped public topics: a tree of centres among embeddings of public text, and each leaf's key words.

Made by `engine.training.topics` from public texts alone; no private text is ever looked at for them.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.assets import ASSETS
from engine.errors import UserError

FOLDER = ASSETS / "topics"
SHOWN = 3  # key words of a topic that a prompt shows
Node = tuple[int, ...]


@dataclass(frozen=True)
class PublicTopics:
    """A tree of topics.

    Args:
        centres: unit rows of the leaves, (k, d). paths: each leaf's way from the root. keys: each leaf's key words.
        weights: public texts of each leaf.
    """

    centres: NDArray[np.float32]
    paths: tuple[Node, ...]
    keys: tuple[tuple[str, ...], ...]
    weights: NDArray[np.float64]

    def below(self, node: Node) -> tuple[int, ...]:
        """Return the leaves under a node."""
        return self._tree[0].get(node, ())

    def children(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes one step further; none at a leaf."""
        return self._tree[1].get(node, ())

    @cached_property
    def _tree(self) -> tuple[dict[Node, tuple[int, ...]], dict[Node, tuple[Node, ...]]]:
        """The leaves under each node and the nodes one step further, in the order of the leaves."""
        below: dict[Node, list[int]] = {}
        children: dict[Node, dict[Node, None]] = {}
        for leaf, path in enumerate(self.paths):
            for size in range(len(path) + 1):
                below.setdefault(path[:size], []).append(leaf)
                if size:
                    children.setdefault(path[: size - 1], {})[path[:size]] = None
        return {node: tuple(leaves) for node, leaves in below.items()}, {n: tuple(c) for n, c in children.items()}

    def shown(self, leaf: int, rng: random.Random) -> tuple[str, ...]:
        """Return some key words of a leaf, in an order that the generator fixes."""
        own = self.keys[leaf]
        return tuple(rng.sample(own, min(SHOWN, len(own))))

    def first(self, leaf: int) -> tuple[str, ...]:
        """Return the key words of a leaf that tell most."""
        return self.keys[leaf][:SHOWN]


@lru_cache(maxsize=1)
def load_topics() -> PublicTopics:
    """Return the shipped topics.

    Raises:
        UserError: a file is missing or damaged.
    """
    from safetensors.numpy import load_file

    try:
        stored = load_file(FOLDER / "centres.safetensors")["centres"].astype(np.float32)
        about = json.loads((FOLDER / "topics.json").read_text(encoding="utf-8"))
        topics = PublicTopics(
            centres=stored / np.maximum(np.linalg.norm(stored, axis=1, keepdims=True), 1e-6),
            paths=tuple(tuple(int(step) for step in one["path"]) for one in about),
            keys=tuple(tuple(str(word) for word in one["keys"]) for one in about),
            weights=np.array([float(one["texts"]) for one in about]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"assets/topics cannot be read ({type(error).__name__}): restore it from the program's files"
        ) from None
    if len(topics.paths) != len(topics.centres) or len({len(path) for path in topics.paths}) != 1:
        raise UserError("assets/topics does not fit together: restore it from the program's files")
    return topics


def check_embedder(topics: PublicTopics, rows: NDArray[np.float32]) -> None:
    """Refuse an embedder that the topics were not made with.

    Raises:
        UserError: its rows have another length.
    """
    if rows.shape[1:] != topics.centres.shape[1:]:
        raise UserError("the public topics were made with the shipped embedder; this one has rows of another length")
