"""What the engine asks of a model, whatever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn. `seed` fixes the draw; it never touches mechanism noise."""

    max_new_tokens: int = 200
    min_new_tokens: int = 0
    temperature: float = 0.8
    top_k: int = 50
    top_p: float = 0.95
    repetition_penalty: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Constraints:
    """What must not be generated, however it is written.

    blocked: words, phrases, numbers, dates. names: everyday words that are somebody's name as well, kept out only where
    they stand as one.
    """

    blocked: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generation:
    """One output: `text`, number of new `tokens`, and why it ended (`stop` or `length`)."""

    text: str
    tokens: int
    finish: str


class Generator(Protocol):
    """A language model. `capabilities` is a subset of instruct, logits, logprobs, train, block_tokens."""

    id: str
    capabilities: frozenset[str]

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order."""
        ...

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats, one array a text."""
        ...


@runtime_checkable
class Beams(Protocol):
    """A generator that can search: `beams` continuations of each prompt, the likeliest first."""

    def search(self, prompts: Sequence[str], sampling: Sampling, beams: int) -> list[list[Generation]]:
        """Return at most `beams` generations a prompt; temperature, top-k, top-p and seed of `sampling` are unused."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    id: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an (n, d) float32 array of unit-norm rows."""
        ...


class Detector(Protocol):
    """Finds identifying text."""

    def detect(self, texts: Sequence[str]) -> list[list[Mapping[str, Any]]]:
        """Return, for each text, mappings with start, end, label, score, recogniser, identifier_type."""
        ...


class Operators(Protocol):
    """Builds prompts for one back end: control-token formats or chat templates.

    `name` is one of invent, vary, fill, cross, abstract, expand, rephrase, from_control_code,
    from_examples, judge; `inputs` are that operator's fields.
    """

    def prompt(self, name: str, **inputs: Any) -> str:
        """Return the prompt for one call."""
        ...

    def parse(self, name: str, output: str, **inputs: Any) -> str:
        """Return the usable text of a raw output; empty where there is none."""
        ...
