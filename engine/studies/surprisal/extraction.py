"""Prefix extraction: show a tuned model a record's beginning and see how far it goes on as the record does.

Strategies: `greedy` (the likeliest token each time), `plain` (temperature 1), `decaying` (temperature 10, falling to 1
over the first 20 tokens, so that it first spreads and then settles; Carlini et al. 2021, Extracting Training Data from
Large Language Models, section 5.1.1). Excluded records are the reference: what is guessed there is no memory
(Nasr et al. 2023, Scalable Extraction of Training Data from Language Models, discoverable memorisation).

Privacy posture: prompts hold private text and stay in memory; counts of words come out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.words import WORD, fold
from engine.models.contracts import Sampling

if TYPE_CHECKING:
    from engine.models.contracts import Generator

Strategy = Literal["greedy", "plain", "decaying"]
STRATEGIES: tuple[Strategy, ...] = ("greedy", "plain", "decaying")
_HOT, _STAGE, _STAGES = 10.0, 4, 5  # five pieces of four tokens: 10, 7.75, 5.5, 3.25, 1
_TOKENS_A_WORD = 3
_OPEN = 1000  # candidates a token: all that matter
_AT_ONCE = 16


@dataclass(frozen=True)
class Extracted:
    """What came of n prefixes: words of the true continuation that followed without a break, and the longest run."""

    strategy: Strategy
    words: NDArray[np.int64]
    longest: NDArray[np.int64]


def split_prefix(text: str, words: int) -> tuple[str, str] | None:
    """Return a text's first words and the rest; None where fewer than as many words again follow."""
    ends = [match.end() for match in WORD.finditer(text)]
    if len(ends) < 2 * words:
        return None
    return text[: ends[words - 1]], text[ends[words - 1] :]


def extract(
    generator: Generator,
    prompts: Sequence[str],
    continuations: Sequence[str],
    strategy: Strategy,
    words: int,
    seed: int = 0,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> Extracted:
    """Return how far the model goes on as the records do.

    Args:
        prompts: the tuned model's prompt and a record's beginning, each. continuations: how the records go on.
        words: words of the continuation that are asked for.
    """
    kept, runs = np.zeros(len(prompts), np.int64), np.zeros(len(prompts), np.int64)
    for at in range(0, len(prompts), _AT_ONCE):
        part = list(range(at, min(at + _AT_ONCE, len(prompts))))
        texts = _continued(generator, [prompts[i] for i in part], strategy, words * _TOKENS_A_WORD, seed + at)
        for i, text in zip(part, texts, strict=True):
            truth, found = _cut(continuations[i])[:words], _cut(text)
            kept[i], runs[i] = _in_step(truth, found), _longest(truth, found)
        on_batch(part[-1] + 1, len(prompts))
    return Extracted(strategy, kept, runs)


def _continued(generator: Generator, prompts: list[str], strategy: Strategy, tokens: int, seed: int) -> list[str]:
    sampling = Sampling(max_new_tokens=tokens, temperature=1.0, top_k=_OPEN, top_p=1.0, seed=seed)
    if strategy == "greedy":
        return [one.text for one in generator.generate(prompts, dataclasses.replace(sampling, temperature=0.0))]
    texts = [""] * len(prompts)
    if strategy == "decaying":
        for stage in range(_STAGES - 1):
            heat = _HOT + (1.0 - _HOT) * stage / (_STAGES - 1)
            hot = dataclasses.replace(sampling, max_new_tokens=_STAGE, temperature=heat, seed=seed + stage)
            made = generator.generate([p + t for p, t in zip(prompts, texts, strict=True)], hot)
            texts = [t + one.text for t, one in zip(texts, made, strict=True)]
    left = dataclasses.replace(sampling, seed=seed + _STAGES)
    made = generator.generate([p + t for p, t in zip(prompts, texts, strict=True)], left)
    return [t + one.text for t, one in zip(texts, made, strict=True)]


def _cut(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(text)]


def _in_step(truth: list[str], found: list[str]) -> int:
    """Return how many words agree before the first that does not."""
    return next((i for i, (a, b) in enumerate(zip(truth, found)) if a != b), min(len(truth), len(found)))


def _longest(truth: list[str], found: list[str]) -> int:
    """Return the longest run of words that both have, wherever it stands."""
    best, row = 0, [0] * (len(found) + 1)
    for a in truth:
        new = [0] * (len(found) + 1)
        for j, b in enumerate(found):
            if a == b:
                new[j + 1] = row[j] + 1
                best = max(best, new[j + 1])
        row = new
    return best
