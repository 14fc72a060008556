"""What the engine asks of a model, whatever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, TypedDict, Unpack, runtime_checkable

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
    """A language model. `capabilities` is a subset of instruct, logits, logprobs, train, block_tokens, states,
    choices.
    """

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


@runtime_checkable
class Steerable(Protocol):
    """A causal model whose hidden states can be read, and moved while it writes: the capability `states`."""

    id: str

    @property
    def depth(self) -> int:
        """Return the number of layers."""
        ...

    def states(self, texts: Sequence[str], layers: Sequence[int], tokens: int) -> NDArray[np.float32]:
        """Return the mean over each text's tokens of the states behind chosen layers, (n, layers, d), each by itself.

        Zeros for a text without a token. `layers` count from 0; `tokens` are read of a text at most.
        """
        ...

    def moved(self, vectors: Mapping[int, NDArray[np.float64]]) -> AbstractContextManager[None]:
        """Add a vector (d,) to each named layer's state of the newest token, for as long as the block runs."""
        ...


@runtime_checkable
class Choosing(Protocol):
    """A generator that may be held to given answers: where its capabilities name `choices`, it can be."""

    capabilities: frozenset[str]

    def choose(self, prompts: Sequence[str], choices: Sequence[Sequence[str]], sampling: Sampling) -> list[str | None]:
        """Return for each prompt the one of its choices that was answered, None where it was none of them."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    id: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an (n, d) float32 array of unit-norm rows."""
        ...


class Found(TypedDict):
    """One piece of identifying text: its place in code points, what it may be, and how likely it is, 0..1."""

    start: int
    end: int
    label: str
    score: float
    recogniser: str
    identifier_type: Literal["direct", "quasi", "none"]


class Detector(Protocol):
    """Finds identifying text."""

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Return what each text holds, in the order of the texts."""
        ...


class OperatorInputs(TypedDict, total=False):
    """What an operator may be given; each takes the fields it knows, and names those it needs."""

    domain: str
    kind: str
    label: str | None
    words: int
    text: str
    texts: Sequence[str]
    keywords: Sequence[str]
    code: str
    examples: Sequence[str]
    persona: str | None
    style: str | None
    tone: str | None
    outlined: bool


class Operators(Protocol):
    """Builds prompts for one back end: control-token formats or chat templates.

    `name` is one of invent, vary, fill, cross, abstract, expand, rephrase, from_control_code,
    from_examples, judge; `inputs` are that operator's fields.
    """

    def prompt(self, name: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the prompt for one call."""
        ...

    def parse(self, name: str, output: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the usable text of a raw output; empty where there is none."""
        ...
